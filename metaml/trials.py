"""Finished evaluations of a session, and how they survive it: scores in the knowledge base, predictions on the disk."""

import json
import pickle
import shutil
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from metaml.config import Config
from metaml.evaluation import FoldDone, FoldPlan, Limits, Outcome
from metaml.libraries import importing
from metaml.lineup import LineUp
from metaml.report import Experience
from metaml.scratch import Scratch
from metaml.tune_settings import TuneSettings
from metaml_kb import KnowledgeBase, Run
from metaml_kb.lookup import find_run


@dataclass(frozen=True, eq=False)
class Trial:
    """A finished evaluation of a session, and when it finished.

    The `score` is what it is judged by: for metrics of labels the one after thresholds. The event log keeps it.
    """

    run: Run
    outcome: Outcome
    score: float
    at: float

    def told(self, metric: str) -> Outcome:
        """Return what a search by this metric learns: the outcome, its score being the one it is judged by."""
        return replace(self.outcome, scores={metric: (self.score,)}) if np.isfinite(self.score) else self.outcome


@dataclass(frozen=True, eq=False)
class CutShort:
    """A session that did not end: its line-up, what it had finished, and how much of its time was used."""

    key: str
    lineup: LineUp
    trials: tuple[Trial, ...]
    settings: Mapping[str, Any]

    def resumed(self, settings: TuneSettings) -> TuneSettings:
        """Return the settings to go on with: metric, folds, rows, limits, budget and what to leave out stay."""
        kept = self.settings
        return replace(
            settings,
            metric=self.lineup.metric,
            seconds=kept["seconds"],
            n_iterations=kept["n_iterations"],
            n_folds=kept["n_folds"],
            # None meant that all rows fitted: without a number, how many do would be decided anew.
            max_rows=kept["max_rows"] or sys.maxsize,
            limits=Limits(kept["limit_seconds"], kept["limit_megabytes"]),
            exclude_datasets=tuple(kept["left_out"]),
        )

    @property
    def used(self) -> float:
        """Return the seconds that had passed when its last evaluation finished."""
        return self.trials[-1].at if self.trials else 0.0


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """Return the complete ones of some trials, best first; the earlier of equals."""
    complete = [trial for trial in trials if trial.run.status == "ok" and np.isfinite(trial.score)]
    return sorted(complete, key=lambda trial: -trial.score)


@dataclass(frozen=True, eq=False)
class Rescued:
    """What was fitted to the first folds of an evaluation that was never complete: better than nothing at all.

    The `score` is that of the first fold, which tells such evaluations apart; it is no score of the whole.
    """

    algorithm: str
    config: Config
    folds: tuple[FoldDone, ...]
    score: float


@dataclass(frozen=True)
class TuneProgress:
    """How far a session has come, for the person who watches."""

    n_done: int
    seconds: float
    metric: str
    best: Trial | None
    last: Trial


@dataclass(frozen=True, eq=False)
class Found:
    """What a session found: its trials in the order in which they finished, and where its seconds went.

    `trouble` says why it ended early, if nothing more could be stored; `rescued` is what there is where none of the
    trials is complete.
    """

    session: str
    metric: str
    plan: FoldPlan
    trials: tuple[Trial, ...]
    ledger: Mapping[str, float] = field(default_factory=dict)
    experience: Experience | None = None
    trouble: str = ""
    rescued: Rescued | None = None

    @property
    def ranked(self) -> list[Trial]:
        """Return the complete trials, best first."""
        return ranked(self.trials)


