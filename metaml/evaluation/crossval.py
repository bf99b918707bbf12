"""Cross-validation of one configuration, in this process."""

from __future__ import annotations

import contextlib
import pickle
import re
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from metaml.errors import BadRequest
from metaml.evaluation.best_columns import columns_for
from metaml.evaluation.job import FoldDone, Job, Outcome, Status
from metaml.evaluation.memory import MemoryMeter
from metaml.evaluation.scoring import all_scores
from metaml.splits.fold_plan import Rows

if TYPE_CHECKING:
    from metaml.algorithms import Algorithm
    from metaml.data import Dataset

Array = npt.NDArray[Any]
LONGEST_ERROR = 300
N_TIMED_CALLS = 3
MOST_MODEL_BYTES = 24_000_000
"""What the models of all folds may take together; of larger ones that of the first fold is kept."""
MOST_ONE_BYTES = 240_000_000
"""What one model may take if it is the only one, of a held-out part or of the first fold: there may be no time to fit
another one."""
_PATH = re.compile(r"(?:[A-Za-z]:)?(?:[/\\][\w.+@ -]+)+[/\\](?=[\w.+@-])")


class _Overrun(Exception):
    """A limit was reached between two folds."""

    def __init__(self, status: Status, error: str) -> None:
        super().__init__(error)
        self.status = status


class _Tested(NamedTuple):
    prediction: Array
    fit_seconds: float
    predict_seconds: float
    estimator: Any
    knows_all_classes: bool


def evaluate(
    job: Job,
    dataset: Dataset,
    algorithm: Algorithm,
    *,
    n_threads: int = 1,
    on_overtime: Callable[[], None] = lambda: None,
    on_fold: Callable[[FoldDone], None] = lambda _: None,
) -> Outcome:
    """Return the outcome of a job on its data set.

    Any exception of the learner becomes part of the outcome. Limits are checked after each fold; only an
    `IsolatedEvaluator` can stop a learner in the middle of a fold. `on_overtime` is called when the job gets overtime,
    `on_fold` after each fold if the job asks for it with `tells_folds`.
    """
    _check(job, dataset)
    if job.refit:
        return _refit(job, dataset, algorithm, n_threads)
    meter, start = MemoryMeter(), time.perf_counter()
    scores: list[dict[str, float]] = []
    predictions = _Predictions(job, dataset)
    fit_seconds = predict_seconds = 0.0
    models = _Models(len(job.asked_folds) if job.keep_models else 0)
    clock, footprint, stopped_early = _Clock(job, start, on_overtime), _Footprint(), False
    status: Status = "ok" if len(job.asked_folds) == job.plan.n_folds else "partial"
    error = None
    try:
        # What a learner warns about is in its scores; a filter that makes errors of warnings must not fail it.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            for fold in job.asked_folds:
                train, test = job.plan.split(fold)
                tested = _fit_and_predict(job, fold, dataset, algorithm, train, predictions.asked(test), n_threads)
                fit_seconds += tested.fit_seconds
                predict_seconds += tested.predict_seconds
                stopped_early |= _stopped_early(tested.estimator)
                own = predictions.keep(test, tested.prediction)
                scores.append(_scores(dataset, test, own))
                kept = models.keep(tested)
                footprint = _footprint(tested, dataset, algorithm, test, kept)
                if job.tells_folds and kept:
                    on_fold(FoldDone(kept, scores[-1]))
                _check_memory(job, meter.peak())
                if job.race is not None and job.race.is_lost([fold[job.race.metric] for fold in scores]):
                    break
                clock.check(scores)
    except _Overrun as overrun:
        status, error = overrun.status, str(overrun)
    except (Exception, SystemExit) as raised:
        status, error = ("memory" if _is_memory(raised) else "failed"), one_line(raised)
    went_well = error is None
    done = job.asked_folds[: len(scores)]
    status = "partial" if went_well and len(done) < len(job.asked_folds) else status
    return Outcome(
        status=status,
        seconds=time.perf_counter() - start,
        scores={name: tuple(fold[name] for fold in scores) for name in scores[0]} if went_well else {},
        folds=done if went_well else (),
        fit_seconds=fit_seconds,
        predict_seconds=predict_seconds,
        peak_megabytes=meter.peak(),
        error=error,
        predictions=predictions.kept if went_well and job.keep_predictions else None,
        models=models.kept if went_well and status == "ok" else (),
        one_model=models.one if went_well and status == "ok" else b"",
        expected_seconds=clock.expected_after(len(scores)) if status in ("partial", "timeout") else 0.0,
        stopped_early=stopped_early,
        **(footprint if went_well else _Footprint())._asdict(),
    ).as_far_as_used(job)


