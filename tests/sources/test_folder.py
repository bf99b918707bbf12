"""Data files on disk."""

from pathlib import Path

import pytest

from metaml.errors import SourceError
from metaml.sources.folder import find


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ["b.csv.gz", "a.CSV", "c.parquet", "d.arff", "e.zip", "readme.md", ".hidden.csv", "f.py", "g.gz"]:
        (tmp_path / name).touch()
    (tmp_path / "inner.csv").mkdir()
    return tmp_path


def test_data_files_of_a_folder_are_found_in_order(folder: Path) -> None:
    assert [path.name for path in find([folder])] == ["a.CSV", "b.csv.gz", "c.parquet", "d.arff", "e.zip"]


def test_a_named_file_is_taken_whatever_its_ending_and_only_once(folder: Path) -> None:
    found = find([folder / "readme.md", str(folder), folder / "a.CSV"])

    assert len(found) == 6
    assert found[-1].name == "readme.md"


def test_a_missing_path_and_an_empty_folder_are_refused(folder: Path) -> None:
    with pytest.raises(SourceError, match="no file or folder"):
        find([folder / "nowhere"])
    with pytest.raises(SourceError, match="holds no data file"):
        find([folder / "inner.csv"])
