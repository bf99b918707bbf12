"""Data set files on disk: single files, and folders full of them."""

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from metaml.data import read_dataset
from metaml.data.content import FORMATS
from metaml.data.reading import PACKINGS
from metaml.errors import SourceError
from metaml.sources.base import Loaded, Source


def find(paths: Iterable[str | Path]) -> list[Path]:
    """Return the named files and the data files directly inside the named folders, each once, sorted.

    A named file is taken whatever it is called; in a folder only names that end like data count (.csv, .tsv,
    .parquet, .arff ..., packed or not), and hidden files do not.
    """
    found: set[Path] = set()
    for path in map(Path, paths):
        if path.is_dir():
            found |= {file for file in path.iterdir() if is_data_file(file)}
        elif path.exists():
            found.add(path)
        else:
            raise SourceError(f"There is no file or folder {path}. Check the path.")
    if not found:
        raise SourceError(f"What was named holds no data file. Give csv, parquet or ARFF files ({', '.join(FORMATS)}).")
    return sorted(found)


def is_data_file(path: Path) -> bool:
    """Return whether the file's name ends like data and is not hidden.

    >>> is_data_file(Path("folder.py")), is_data_file(Path(".hidden.csv"))
    (False, False)
    """
    name = path.name.lower()
    for packing in PACKINGS:
        name = name.removesuffix(packing)
    is_named_so = name.endswith(FORMATS) or path.suffix.lower() == ".zip"
    return is_named_so and not path.name.startswith(".") and path.is_file()


def sources(paths: Iterable[str | Path]) -> list[Source]:
    """Return the data sets behind files and folders; the last column is the target."""
    return [Source(path.name, partial(_loaded, path)) for path in find(paths)]


def _loaded(path: Path) -> Loaded:
    return Loaded(read_dataset(path))
