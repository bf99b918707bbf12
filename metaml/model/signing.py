"""Signatures for teams that exchange models: who has the key can tell that a file comes from somebody who has it, too.

The signature is an HMAC of the whole file, in a file of its own beside it.
"""

import hashlib
import hmac
from pathlib import Path

from metaml.errors import BadModel, BadRequest

LEAST_KEY_BYTES = 16


def read_key(path: Path) -> bytes:
    """Return the secret key in a file. Raises `BadRequest` if there is none, or if it is easy to guess."""
    try:
        key = path.read_bytes().strip()
    except OSError as error:
        raise BadRequest(f"The key {path} cannot be read: {error.strerror}. Give a file with a secret in it.") from None
    if len(key) < LEAST_KEY_BYTES:
        raise BadRequest(
            f"The key {path} has {len(key)} bytes, but {LEAST_KEY_BYTES} are needed. "
            "Make one: python -c 'import secrets; print(secrets.token_hex())' > KEY"
        )
    return key


def signature_path(model: Path) -> Path:
    """Return where the signature of a model file is."""
    return model.with_name(model.name + ".sig")


def sign(model: Path, key: bytes) -> Path:
    """Write the signature of a model file beside it; return where it is."""
    place = signature_path(model)
    try:
        place.write_text(_signature(model.read_bytes(), key) + "\n", encoding="ascii")
    except OSError as error:
        raise BadModel(f"{place} cannot be written: {error.strerror}. Choose another place.") from None
    return place


def check_signature(model: Path, content: bytes, key: bytes) -> None:
    """Raise `BadModel` unless the content of a model file has the signature that stands beside it."""
    try:
        stored = signature_path(model).read_bytes().strip()
    except OSError:
        raise BadModel(f"{model} is not signed. Sign it with: metaml tune --sign KEY") from None
    if not hmac.compare_digest(stored, _signature(content, key).encode()):
        raise BadModel(f"{model} was not signed with this key, or was changed afterwards. Do not use it.")


def _signature(content: bytes, key: bytes) -> str:
    return hmac.new(key, content, hashlib.sha256).hexdigest()