class Spool:
    """Out-of-fold predictions of a session under way, in a folder that goes when the session ends.

    They are what an ensemble is made of. Without a folder nothing is kept.
    """

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._is_full = False

    def keep(self, run: str, predictions: npt.NDArray[Any] | None) -> None:
        """Keep the predictions of a run; one that cannot be written is no reason to end a session."""
        if self.folder is None or predictions is None or self._is_full:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            new = self.folder / f"{run}.new"
            with new.open("wb") as file:
                np.save(file, predictions, allow_pickle=False)
            new.replace(self.folder / f"{run}.npy")
        except OSError:
            self._is_full = True

    def keep_only(self, runs: Collection[str]) -> None:
        """Forget the predictions of all other runs."""
        if self.folder is None or not self.folder.is_dir():
            return
        for path in self.folder.glob("*.npy"):
            if path.stem not in runs:
                path.unlink(missing_ok=True)

    def get(self, run: str) -> npt.NDArray[Any] | None:
        """Return the predictions of a run, None if they were not kept."""
        if self.folder is None:
            return None
        try:
            found: npt.NDArray[Any] = np.load(self.folder / f"{run}.npy", allow_pickle=False)
        except (OSError, EOFError, ValueError):
            return None
        return found

    def clear(self) -> None:
        """Remove everything."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)


class FoldModels:
    """What was fitted to the folds of the trials of a session, on the disk; use it in a `with` block.

    Averaged, the models of a trial make a model at once. What cannot be written is not kept.
    """

    def __init__(self) -> None:
        self._scratch = Scratch()
        self._kept: set[str] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.close()

    def __contains__(self, run: str) -> bool:
        return run in self._kept

    def keep(self, run: str, models: Sequence[bytes]) -> None:
        """Keep the models of a run, if there are any."""
        if not models:
            return
        try:
            self._path(run).write_bytes(pickle.dumps(list(models), protocol=5))
        except OSError:
            self._path(run).unlink(missing_ok=True)
        else:
            self._kept.add(run)

    def keep_only(self, runs: Collection[str]) -> None:
        """Forget the models of all other runs."""
        for run in self._kept - set(runs):
            self._path(run).unlink(missing_ok=True)
            self._kept.discard(run)

    def get(self, run: str) -> tuple[Any, ...]:
        """Return the models of a run, one for each fold; none if they were not kept, or are there no more."""
        if run not in self._kept:
            return ()
        try:
            content = self._path(run).read_bytes()
        except OSError:
            return ()
        with importing:
            # Written by this process, into a folder that only its user can read.
            return tuple(pickle.loads(model) for model in pickle.loads(content))  # noqa: S301

    def _path(self, run: str) -> Path:
        return self._scratch.folder / run


def cut_short(kb: KnowledgeBase, dataset: str, spool: Spool) -> CutShort | None:
    """Return the newest session on a data set (fingerprint) that did not end, None if all did."""
    open_ones = kb.sql(
        "SELECT key, settings FROM session WHERE kind = 'tune' AND finished_at IS NULL ORDER BY started_at DESC"
    )
    for key, text in open_ones.itertuples(index=False):
        settings = json.loads(text)
        if settings.get("dataset") == dataset and "lineup" in settings and "n_folds" in settings:
            lineup = LineUp.from_json(_last_lineup(kb, str(key)) or settings["lineup"])
            trials = trials_of(kb, str(key), lineup.metric, spool)
            return CutShort(str(key), lineup, trials, settings)
    return None


def _last_lineup(kb: KnowledgeBase, session: str) -> Mapping[str, Any] | None:
    """Return the line-up from the moment on when experience joined a session, None if it never did."""
    log = kb.sql(
        "SELECT event.details FROM event JOIN session ON session.id = event.session_id "
        "WHERE session.key = :key AND event.kind = 'experience joined' ORDER BY event.number DESC",
        {"key": session},
    )
    return None if log.empty else json.loads(log["details"].iloc[0])["lineup"]


def trials_of(kb: KnowledgeBase, session: str, metric: str, spool: Spool) -> tuple[Trial, ...]:
    """Return the finished evaluations of a session in the order in which they finished."""
    log = kb.sql(
        "SELECT event.details FROM event JOIN session ON session.id = event.session_id "
        "WHERE session.key = :key AND event.kind = 'finished' ORDER BY event.number",
        {"key": session},
    )
    return tuple(_trial(kb, json.loads(text), metric, spool) for text in log["details"])


def _trial(kb: KnowledgeBase, told: Mapping[str, Any], metric: str, spool: Spool) -> Trial:
    run = find_run(kb, told["run"]).run
    scores = {name: tuple(np.atleast_1d(values).tolist()) for name, values in run.scores.items()}
    outcome = Outcome(
        status=run.status,  # type: ignore[arg-type]
        seconds=told["seconds"],
        scores=scores,
        folds=tuple(range(max(map(len, scores.values()), default=0))),
        fit_seconds=run.fit_seconds or 0.0,
        predict_seconds=run.predict_seconds or 0.0,
        peak_megabytes=run.peak_megabytes or 0.0,
        error=run.error,
        predictions=spool.get(told["run"]),
        expected_seconds=told.get("expected", 0.0),
    )
    score = told.get("score")
    return Trial(run, outcome, outcome.score(metric) if score is None else score, told["at"])