def _scores(dataset: Dataset, test: Rows, prediction: Array) -> dict[str, float]:
    return all_scores(dataset.task, dataset.y[test], prediction, y=dataset.y, weight=dataset.weights_of(test))


class _Footprint(NamedTuple):
    """The size of a model, the seconds that it takes for one row, and the raw columns it reads; None if not known."""

    model_bytes: int | None = None
    row_seconds: float | None = None
    n_columns_read: int | None = None


def _footprint(tested: _Tested, dataset: Dataset, algorithm: Algorithm, test: Rows, kept: bytes) -> _Footprint:
    """Return what the model of a fold takes; the quickest of a few calls counts, as the machine may be busy."""
    row = dataset.X.iloc[test[:1]].reset_index(drop=True)
    predict = getattr(tested.estimator, "predict_proba", tested.estimator.predict)
    seconds = []
    for _ in range(N_TIMED_CALLS):
        begun = time.perf_counter()
        predict(row)
        seconds.append(time.perf_counter() - begun)
    size = len(kept) if kept else None
    if size is None:
        # Whatever an estimator has against being pickled, it is no reason to fail.
        with contextlib.suppress(Exception):
            size = len(pickle.dumps(tested.estimator, protocol=5))
    read = algorithm.columns_read(tested.estimator)
    return _Footprint(size, min(seconds), len(dataset.schema.sources_of(read)))


class _Clock:
    """The time of an evaluation: what it took, and whether what it still needs is there."""

    def __init__(self, job: Job, start: float, on_overtime: Callable[[], None]) -> None:
        self._job, self._start, self._on_overtime = job, start, on_overtime
        self._has_overtime = False

    def expected_after(self, n_done: int) -> float:
        """Return what all folds of the plan should take, by those that are done."""
        used = time.perf_counter() - self._start
        return used * self._job.plan.n_folds / max(n_done, 1)

    def check(self, scores: Sequence[Mapping[str, float]]) -> None:
        """Raise if the time is up, or if that of the folds that are left cannot be expected to be there."""
        job, n_left = self._job, len(self._job.asked_folds) - len(scores)
        used = time.perf_counter() - self._start
        expected = used + used * n_left / len(scores)
        if used > job.limits.seconds and not self._has_overtime:
            raise _Overrun("timeout", too_slow(job.limits.seconds))
        if job.overtime is None or n_left == 0 or expected <= job.limits.seconds:
            return
        if not job.overtime.is_for([fold[job.overtime.metric] for fold in scores], expected):
            raise _Overrun("timeout", f"would take {expected:.3g} s, longer than {job.limits.seconds:.3g} s")
        if not self._has_overtime:
            self._has_overtime = True
            self._on_overtime()


class _Predictions:
    """What was predicted for each row: out of fold, and for unused rows, if asked for, by the mean of all folds."""

    def __init__(self, job: Job, dataset: Dataset) -> None:
        self.kept = _empty_predictions(dataset)
        self._unused = job.plan.unused if job.predicts_unused else np.empty(0, dtype=np.intp)
        self._n_folds = len(job.asked_folds)
        self.kept[self._unused] = 0.0

    def asked(self, test: Rows) -> Rows:
        """Return the rows to predict in a fold that tests these."""
        return np.concatenate([test, self._unused])

    def keep(self, test: Rows, prediction: Array) -> Array:
        """Keep the prediction of the rows asked for; return that of the tested ones."""
        own = prediction[: len(test)]
        self.kept[test] = own
        self.kept[self._unused] += prediction[len(test) :] / self._n_folds
        return own


