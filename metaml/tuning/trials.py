"""Finished evaluations of a session, and what of them is on the disk until it ends: predictions and fold models."""

import pickle
import shutil
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt

from metaml.evaluation import FoldDone, FoldPlan, Outcome
from metaml.report import ExperienceFacts
from metaml.search.bandit_search import NextTrial
from metaml.search.settings import TuneSettings
from metaml.spaces.config import Config
from metaml.system.scratch import Scratch
from metaml.system.threads import importing
from metaml.tuning.stopping.forecast import Forecast, forecast
from metaml_kb import Run


@dataclass(frozen=True, eq=False)
class Trial:
    """A finished evaluation of a session, and when it finished (seconds of the budget).

    `scores` has the value by which trials are ranked and, where a front is searched, one for each of its objectives.
    `curve` has those of a front at other thresholds between two classes. The event log keeps them. `layer` is that of
    the ensemble it was made for; every run of the knowledge base is of layer 1. If it `is_repeated`, predictions and
    score are those of further evaluations on other folds. `share` is how much of an evaluation it was: below 1 it is a
    look at a low fidelity, whose status is `partial`. `asked` is what was looked at, if it was evaluated with fewer
    trees.
    """

    run: Run
    outcome: Outcome
    scores: tuple[float, ...]
    at: float
    layer: int = 1
    is_repeated: bool = False
    curve: tuple[tuple[float, ...], ...] = ()
    share: float = 1.0
    asked: Config | None = None

    @property
    def config(self) -> Config:
        """Return the configuration that the search asked for."""
        return dict(self.run.config) if self.asked is None else self.asked

    @property
    def score(self) -> float:
        """Return the value of the first objective, by which trials are ranked."""
        return self.scores[0]

    def outcome_by(self, metric: str, objectives: Sequence[str] = ()) -> Outcome:
        """Return the outcome as a search by this metric learns it: with the score that the trial is judged by.

        A search for the front of some `objectives` learns their values at each threshold instead. The seconds are those
        that this machine would have taken.
        """
        outcome = self.outcome.as_if_here()
        if objectives and np.isfinite(self.score):
            points = (self.scores[1:], *self.curve)
            return replace(outcome, scores=dict(zip(objectives, zip(*points, strict=True), strict=False)))
        return replace(outcome, scores={metric: (self.score,)}) if np.isfinite(self.score) else outcome

    def as_event(self) -> dict[str, object]:
        """Return what the event log keeps of the trial, so that a resumed session can judge it the same."""
        event: dict[str, object] = {"run": self.run.identity, "seconds": self.outcome.seconds, "at": self.at}
        if self.outcome.expected_seconds:
            event["expected"] = self.outcome.expected_seconds
        if self.outcome.scale != 1.0:
            event["scale"] = self.outcome.scale
        if self.share < 1.0:
            event["share"] = self.share
            event |= {} if self.asked is None else {"asked": self.asked}
        if np.isfinite(self.score):
            # It cannot be computed again without predictions, and a run that was known before keeps its own scores.
            event["score"] = self.score
            known = [value if np.isfinite(value) else None for value in self.scores]
            event |= {"scores": known} if len(self.scores) > 1 else {}
            event |= {"curve": [list(point) for point in self.curve]} if self.curve else {}
        return event


def finished_trial(
    run: Run,
    outcome: Outcome,
    scores: tuple[float, ...],
    at: float,
    choice: NextTrial,
    curve: tuple[tuple[float, ...], ...] = (),
) -> Trial:
    """Return the trial of a choice that was evaluated; of a look at a low fidelity, nothing can join an ensemble."""
    outcome, asked = replace(outcome, models=(), one_model=b""), choice.proposal.config
    if choice.share < 1.0:
        outcome = replace(outcome, predictions=None, status="partial" if outcome.status == "ok" else outcome.status)
    asked_for = None if asked == run.config else asked
    return Trial(run, outcome, scores, at, curve=curve, share=choice.share, asked=asked_for)


def ranked(trials: Sequence[Trial]) -> list[Trial]:
    """Return the complete ones of some trials, best first; the earlier of equals.

    A trial with all folds is complete, even if its learner stopped early; the knowledge base calls such a run partial.
    """
    complete = [trial for trial in trials if trial.outcome.status == "ok" and np.isfinite(trial.score)]
    return sorted(complete, key=lambda trial: -trial.score)


@dataclass(frozen=True, eq=False)
class PartialModel:
    """What was fitted to the first folds of an evaluation that was never complete: better than nothing at all.

    The `score` is that of the first fold, which tells such evaluations apart; it is no score of the whole.
    """

    algorithm: str
    config: Config
    folds: tuple[FoldDone, ...]
    score: float


Phase = Literal["describing", "first fits", "search", "repeats", "second layer", "refit", "report"]
"""What a call of `tune` is doing, in this order; repeats and a second layer are left out where there are none."""
OnPhase = Callable[[Phase], None]


