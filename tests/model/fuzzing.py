"""Model files with random damage, sealed again as an attacker would, and what loading and predicting makes of them."""

import hashlib
import io
import json
import os
import pickle
import random
import resource
import select
import signal
import struct
import zipfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from metaml.errors import MetamlError
from metaml.model import load
from metaml.system.trial_process import kept_trials

Files = dict[str, bytes]
SCALARS: list[Any] = [
    0,
    1,
    -1,
    2,
    7,
    255,
    2**31 - 1,
    -(2**31),
    2**40,
    1e308,
    -1e308,
    0.5,
    True,
    False,
    None,
    "",
    "x",
    [],
]
SCALARS += [float("nan"), float("inf"), {"array": 0}, {"array": 1}, {"number": 0}, {"tuple": []}, {"dict": []}]
WORDS = [b"-1", b"0", b"1", b"99999", b"2147483647", b"-2147483648", b"nan", b"inf", b"1e999", b"", b"x", b"%s", b"3 3"]
MEGABYTES = 4_000
"""The most memory that a process may have that loads and predicts."""


@dataclass(frozen=True)
class Verdict:
    """How a damaged file ended: fine, refused, foreign (another exception), died (by a signal), or late.

    `megabytes` is the most memory that its process had so far; 0 if that is not known.
    """

    kind: str
    said: str = ""
    megabytes: float = 0.0


def contents(path: Path) -> Files:
    """Return the files in a model file."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def sealed(files: Files) -> bytes:
    """Return a model file of these files, with the seal that belongs to it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
        archive.comment = bytes(64)
    unsealed = buffer.getvalue()[:-64]
    return unsealed + hashlib.sha256(unsealed).hexdigest().encode()


def damaged(files: Files, rng: random.Random) -> Files:
    """Return the files with one to three random changes."""
    changes: list[Callable[[Files, random.Random], None]] = [_bytes, _numbers, _structure, _arrays, _about, _text]
    changed = dict(files)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        rng.choice(changes)(changed, rng)
    return changed


def without_each_array(files: Files) -> Iterator[Files]:
    """Yield the files without one of the arrays of the members in turn: there is nothing where compiled code looks."""
    parts = json.loads(files["estimators.json"])
    for owner, key in list(_places(parts["members"])):
        if isinstance(owner[key], dict) and owner[key].keys() == {"array"}:
            kept, owner[key] = owner[key], None
            yield {**files, "estimators.json": json.dumps(parts).encode()}
            owner[key] = kept


def _bytes(files: Files, rng: random.Random) -> None:
    """Change single bytes of the arrays."""
    content = bytearray(files["arrays.bin"])
    for _ in range(rng.choice([1, 4, 64])):
        if content:
            content[rng.randrange(len(content))] = rng.randrange(256)
    files["arrays.bin"] = bytes(content)


