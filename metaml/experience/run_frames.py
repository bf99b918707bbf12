"""Frames of runs from the knowledge base: whose runs they are, and their configurations."""

from collections.abc import Sequence
from typing import overload

import numpy as np
import pandas as pd

from metaml.arrays import Positions
from metaml.spaces.config import Config
from metaml_kb import KnowledgeBase


def with_fingerprints(
    kb: KnowledgeBase, frame: pd.DataFrame, known: pd.DataFrame, algorithm: str | None
) -> pd.DataFrame:
    """Return complete runs with a column `fingerprint`. Data sets that share a name are asked for one by one."""
    shared = known["name"].duplicated(keep=False)
    alone = known[~shared]
    fingerprints = dict(zip(alone["name"], alone["fingerprint"], strict=True))
    frame = frame.assign(fingerprint=frame["dataset"].map(fingerprints).astype(object))
    if not shared.any():
        return frame
    parts = [frame[frame["fingerprint"].notna()]]
    for fingerprint in known.loc[shared, "fingerprint"]:
        part = kb.runs(algorithm=algorithm, status="ok", dataset=fingerprint)
        parts.append(part.assign(fingerprint=fingerprint))
    whole = pd.concat([part for part in parts if len(part)], ignore_index=True)
    whole.attrs = frame.attrs
    return whole


def value_codes(frame: pd.DataFrame, columns: Sequence[str]) -> Positions:
    """Return a number for each row that is equal where all these columns are equal."""
    codes = np.zeros(len(frame), dtype=np.int64)
    for column in columns:
        values = frame[column]
        if values.dtype == object:
            # 1, 1.0 and True are equal to pandas but not as values of a hyperparameter; None differs from NaN.
            values = values.map(lambda value: f"{type(value).__name__} {value}")
        new, distinct = pd.factorize(values, use_na_sentinel=False)
        codes, _ = pd.factorize(codes * len(distinct) + new)
    return codes.astype(np.int64)


class Configs(Sequence[Config]):
    """The configurations of a frame, each made when it is asked for: most of a large frame never are."""

    def __init__(self, frame: pd.DataFrame, names: Sequence[str]) -> None:
        self._columns = [frame[name].astype(object).to_numpy() for name in names]
        self._names = [name.removeprefix("config.") for name in names]
        self._n = len(frame)

    def __len__(self) -> int:
        return self._n

    @overload
    def __getitem__(self, place: int) -> Config: ...

    @overload
    def __getitem__(self, place: slice) -> list[Config]: ...

    def __getitem__(self, place: int | slice) -> Config | list[Config]:
        if isinstance(place, slice):
            return [self[k] for k in range(self._n)[place]]
        values = [column[place] for column in self._columns]
        pairs = zip(self._names, values, strict=True)
        return {name: value for name, value in pairs if value is None or value == value}