class _Models:
    """The models of the folds so far, as bytes: all of them or, if these are too large, one."""

    def __init__(self, n_folds: int) -> None:
        self.kept: tuple[bytes, ...] = ()
        self.one = b""
        self._most_bytes = MOST_MODEL_BYTES // n_folds if n_folds else 0
        if n_folds == 1:
            self._most_bytes = MOST_ONE_BYTES

    def keep(self, tested: _Tested) -> bytes:
        """Keep the model of a fold and return it; one that is too large, or has not seen a class, ends the keeping."""
        if not self._most_bytes:
            return b""
        content = b""
        if tested.knows_all_classes:
            # Whatever an estimator has against being kept, it is no reason to fail.
            with contextlib.suppress(Exception):
                content = pickle.dumps(tested.estimator, protocol=5)
        if content and len(content) <= self._most_bytes:
            self.kept = (*self.kept, content)
            return content
        first = self.kept[0] if self.kept else content
        self.one = first if len(first) <= MOST_ONE_BYTES else b""
        is_first, self.kept, self._most_bytes = not self.kept, (), 0
        return self.one if is_first else b""


def _refit(job: Job, dataset: Dataset, algorithm: Algorithm, n_threads: int) -> Outcome:
    """Return the algorithm fitted to all rows, with the seed that follows those of the folds.

    If the job names a fold, it is fitted to the rows that train it, with its seed.
    """
    X, y, weight, number = columns_for(job.config, dataset), dataset.y, dataset.row_weights, job.plan.n_folds
    if job.folds:
        number = job.folds[0]
        train, _ = job.plan.split(number)
        X, y, weight = X.iloc[train].reset_index(drop=True), y[train], dataset.weights_of(train)
    meter, start = MemoryMeter(), time.perf_counter()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            estimator = _unfitted(job, number, dataset, algorithm, n_threads)
            fit(estimator, X, y, weight)
    except (Exception, SystemExit) as raised:
        status: Status = "memory" if _is_memory(raised) else "failed"
        return Outcome(status, time.perf_counter() - start, peak_megabytes=meter.peak(), error=one_line(raised))
    seconds = time.perf_counter() - start
    return Outcome(
        "ok",
        seconds,
        fit_seconds=seconds,
        peak_megabytes=meter.peak(),
        estimator=estimator,
        stopped_early=_stopped_early(estimator),
    )


def _unfitted(job: Job, number: int, dataset: Dataset, algorithm: Algorithm, n_threads: int) -> Any:
    """Return the estimator of one fold, to be fitted."""
    return algorithm.unfitted(
        job.config,
        dataset,
        seed=fold_seed(job.seed, number),
        n_threads=n_threads,
        seconds=job.fit_seconds,
    )


def fit(estimator: Any, X: Any, y: Array, weight: Array | None) -> Any:
    """Return a fitted estimator; `weight` is that of each row, None if all count the same."""
    return estimator.fit(X, y) if weight is None else estimator.fit(X, y, sample_weight=weight)


def _stopped_early(estimator: Any) -> bool:
    """Return whether a fit ran out of its time, as far as the estimator knows."""
    return bool(getattr(estimator, "stopped_early_", False))


def fold_seed(seed: int, fold: int) -> int:
    """Return the seed of the estimator of one fold: always the same, unlike that of its neighbours.

    >>> fold_seed(0, 0) != fold_seed(0, 1) != fold_seed(1, 0)
    True
    """
    return int(np.random.SeedSequence([seed, fold]).generate_state(1)[0] & 0x7FFFFFFF)


