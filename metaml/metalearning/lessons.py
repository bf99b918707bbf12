"""Lessons: everything that was learnt from a knowledge base for one kind of task and one metric.

That is a meta-learner for each algorithm, a ranking of algorithms, a portfolio and run-time models. They are stored in
one file, which holds only text, JSON and plain arrays.
"""

import io
import json
import os
import time
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from metaml.errors import BadRequest
from metaml.metalearning.algorithm_ranking import AlgorithmPrior
from metaml.metalearning.booster_text import booster_of, compact_text
from metaml.metalearning.fidelity import fingerprint_of, n_distinct
from metaml.metalearning.history import RunHistory
from metaml.metalearning.pooled_landscape import on_one_scale
from metaml.metalearning.portfolio import Portfolio, make_portfolio
from metaml.metalearning.runtime import RuntimeLearner
from metaml.metalearning.training import Trained, file_contents, train, unpacked

UNREADABLE = (OSError, EOFError, zipfile.BadZipFile, zlib.error, ValueError, KeyError, TypeError)
"""The errors that a damaged file can raise."""
FORMAT, READABLE = 4, (3, 4)
"""Changes with what is written, so that files of another release are retrained instead of misread. Lessons of format 3
averaged runs on different numbers of rows; they are still better than none."""


@dataclass(frozen=True, eq=False)
class Lessons:
    """What was learnt about several algorithms, for one metric and one task family (see `TASK_FAMILIES`).

    Landscapes of different algorithms share one scale. `names` are the names of the data sets, by fingerprint. The
    knowledge base had `n_known` runs; `n_runs` of them were used, and learning took `seconds`.
    """

    metric: str
    family: str
    revision: str
    n_runs: int
    n_known: int
    seconds: float
    trained: Mapping[str, Trained]
    runtimes: Mapping[str, RuntimeLearner]
    prior: AlgorithmPrior
    portfolio: Portfolio
    names: Mapping[str, str]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @cached_property
    def metafeatures(self) -> pd.DataFrame:
        """Return the metafeatures of all data sets in one table, indexed by fingerprint."""
        tables = [*(item.landscape.metafeatures for item in self.trained.values()), self.prior.metafeatures_]
        whole = pd.concat(tables) if any(len(table) for table in tables) else pd.DataFrame()
        return whole[~whole.index.duplicated()]

    @property
    def n_datasets(self) -> int:
        """Return the number of data sets that were used, each counted once however many of its rows were."""
        return n_distinct(self.names)


def teach(
    histories: Mapping[str, RunHistory],
    *,
    family: str,
    n_known: int = 0,
    recipe: str = "compact",
    n_grid: int = 500,
    n_threads: int = 1,
    seed: int = 0,
) -> Lessons:
    """Return the lessons of the run histories of several algorithms, all scored by one metric."""
    start = time.perf_counter()
    known = on_one_scale({name: item for name, item in histories.items() if not item.is_empty})
    trained = {
        name: train(item, recipe=recipe, n_grid=n_grid, n_threads=n_threads, seed=seed) for name, item in known.items()
    }
    first = next(iter(histories.values()), None)
    runtimes = {name: RuntimeLearner(seed=seed).fit(item) for name, item in known.items()}
    prior = AlgorithmPrior(seed=seed).fit(known)
    return Lessons(
        metric="" if first is None else first.metric,
        family=family,
        revision="" if first is None else first.revision,
        n_runs=sum(item.n_runs for item in trained.values()),
        n_known=n_known,
        seconds=time.perf_counter() - start,
        trained=trained,
        runtimes=runtimes,
        prior=prior,
        portfolio=make_portfolio(known, {name: item.landscape for name, item in trained.items()}, seed=seed),
        names={
            fingerprint: name
            for item in known.values()
            for fingerprint, name in zip(item.datasets, item.names, strict=True)
        },
        left_out=() if first is None else first.left_out,
        notes=tuple(note for item in histories.values() for note in item.notes),
    )


