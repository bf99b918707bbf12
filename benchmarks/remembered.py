"""What takes long to make is made once and kept, so that what comes after it can be tried many times."""

import pickle
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def remembered(folder: Path | None, name: str, make: Callable[[], T]) -> T:
    """Return what was made before under a name, or make it and keep it in the folder, if there is one."""
    path = None if folder is None else folder / f"{name}.pickle"
    if path is not None and path.exists():
        kept: T = pickle.loads(path.read_bytes())
        return kept
    made = make()
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(pickle.dumps(made))
    return made