@dataclass(frozen=True)
class TuneProgress:
    """How far a session has come, for the person who watches; a resumed one keeps the settings it began with.

    `forecast` is what the time that is left should gain; None while too little is known.
    """

    n_done: int
    seconds: float
    metric: str
    best: Trial | None
    last: Trial
    settings: TuneSettings
    forecast: Forecast | None = None


@dataclass(frozen=True, eq=False)
class Found:
    """What a session found: its trials in the order in which they finished, and where its seconds went.

    `error` says what went wrong with the knowledge base, if anything; `partial_model` is what there is if no trial is
    complete. `repeated` are the candidates for the ensemble as evaluated again on other folds, those of `repeat_plan`
    first. `ended` says why the search ended before its budget, if it was asked to.
    """

    session: str
    metric: str
    plan: FoldPlan
    trials: tuple[Trial, ...]
    ledger: Mapping[str, float] = field(default_factory=dict)
    experience: ExperienceFacts | None = None
    error: str = ""
    partial_model: PartialModel | None = None
    repeated: tuple[Trial, ...] = ()
    repeat_plan: FoldPlan | None = None
    ended: str = ""

    @property
    def forecast(self) -> Forecast | None:
        """Return what as many evaluations again should gain; None if they were too few to say so."""
        return expected_gain(self.trials, self.metric, len(self.trials))

    @property
    def offered(self) -> list[Trial]:
        """Return what an ensemble may choose from, best first: the repeated trials if there are any."""
        return ranked(self.repeated) or [trial for trial in self.ranked if trial.outcome.predictions is not None]

    @property
    def judging_plan(self) -> FoldPlan:
        """Return the folds by which an ensemble is judged: those that chose no trial, if there are any."""
        return self.plan if self.repeat_plan is None else self.repeat_plan

    @property
    def ranked(self) -> list[Trial]:
        """Return the complete trials, best first."""
        return ranked(self.trials)


def expected_gain(trials: Sequence[Trial], metric: str, n_more: int) -> Forecast | None:
    """Return the expected gain of this many further evaluations over the best trial; None while trials are too few."""
    complete = ranked(trials)
    if not complete:
        return None
    own = {id(trial) for trial in complete}
    scores = [trial.score for trial in trials if id(trial) in own]
    return forecast(scores, complete[0].outcome.scores.get(metric, ()), n_more)


class PredictionFiles:
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
        """Remove everything, and the folder around it if there is no other search's in it."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            with suppress(OSError):
                self.folder.parent.rmdir()


class FoldModels:
    """What was fitted to the folds of the trials of a session, on the disk; use it in a `with` block.

    Averaged, the models of a trial make a model at once. If they are too large together, that of one fold is kept for
    the case that nothing else can be fitted. What cannot be written is not kept.
    """

    def __init__(self) -> None:
        self._scratch = Scratch()
        self._kept: set[str] = set()
        self._alone: set[str] = set()

    def __enter__(self) -> Self:
        self._scratch.open()
        return self

    def __exit__(self, *_: object) -> None:
        self._scratch.close()

    def __contains__(self, run: object) -> bool:
        return run in self._kept

    def keep(self, run: str, models: Sequence[bytes], one: bytes = b"") -> None:
        """Keep the models of a run, if there are any, or that of `one` fold."""
        if not models and not one:
            return
        try:
            self._path(run).write_bytes(pickle.dumps(list(models) or [one], protocol=5))
        except OSError:
            self._path(run).unlink(missing_ok=True)
        else:
            (self._kept if models else self._alone).add(run)

    def add(self, run: str, models: Sequence[bytes]) -> None:
        """Keep further models of a run, those of other folds, behind the ones that it has; without these, none."""
        if not models or run not in self._kept:
            return
        with suppress(OSError):
            new = self._path(f"{run}.new")
            new.write_bytes(pickle.dumps([*self._read(run), *models], protocol=5))
            new.replace(self._path(run))

    def keep_only(self, runs: Collection[str]) -> None:
        """Forget the models of all other runs."""
        for run in (self._kept | self._alone) - set(runs):
            self._path(run).unlink(missing_ok=True)
            self._kept.discard(run)
            self._alone.discard(run)

    def get(self, run: str) -> tuple[Any, ...]:
        """Return the models of a run, one for each fold; none if they were not kept, or are there no more."""
        return self._loaded(run) if run in self._kept else ()

    def get_one(self, run: str) -> tuple[Any, ...]:
        """Return the model of one fold of a run whose models are too large together; none if there is none."""
        return self._loaded(run) if run in self._alone else ()

    def _loaded(self, run: str) -> tuple[Any, ...]:
        try:
            content = self._read(run)
        except OSError:
            return ()
        with importing:
            return tuple(pickle.loads(model) for model in content)  # noqa: S301 - as in `_read`

    def _read(self, run: str) -> list[bytes]:
        # Written by this process, into a folder that only its user can read.
        content: list[bytes] = pickle.loads(self._path(run).read_bytes())  # noqa: S301
        return content

    def _path(self, run: str) -> Path:
        return self._scratch.folder / run
