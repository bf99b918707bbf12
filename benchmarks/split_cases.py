"""Data sets with groups or in the order of time, and which rows are set aside: for split_honesty and intervals.

Most are what they are: series, persons seen several times, towns month after month. Where there are too few, rows
become groups by being measured several times (`COPIES`), or get an order by a drift of all columns (`DRIFTS`).
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

SET_ASIDE = 0.3
TIMES = ("electricity", "chicago-ridership", "eeg-eye-state", "stock")
"""Data sets whose rows are in the order of time."""
GATE_TIMES = ("seoul-bike", "ozone-level-8hr")
"""The same, kept for the gate of forward folds."""
DRIFTS = ("ccpp", "puma8NH", "heloc", "waveform-5000")
"""Data sets without time that drift is added to, for the same gate."""
CORRELATED = 0.05
"""How long a drift is remembered, as a share of the rows."""
COPIES = ("diabetes", "credit-approval", "sonar")
"""Data sets whose rows become groups: each is measured four times, with a little noise."""
N_COPIES, NOISE = 4, 0.05
GROUPS = ("MiceProtein", "vowel", "wages-psid", "JapaneseVowels", "txhousing")
"""Data sets whose rows belong to mice, speakers, persons, utterances and towns."""


@dataclass(frozen=True)
class Case:
    """A data set with its role column, called `moment`; `aside` marks the rows that are set aside."""

    name: str
    frame: pd.DataFrame
    target: str
    role: str
    aside: np.ndarray


def in_time(folder: Path, name: str, most_rows: int, seed: int = 0) -> Case:
    """Return a data set in the order of time: its last rows are set aside. The seed says which rows are kept."""
    return _ordered(name, _thinned(pd.read_csv(folder / f"{name}.csv.gz"), most_rows, seed))


def drifting(folder: Path, name: str, most_rows: int, seed: int) -> Case:
    """Return rows in random order whose number columns drift, as sensors do, and are read correctly again.

    Each column gets an Ornstein-Uhlenbeck process with the column's own deviation: what is to come varies as the past.
    """
    rng = np.random.default_rng(seed)
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    frame = frame.iloc[rng.permutation(len(frame))[:most_rows]].reset_index(drop=True)
    numbers = [column for column in frame.columns[:-1] if frame[column].dtype.kind in "if"]
    kept = np.exp(-1 / (CORRELATED * len(frame)))
    steps = rng.normal(size=(len(frame), len(numbers)))
    walk = np.empty_like(steps)
    walk[0] = steps[0]
    for row in range(1, len(frame)):
        walk[row] = kept * walk[row - 1] + np.sqrt(1 - kept**2) * steps[row]
    frame[numbers] = frame[numbers] + walk * frame[numbers].std().to_numpy()
    return _ordered(f"{name}, drift", frame)


def patients(folder: Path, seed: int, most_rows: int) -> Case:
    """Return the telemonitoring data: patients, told by age and sex, are measured many times."""
    frame = _thinned(pd.read_csv(folder / "parkinsons-telemonitoring.csv.gz"), most_rows)
    frame = frame.assign(person=frame["age"].astype(str) + frame["sex"].astype(str))
    frame = frame[[name for name in frame.columns if name != "total_UPDRS"] + ["total_UPDRS"]]
    return _grouped("parkinsons-telemonitoring", frame, "total_UPDRS", "person", seed)


def real_groups(folder: Path, name: str, seed: int, most_rows: int) -> Case:
    """Return a data set whose rows belong together, with the groups as their order or a column tells them.

    MiceProtein has 15 rows of each mouse, vowel 66 of each speaker, wages-psid 7 years of each person. In
    JapaneseVowels an utterance begins where `frame` is 1. Of too many rows, whole groups are kept.
    """
    frame = pd.read_csv(folder / f"{name}.csv.gz")
    target, rows = frame.columns[-1], np.arange(len(frame))
    if name == "JapaneseVowels":
        frame = frame.assign(person=(frame["frame"] == 1).cumsum())
    elif name == "txhousing":
        frame = frame.rename(columns={"city": "person"})
    else:
        frame = frame.assign(person=rows // {"MiceProtein": 15, "vowel": 66, "wages-psid": 7}[name])
    groups = frame["person"].unique()
    n_kept = max(round(len(groups) * most_rows / len(frame)), 1)
    if n_kept < len(groups):
        if name == "txhousing":  # towns are few: each keeps some of its months
            frame = _thinned(frame, most_rows)
        else:
            kept = np.random.default_rng(seed).permutation(groups)[:n_kept]
            frame = frame[frame["person"].isin(kept)].reset_index(drop=True)
    return _grouped(name, frame, target, "person", seed)


def copies(folder: Path, name: str, seed: int, most_rows: int | None = None) -> Case:
    """Return a data set whose rows are measured several times, of at most so many rows before that."""
    rng = np.random.default_rng(seed)
    frame = pd.read_csv(folder / f"{name}.csv.gz").dropna(axis=1, how="all")
    if most_rows is not None and len(frame) > most_rows:
        frame = frame.iloc[np.sort(rng.permutation(len(frame))[:most_rows])].reset_index(drop=True)
    target = frame.columns[-1]
    numbers = [column for column in frame.select_dtypes("number").columns if column != target]
    parts = []
    for _ in range(N_COPIES):
        part = frame.copy()
        part[numbers] = part[numbers] + rng.normal(size=part[numbers].shape) * NOISE * frame[numbers].std().to_numpy()
        parts.append(part.assign(person=[f"p{row}" for row in range(len(frame))]))
    return _grouped(f"{name}, {N_COPIES} copies", pd.concat(parts, ignore_index=True), target, "person", seed)


def _thinned(frame: pd.DataFrame, most_rows: int, seed: int = 0) -> pd.DataFrame:
    """Return every so many-th row."""
    step = max(len(frame) // most_rows, 1)
    return frame.iloc[seed % step :: step].reset_index(drop=True)


def _ordered(name: str, frame: pd.DataFrame) -> Case:
    rows = np.arange(len(frame))
    return Case(name, frame.assign(moment=rows), frame.columns[-1], "time", rows >= (1 - SET_ASIDE) * len(frame))


def _grouped(name: str, frame: pd.DataFrame, target: str, column: str, seed: int) -> Case:
    groups = np.unique(frame[column])
    chosen = np.random.default_rng(seed).permutation(groups)[: round(SET_ASIDE * len(groups))]
    return Case(name, frame.rename(columns={column: "moment"}), target, "group", np.isin(frame[column], chosen))