def _numbers(files: Files, rng: random.Random) -> None:
    """Put extreme numbers into an array."""
    content = bytearray(files["arrays.bin"])
    form, values = rng.choice(
        [
            ("<i", [-1, -2, 0, 1, 2**31 - 1, -(2**31), 1000]),
            ("<q", [-1, -2, 0, 1, 2**62, -(2**62), 10**6]),
            ("<d", [0.0, -1.0, 1e308, float("nan"), float("inf")]),
            ("<f", [0.0, -1.0, 3e38, float("nan"), float("inf")]),
        ]
    )
    size = struct.calcsize(form)
    for _ in range(rng.choice([1, 2, 16])):
        if len(content) >= size:
            place = rng.randrange(len(content) // size) * size
            content[place : place + size] = struct.pack(form, rng.choice(values))
    files["arrays.bin"] = bytes(content)


def _structure(files: Files, rng: random.Random) -> None:
    """Change the structure of an estimator."""
    parts = json.loads(files["estimators.json"])
    _change(parts["members"], rng)
    files["estimators.json"] = json.dumps(parts).encode()


def _arrays(files: Files, rng: random.Random) -> None:
    """Change what is said about an array: its type, shape, order or start."""
    parts = json.loads(files["estimators.json"])
    entry = rng.choice(parts["arrays"])
    key = rng.choice(["dtype", "shape", "order", "start"])
    shape = entry["shape"] if isinstance(entry["shape"], list) else []  # an earlier change may have made it a word
    options: dict[str, list[Any]] = {
        "dtype": ["<f8", "<f4", "<i8", "<i4", "|u1", "<U4", "|b1", "|O", "<M8[s]", "V0", {"names": []}, "2f8", None],
        "shape": [[], [0], [-1], [10**12], [2**40, 2**40], [1, 1, 1], [n + 1 for n in shape], "x"],
        "order": ["C", "F", "K"],
        "start": [0, -8, 10**15, 3, "x"],
    }
    if key == "shape" and rng.random() < 0.5:
        entry["shape"] = [max(0, n - rng.randrange(3)) for n in shape]
    else:
        entry[key] = rng.choice(options[key])
    files["estimators.json"] = json.dumps(parts).encode()


def _about(files: Files, rng: random.Random) -> None:
    """Change the description of the model."""
    about = json.loads(files["model.json"])
    _change(about, rng)
    files["model.json"] = json.dumps(about).encode()


def _is_whole(entry: dict[str, Any], n_bytes: int) -> bool:
    """Return whether an array of bytes is long, and still where it was: an earlier change may have moved it."""
    start, shape = entry["start"], entry["shape"]
    if entry["dtype"] != "|u1" or not isinstance(start, int) or not isinstance(shape, list):
        return False
    is_long = len(shape) == 1 and isinstance(shape[0], int) and shape[0] > 100
    return is_long and start >= 0 and start + shape[0] <= n_bytes


def _text(files: Files, rng: random.Random) -> None:
    """Change a word of a booster's own format; its length changes with it."""
    parts = json.loads(files["estimators.json"])
    blobs = [entry for entry in parts["arrays"] if _is_whole(entry, len(files["arrays.bin"]))]
    if not blobs:
        _numbers(files, rng)
        return
    entry = rng.choice(blobs)
    start, size = entry["start"], entry["shape"][0]
    content = files["arrays.bin"]
    blob = content[start : start + size]
    place = rng.randrange(len(blob))
    if rng.random() < 0.6 and b"\n" in blob:
        lines = blob.split(b"\n")
        number = rng.randrange(len(lines))
        words = lines[number].replace(b"=", b"= ").split(b" ")
        words[rng.randrange(len(words))] = rng.choice(WORDS)
        lines[number] = b" ".join(words).replace(b"= ", b"=")
        if rng.random() < 0.2:
            del lines[rng.randrange(len(lines))]
        blob = b"\n".join(lines)
    elif rng.random() < 0.5:
        blob = blob[:place] + bytes([rng.randrange(256)]) + blob[place + 1 :]
    else:
        blob = blob[:place] + rng.choice(WORDS) + blob[place + rng.randrange(4) :]
    entry["start"], entry["shape"] = len(content), [len(blob)]
    files["arrays.bin"] = content + blob + bytes(-len(blob) % 16)
    files["estimators.json"] = json.dumps(parts).encode()


def _change(plain: Any, rng: random.Random) -> None:
    """Replace, remove or copy a random value somewhere in a structure of JSON."""
    places = list(_places(plain))
    if not places:
        return
    owner, key = rng.choice(places)
    how = rng.random()
    if how < 0.1:
        del owner[key]
    elif how < 0.3:
        other_owner, other_key = rng.choice(places)
        owner[key] = other_owner[other_key]
        # A structure inside itself is no JSON.
        try:
            json.dumps(owner)
        except (ValueError, RecursionError):
            owner[key] = None
    else:
        owner[key] = rng.choice(SCALARS)


def _places(plain: Any) -> Iterator[tuple[Any, Any]]:
    items = plain.items() if isinstance(plain, dict) else enumerate(plain) if isinstance(plain, list) else ()
    for key, value in items:
        yield plain, key
        yield from _places(value)


def tried(path: Path, rows: pd.DataFrame) -> Verdict:
    """Return what loading a file and predicting rows comes to in this process."""
    try:
        load(path).answer(rows)
    except MetamlError as error:
        return Verdict("refused", str(error))
    except Exception as error:
        return Verdict("foreign", f"{type(error).__name__}: {error}".split("\n")[0][:200])
    return Verdict("fine")


def verdicts(cases: Sequence[bytes], rows: pd.DataFrame, folder: Path, *, seconds: float = 90.0) -> Iterator[Verdict]:
    """Yield the verdict of each case. A child process tries one after the other; when it dies, another goes on."""
    n_done = 0
    while n_done < len(cases):
        for verdict in _verdicts_of_child(cases[n_done:], rows, folder, seconds):
            n_done += 1
            yield verdict


def _verdicts_of_child(cases: Sequence[bytes], rows: pd.DataFrame, folder: Path, seconds: float) -> Iterator[Verdict]:
    """Yield verdicts until all cases are done, or one has killed the child or was late."""
    answers, theirs = os.pipe()
    pid = os.fork()
    if not pid:
        os.close(answers)
        _try_all(cases, rows, folder / f"fuzzed-{os.getpid()}.zip", theirs)
    os.close(theirs)
    content = b""
    try:
        for _ in cases:
            while b"\n" not in content:
                if not select.select([answers], [], [], seconds)[0]:
                    yield Verdict("late")
                    return
                piece = os.read(answers, 65536)
                if not piece:
                    _, status = os.waitpid(pid, 0)
                    pid = 0
                    yield Verdict(
                        "died", signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else "exit"
                    )
                    return
                content += piece
            line, _, content = content.partition(b"\n")
            yield Verdict(*json.loads(line))
    finally:
        os.close(answers)
        if pid:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)


def _try_all(cases: Sequence[bytes], rows: pd.DataFrame, file: Path, answers: int) -> None:
    """Write a line about each case, and end this process. One process serves the trials of all cases."""
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_AS, (MEGABYTES * 10**6, MEGABYTES * 10**6))
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        with kept_trials():
            for case in cases:
                # A new file for each: to write over one that is still on its way to the disk waits for the disk.
                file.write_bytes(case)
                found = tried(file, rows)
                file.unlink()
                megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000
                os.write(answers, json.dumps([found.kind, found.said[:2000], megabytes]).encode() + b"\n")
    finally:
        os._exit(0)


def copied(item: Any) -> Any:
    """Return a copy of plain data."""
    return pickle.loads(pickle.dumps(item))