def save_lessons(lessons: Lessons, path: Path) -> None:
    """Write lessons into one file; if that fails, an older file stays as it is."""
    table = lessons.metafeatures
    arrays = {
        "metafeatures": table.to_numpy(np.float32),
        "ranks": lessons.prior.ranks_,
        "counts": lessons.prior.counts_,
    }
    buffer = io.BytesIO()
    np.savez(buffer, allow_pickle=False, **arrays)
    content = {
        "format": FORMAT,
        "metric": lessons.metric,
        "family": lessons.family,
        "revision": lessons.revision,
        "n_runs": lessons.n_runs,
        "n_known": lessons.n_known,
        "seconds": lessons.seconds,
        "algorithms": list(lessons.trained),
        "names": dict(lessons.names),
        "metafeatures": [str(name) for name in table.columns],
        "datasets": list(table.index),
        "compared": list(lessons.prior.metafeatures_.index),
        "ranked": lessons.prior.names_,
        "left_out": lessons.left_out,
        "notes": lessons.notes,
        "runtimes": {
            name: {"level": model.level_, "has_reference": model.has_reference_}
            for name, model in lessons.runtimes.items()
        },
    }
    portfolio, arrays = lessons.portfolio.packed()
    portfolio_arrays = io.BytesIO()
    np.savez(portfolio_arrays, allow_pickle=False, **arrays)
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(f"{path.name}.{os.getpid()}")
    with zipfile.ZipFile(new, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as file:
        file.writestr("lessons.json", json.dumps(content))
        file.writestr("tables.npz", buffer.getvalue())
        file.writestr("repertoire.json", json.dumps({"format": FORMAT, **portfolio}))
        file.writestr("repertoire.npz", portfolio_arrays.getvalue())
        for name, trained in lessons.trained.items():
            for part, data in file_contents(trained, metafeatures=False).items():
                file.writestr(f"{name}/{part}", data)
            booster = lessons.runtimes[name].booster_
            if booster is not None:
                file.writestr(f"{name}/runtime.txt", compact_text(booster))
    new.replace(path)


def load_lessons(path: Path) -> Lessons:
    """Return the lessons of a file."""
    try:
        with zipfile.ZipFile(path) as file:
            return _read(file)
    except UNREADABLE:
        raise BadRequest(
            f"{path.name} holds no lessons that can be read. Train them again with: metaml learn"
        ) from None


def taught_by(path: Path) -> frozenset[str] | None:
    """Return the fingerprints of the data sets that the lessons of a file were learnt from; None if unreadable."""
    try:
        with zipfile.ZipFile(path) as file:
            return frozenset(map(fingerprint_of, _content(file, "lessons.json")["names"]))
    except UNREADABLE:
        return None


def load_portfolio(path: Path) -> Portfolio | None:
    """Return only the portfolio of a lessons file, which takes milliseconds; None if it cannot be read."""
    try:
        with zipfile.ZipFile(path) as file:
            return _read_portfolio(file)
    except UNREADABLE:
        return None


def _content(file: zipfile.ZipFile, part: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(file.read(part))
    if content["format"] not in READABLE:
        raise ValueError(f"format {content['format']}")
    return content


def _read_portfolio(file: zipfile.ZipFile) -> Portfolio:
    content, n_taught = _content(file, "repertoire.json"), n_distinct(_content(file, "lessons.json")["names"])
    with np.load(io.BytesIO(file.read("repertoire.npz")), allow_pickle=False) as arrays:
        return Portfolio.unpacked(content, {name: arrays[name] for name in arrays.files}, n_taught=n_taught)


def _read(file: zipfile.ZipFile) -> Lessons:
    content = _content(file, "lessons.json")
    with np.load(io.BytesIO(file.read("tables.npz")), allow_pickle=False) as arrays:
        tables = {name: arrays[name] for name in arrays.files}
    table = pd.DataFrame(
        tables["metafeatures"].astype(np.float64), index=content["datasets"], columns=content["metafeatures"]
    )
    trained, runtimes = {}, {}
    every = file.namelist()
    for name in content["algorithms"]:
        parts = {part.removeprefix(f"{name}/"): file.read(part) for part in every if part.startswith(f"{name}/")}
        trained[name] = unpacked(parts, metafeatures=table)
        runtimes[name] = _runtime(content["runtimes"][name], parts.get("runtime.txt"), trained[name])
    prior = AlgorithmPrior()
    prior.names_ = tuple(content["ranked"])
    prior.ranks_, prior.counts_ = tables["ranks"], tables["counts"]
    prior.metafeatures_ = table.reindex(content["compared"])
    return Lessons(
        content["metric"],
        content["family"],
        content["revision"],
        int(content["n_runs"]),
        int(content["n_known"]),
        float(content["seconds"]),
        trained,
        runtimes,
        prior,
        _read_portfolio(file),
        content["names"],
        tuple(content["left_out"]),
        tuple(content["notes"]),
    )


def _runtime(content: Mapping[str, float | bool | None], model: bytes | None, trained: Trained) -> RuntimeLearner:
    learner = RuntimeLearner()
    learner.encoder_ = trained.learner.encoder_
    level = content["level"]
    learner.level_ = None if level is None else float(level)
    learner.has_reference_ = bool(content["has_reference"])
    if model is not None:
        learner.booster_ = booster_of(model.decode())
    return learner
