"""OpenML's local cache, used so that it only ever holds whole files.

`openml` 0.15 writes straight into its cache, so that two processes can write one file at once; it deletes a whole
entry when any part of it cannot be fetched, offline too; and it keeps pickles that another version of pandas cannot
read. So it is given a cache of its own, a stage, filled with what is there already. What it fetches is moved into the
real cache, file by file in one step each, once all of it has been read; else the stage is dropped and the cache is as
it was. The layout is openml's: programs that use it find what we fetched, and the other way round.
"""

import json
import os
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

_OURS = "metaml"
_SMALL = (".xml", ".json")
_DATA = (".pq", ".arff")
_LEFT_OVER = (".pkl", ".py3", ".minio", ".feather")
_STALE_SECONDS = 24 * 3600.0


@dataclass(frozen=True)
class Cache:
    """The cache of one server: `root` is openml's cache directory, `server` the part of it for the server."""

    root: Path
    server: Path

    def folder(self, kind: str, number: int) -> Path:
        """Return where an entry lives: `kind` is "tasks" or "datasets"."""
        return self.server / kind / str(number)

    def lock_file(self, name: str) -> Path:
        """Return the file whose lock means that this is being fetched."""
        return self.server / _OURS / "locks" / name

    def suite(self, number: int) -> list[int] | None:
        """Return the task numbers of a suite as last seen, None if it was never seen; openml does not keep them."""
        try:
            tasks = json.loads(self._suite_file(number).read_text())
        except (OSError, ValueError):
            return None
        return [int(task) for task in tasks]

    def keep_suite(self, number: int, tasks: list[int]) -> None:
        """Write down the task numbers of a suite."""
        path = self._suite_file(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(tasks))
        draft.replace(path)

    def _suite_file(self, number: int) -> Path:
        return self.server / _OURS / f"suite_{number}.json"

    @contextmanager
    def stage(self, *, is_read_only: bool) -> Iterator["Cache"]:
        """Give an empty cache to work in, deleted at the end.

        It is in this cache, so that files can be moved over in one step; a read-only one is elsewhere.
        """
        parent = None
        if not is_read_only:
            parent = self.server / _OURS / "stages"
            parent.mkdir(parents=True, exist_ok=True)
            _remove_stale(parent)
        root = Path(tempfile.mkdtemp(dir=parent))
        try:
            yield Cache(root, root / self.server.relative_to(self.root))
        finally:
            shutil.rmtree(root, ignore_errors=True)

    def lend(self, stage: "Cache", kind: str, number: int) -> None:
        """Put an entry's files into a stage: small ones as copies, as openml may write them, data as links."""
        target = stage.folder(kind, number)
        if not self.folder(kind, number).is_dir():
            return
        target.mkdir(parents=True, exist_ok=True)
        for file in self.folder(kind, number).iterdir():
            if not file.is_file() or file.suffix in _LEFT_OVER:
                continue
            if file.suffix in _SMALL or not _linked(file, target / file.name):
                shutil.copyfile(file, target / file.name)

    def take(self, stage: "Cache", kind: str, number: int, *, instead: bool = False) -> None:
        """Move an entry's new files from a stage into this cache; each is there whole or not at all.

        `instead` drops the data files that the stage does without: they were tried and were no good.
        """
        target = self.folder(kind, number)
        target.mkdir(parents=True, exist_ok=True)
        if instead:
            for file in target.iterdir():
                if file.suffix in _DATA and not (stage.folder(kind, number) / file.name).exists():
                    file.unlink(missing_ok=True)
        for file in stage.folder(kind, number).iterdir():
            if file.is_file() and not file.is_symlink() and file.suffix not in _LEFT_OVER:
                file.replace(target / file.name)


def _linked(file: Path, link: Path) -> bool:
    try:
        link.symlink_to(file.resolve())
    except OSError:  # Windows, unless it is allowed
        return False
    return True


def _remove_stale(folder: Path) -> None:
    """Remove the stages of processes that died."""
    for stage in folder.iterdir():
        with suppress(FileNotFoundError):  # another process removes them too
            if time.time() - stage.stat().st_mtime > _STALE_SECONDS:
                shutil.rmtree(stage, ignore_errors=True)