def one_line(raised: BaseException) -> str:
    """Return an exception as one line, without the folders of this machine.

    >>> one_line(ValueError("cannot read /home/me/data/x.csv: empty\\nsecond line"))
    'ValueError: cannot read x.csv: empty'
    """
    lines = str(raised).strip().splitlines()
    text = f"{type(raised).__name__}: {_PATH.sub('', lines[0])}" if lines else type(raised).__name__
    return text if len(text) <= LONGEST_ERROR else text[: LONGEST_ERROR - 1] + "…"


def _check(job: Job, dataset: Dataset) -> None:
    if job.dataset != dataset.fingerprint:
        raise BadRequest(f"The job is about data set {job.dataset}, not {dataset.fingerprint}. Pass the right one.")
    if len(job.plan.assignment) != len(dataset.y):
        planned, found = len(job.plan.assignment), len(dataset.y)
        raise BadRequest(f"The fold plan is for {planned} rows, {dataset.name} has {found}. Make a new plan.")
    if not job.asked_folds or not set(job.asked_folds) <= set(range(job.plan.n_folds)):
        raise BadRequest(f"Folds {job.asked_folds} are not among the {job.plan.n_folds} of the plan, numbered from 0.")


def _fit_and_predict(
    job: Job, fold: int, dataset: Dataset, algorithm: Algorithm, train: Rows, test: Rows, n_threads: int
) -> _Tested:
    X_train = columns_for(job.config, dataset).iloc[train].reset_index(drop=True)
    X_test = dataset.X.iloc[test].reset_index(drop=True)
    y_train = dataset.y[train]
    present = None
    if dataset.labels is not None:
        # Learners expect codes without gaps, and a fold may lack a class.
        present, y_train = np.unique(y_train, return_inverse=True)
    start = time.perf_counter()
    estimator = _unfitted(job, fold, dataset, algorithm, n_threads)
    fit(estimator, X_train, y_train, dataset.weights_of(train))
    fitted = time.perf_counter()
    if present is None or dataset.labels is None:
        prediction = np.asarray(estimator.predict(X_test), dtype=np.float64).reshape(len(test))
    else:
        prediction = np.zeros((len(test), len(dataset.labels)))
        prediction[:, present] = _probabilities(estimator, X_test, len(present))
    predict_seconds = time.perf_counter() - fitted
    if not np.isfinite(prediction).all():
        raise ValueError(f"fold {fold} has predictions that are not finite")
    knows_all_classes = present is None or dataset.labels is None or len(present) == len(dataset.labels)
    return _Tested(prediction, fitted - start, predict_seconds, estimator, knows_all_classes)


def _probabilities(estimator: Any, X: Any, n_classes: int) -> Array:
    """Return class probabilities; the predicted class has all of it where an estimator knows no better."""
    if hasattr(estimator, "predict_proba"):
        return np.asarray(estimator.predict_proba(X), dtype=np.float64).reshape(len(X), n_classes)
    return np.eye(n_classes)[np.asarray(estimator.predict(X), dtype=np.int64)]


def _empty_predictions(dataset: Dataset) -> Array:
    if dataset.labels is None:
        return np.full(len(dataset.y), np.nan)
    return np.full((len(dataset.y), len(dataset.labels)), np.nan, dtype=np.float32)


def _check_memory(job: Job, megabytes: float) -> None:
    if job.limits.megabytes is not None and megabytes > job.limits.megabytes:
        raise _Overrun("memory", too_large(job, megabytes))


def too_slow(seconds: float) -> str:
    """Return what a timeout says."""
    return f"not done within {seconds:.3g} s"


def too_large(job: Job, megabytes: float) -> str:
    """Return what an overrun of memory says."""
    return f"grew by {megabytes:.0f} MB, the limit is {job.limits.megabytes:g} MB"


def _is_memory(raised: BaseException) -> bool:
    """Return whether memory ran out, also where a C++ library says so in words."""
    return isinstance(raised, MemoryError) or "bad_alloc" in str(raised)
