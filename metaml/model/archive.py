"""The model file: a sealed zip of JSON and bytes that any tool can look into.

`model.json` says what the model is, `estimators.json` has its parts, `arrays.bin` their numbers. The zip's comment is
the SHA-256 of everything before it: a file that was cut short or changed is noticed before it is read. This protects
against accidents. Against attacks, loading creates only the classes that `trusted` lists.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from metaml.errors import BadModel
from metaml.model.signing import check_signature

MODEL_FILE = "model.zip"
FORMAT = "metaml model"
VERSIONS = (1, 2, 3)
"""The formats that can be read: 2 has members in a second layer, which a reader of 1 would average wrongly; 3 has a
calibration, which a reader of 2 would leave out."""

MOST_UNPACKED, MOST_RATIO = 50_000_000, 100
"""A part of a model file may unpack to so many bytes, plus so many times the size of the file."""

_SEAL_LENGTH = 64
_ADVICE = "Give the folder or the model.zip that metaml tune wrote"


def write_archive(path: Path, about: Mapping[str, Any], estimators: Any, content: bytes, *, version: int = 1) -> None:
    """Write a model file; an older one of that name is replaced only when the new one is complete."""
    about = {"format": FORMAT, "version": version, **about}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("model.json", json.dumps(about, indent=1, ensure_ascii=False))
        archive.writestr("estimators.json", json.dumps(estimators))
        archive.writestr("arrays.bin", content)
        archive.comment = bytes(_SEAL_LENGTH)
    unsealed = buffer.getbuffer()[:-_SEAL_LENGTH]
    draft = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with draft.open("wb") as file:
            file.write(unsealed)
            file.write(hashlib.sha256(unsealed).hexdigest().encode())
        draft.replace(path)
    except OSError as error:
        draft.unlink(missing_ok=True)
        raise BadModel(f"{path} cannot be written: {error.strerror}. Choose another place.") from None


def read_archive(path: Path, key: bytes | None = None) -> tuple[dict[str, Any], Any, bytes]:
    """Return what the model is, the structure of its estimators, and the bytes of their arrays.

    With a `key`, the file must be signed with it.
    """
    data = _read(path)
    if key is not None:
        check_signature(path, data, key)
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            if set(archive.namelist()) != {"model.json", "estimators.json", "arrays.bin"}:
                raise BadModel(f"{path} is a zip file, but no metaml model. {_ADVICE}.")
            if hashlib.sha256(data[:-_SEAL_LENGTH]).hexdigest().encode() != data[-_SEAL_LENGTH:]:
                raise BadModel(f"{path} was changed after it was saved, so it is not used. Copy it again.")
            most = MOST_UNPACKED + MOST_RATIO * len(data)
            about = json.loads(_part(archive, "model.json", most))
            _check_version(path, about)
            return about, json.loads(_part(archive, "estimators.json", most)), _part(archive, "arrays.bin", most)
    except (
        zipfile.BadZipFile,
        zlib.error,
        EOFError,
        ValueError,
        RuntimeError,
        NotImplementedError,
        RecursionError,
        MemoryError,
    ):
        raise BadModel(f"{path} is cut short or damaged. Copy it again.") from None


def _part(archive: zipfile.ZipFile, name: str, most: int) -> bytes:
    """Return the content of a file in the archive, of which no more than `most` bytes are read."""
    with archive.open(name) as file:
        content = file.read(most + 1)
    if len(content) > most:
        raise ValueError(f"{name} unpacks to an unlikely size")
    return content


def _read(path: Path) -> bytes:
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise BadModel(f"There is no model at {path}. {_ADVICE}.") from None
    except OSError as error:
        raise BadModel(f"{path} cannot be read: {error.strerror}. {_ADVICE}.") from None
    if not data.startswith(b"PK\x03\x04"):
        raise BadModel(f"{path} is no metaml model. {_ADVICE}.")
    return data


def _check_version(path: Path, about: Any) -> None:
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise BadModel(f"{path} is a zip file, but no metaml model. {_ADVICE}.")
    if about.get("version") not in VERSIONS:
        found, known = about.get("version"), f"{VERSIONS[0]} to {VERSIONS[-1]}"
        raise BadModel(f"{path} has model format {found}, this metaml reads {known}. Use the metaml that saved it.")
