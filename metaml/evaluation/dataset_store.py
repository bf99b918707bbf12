"""A folder of data sets by fingerprint: written once by the parent process, read once by each worker."""

from __future__ import annotations

import pickle
from collections import OrderedDict
from pathlib import Path
from typing import TYPE_CHECKING, cast

from metaml.errors import BadRequest

if TYPE_CHECKING:
    from metaml.data import Dataset

KEPT_DATASETS = 3


def dataset_bytes(dataset: Dataset) -> bytes:
    """Return a data set as the store keeps it."""
    return pickle.dumps(dataset, protocol=pickle.HIGHEST_PROTOCOL)


class DatasetStore:
    """Data sets in a folder that only this session writes to; the last few used are cached in memory."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._kept: OrderedDict[str, Dataset] = OrderedDict()

    def put(self, dataset: Dataset) -> None:
        """Write a data set, unless it exists."""
        if not self._path(dataset.fingerprint).exists():
            self.put_content(dataset.fingerprint, dataset_bytes(dataset))

    def put_content(self, fingerprint: str, content: bytes) -> None:
        """Write a data set that was packed elsewhere; raise `BadRequest` if there is no space for it."""
        path = self._path(fingerprint)
        draft = path.with_suffix(".draft")
        try:
            draft.write_bytes(content)
            draft.replace(path)
        except OSError as error:
            draft.unlink(missing_ok=True)
            why = f"There is no space for the data set among the temporary files ({error.strerror})"
            place = self.folder.parent
            raise BadRequest(f"{why}. Free some in {place}, or choose another folder with TMPDIR.") from None

    def get(self, fingerprint: str) -> Dataset:
        """Return a data set, from memory if it was used recently."""
        if fingerprint not in self._kept:
            path = self._path(fingerprint)
            if not path.exists():
                raise BadRequest(
                    f"The workers have no data set {fingerprint}: it was not added, or files of a running metaml were "
                    f"removed from {self.folder.parent}. Start again; all runs so far are kept."
                )
            while len(self._kept) >= KEPT_DATASETS:
                self._kept.popitem(last=False)
            self._kept[fingerprint] = cast("Dataset", pickle.loads(path.read_bytes()))  # noqa: S301 - written by `put`
        self._kept.move_to_end(fingerprint)
        return self._kept[fingerprint]

    def _path(self, fingerprint: str) -> Path:
        return self.folder / f"{fingerprint}.pickle"
