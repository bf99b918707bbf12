"""OpenML's cache: whole files only, nothing deleted, nothing asked for offline."""

import hashlib
import multiprocessing
import socket
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from openml_content import TABLES
from openml_server import OpenMLServer

from metaml.errors import SourceError
from metaml.sources.base import Source
from metaml.sources.locking import locked
from metaml.sources.openml import sources

Make = Callable[..., Source]


@contextmanager
def no_sockets() -> Iterator[None]:
    def refuse(*_: object) -> None:
        raise AssertionError("a socket was opened")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket.socket, "connect", refuse)
        yield


def files(cache: Path) -> dict[str, bytes]:
    """Everything in the cache but our own locks."""
    return {str(path.relative_to(cache)): path.read_bytes() for path in cache.rglob("*") if path.is_file()}


def find(cache: Path, name: str) -> Path:
    (found,) = cache.rglob(name)
    return found


def test_what_was_fetched_once_is_not_asked_for_again(task_source: Make, server: OpenMLServer) -> None:
    first = task_source(37).load()
    n_asked = len(server.seen)

    second = task_source(37).load()

    # Whether there are qualities by now has to be asked.
    assert [path.rpartition("/api/v1/xml/")[2] for path in server.seen[n_asked:]] == ["data/qualities/37"]
    assert second.dataset.fingerprint == first.dataset.fingerprint


def test_the_layout_is_openmls_own(task_source: Make, cache: Path) -> None:
    task_source(31).load()

    stored = {path.parent.parent.name + "/" + path.name for path in cache.rglob("31/*")}
    assert stored == {
        *("tasks/task.xml", "tasks/datasplits.arff"),
        *("datasets/description.xml", "datasets/features.xml", "datasets/qualities.xml", "datasets/dataset.arff"),
    }


@pytest.mark.parametrize("task", [31, 37])
def test_offline_gives_the_same_without_a_socket(task_source: Make, task: int) -> None:
    online = task_source(task).load()

    with no_sockets():
        offline = task_source(task, offline=True).load()

    assert offline.dataset.fingerprint == online.dataset.fingerprint
    assert offline.qualities == online.qualities
    assert offline.details == online.details
    assert offline.folds is not None
    assert offline.folds.tolist() == list(online.folds if online.folds is not None else [])


def test_offline_knows_the_suites_it_has_seen(server: OpenMLServer, cache: Path) -> None:
    sources([], [99], server=server.address, cache=cache)

    with no_sockets():
        found = sources([], [99, 98], server=server.address, cache=cache, offline=True)

    assert [source.name for source in found] == ["task 31", "task 37", "suite 98"]
    with pytest.raises(SourceError, match=r"suite 98: it is not in the cache. Fetch it once without --offline"):
        found[2].load()


@pytest.mark.parametrize("name", ["task.xml", "datasplits.arff", "description.xml", "features.xml", "dataset.arff"])
@pytest.mark.parametrize("damage", ["gone", "halved"])
def test_offline_with_a_damaged_cache_says_so_and_deletes_nothing(
    task_source: Make, cache: Path, name: str, damage: str
) -> None:
    task_source(31).load()
    file = find(cache, name)
    if damage == "gone":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    before = files(cache)

    with no_sockets(), pytest.raises(SourceError, match=r"^task 31: .*cache.*without --offline\.$"):
        task_source(31, offline=True).load()

    assert files(cache) == before


def test_offline_does_without_qualities(task_source: Make, cache: Path) -> None:
    task_source(31).load()
    find(cache, "qualities.xml").unlink()

    with no_sockets():
        loaded = task_source(31, offline=True).load()

    assert loaded.qualities == {}


@pytest.mark.parametrize("name", ["task.xml", "datasplits.arff", "description.xml", "features.xml", "dataset.arff"])
def test_a_damaged_file_is_fetched_again(task_source: Make, cache: Path, name: str) -> None:
    task_source(31).load()
    file = find(cache, name)
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])

    loaded = task_source(31).load()

    assert len(loaded.dataset.y) == 40
    assert file.read_bytes() == whole


def test_damaged_parquet_makes_room_for_arff(task_source: Make, server: OpenMLServer, cache: Path) -> None:
    task_source(37).load()
    file = find(cache, "dataset_37.pq")
    file.write_bytes(file.read_bytes()[:100])

    task_source(37).load()
    task_source(37, offline=True).load()

    assert not file.exists()
    assert server.asked("download/37/") == 1


def test_an_error_leaves_the_cache_as_it_was(task_source: Make, server: OpenMLServer, cache: Path) -> None:
    task_source(31).load()
    find(cache, "qualities.xml").unlink()
    before = files(cache)
    server.fail("qualities", "500")

    with pytest.raises(SourceError, match="status 500"):
        task_source(31).load()

    assert files(cache) == before


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="processes are started by forking")
def test_two_processes_that_want_one_task_fetch_it_once(
    task_source: Make, server: OpenMLServer, cache: Path, tmp_path: Path
) -> None:
    server.fail("download", "slow")
    task_source(7).load()  # so that openml is imported once, not in each of them

    def fetch(answer: Path) -> None:
        answer.write_text(task_source(31).load().dataset.fingerprint)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the server's thread is not needed in the children
        fork = multiprocessing.get_context("fork")
        both = [fork.Process(target=fetch, args=(tmp_path / name,)) for name in ("first", "second")]
        for process in both:
            process.start()
    for process in both:
        process.join(60)

    answers = [(tmp_path / name).read_text() for name in ("first", "second")]
    assert answers[0] == answers[1]
    assert len(answers[0]) == 32
    assert server.asked("download/31/") == 1
    (file,) = cache.rglob("31/dataset.arff")
    content = file.read_bytes()
    assert hashlib.md5(content).digest() == hashlib.md5(TABLES[31].arff().encode()).digest()
    assert not list(cache.rglob("stages/*"))


def test_a_lock_is_held_by_one_and_then_free(tmp_path: Path) -> None:
    path = tmp_path / "folder" / "lock"

    with locked(path, seconds=0) as first, locked(path, seconds=0.1) as second:
        assert (first, second) == (True, False)
    with locked(path, seconds=0) as third:
        assert third


def test_openml_is_imported_only_when_it_is_needed() -> None:
    program = "import sys, metaml.sources.openml; sys.exit('openml' in sys.modules)"

    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
