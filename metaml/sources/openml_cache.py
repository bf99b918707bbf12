"""OpenML's local cache, used so that it always holds whole files.

`openml` 0.15 writes directly into its cache, so two processes can write one file at once. It deletes a whole entry if
any part of it cannot be fetched, even offline. It also keeps pickles that another version of pandas cannot read.

So we give it a temporary cache, a stage, filled with what the real cache has. After everything it fetched has been
read, each file is moved into the real cache in one step. If anything fails, the stage is deleted and the cache stays as
it was. The layout is openml's own: other programs find what we fetched, and we find what they fetched.
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
        """Return the file that is locked while this is being fetched."""
        return self.server / _OURS / "locks" / name

    def suite(self, number: int) -> list[int] | None:
        """Return the task numbers of a suite as last seen, None if it was never seen; openml does not keep them."""
        try:
            tasks = json.loads(self._suite_file(number).read_text())
        except (OSError, ValueError):
            return None
        return [int(task) for task in tasks]

    def keep_suite(self, number: int, tasks: list[int]) -> None:
        """Store the task numbers of a suite."""
        path = self._suite_file(number)
        path.parent.mkdir(parents=True, exist_ok=True)
        draft = path.with_suffix(f".{os.getpid()}")
        draft.write_text(json.dumps(tasks))
        draft.replace(path)

    def _suite_file(self, number: int) -> Path:
        return self.server / _OURS / f"suite_{number}.json"

    @contextmanager
    def stage(self, *, is_read_only: bool) -> Iterator["Cache"]:
        """Yield an empty cache to work in, deleted at the end.

        It is a folder inside this cache, so that files can be moved in one step. A read-only stage is elsewhere.
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
        """Put an entry's files into a stage: data as links, small files as copies because openml may write to them."""
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
        """Move an entry's new files from a stage into this cache, each in one step.

        With `instead`, data files that the stage does not have are deleted here: they could not be read.
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
