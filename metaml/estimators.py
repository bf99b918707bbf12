"""metaml as scikit-learn estimators: `MetaMLClassifier` and `MetaMLRegressor`.

Rows are given as a frame (numbers, categories, words, dates and missing values as they are) or as an array. What
cannot be used raises a ValueError, as everywhere in scikit-learn.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pandas as pd
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin, is_regressor
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_consistent_length, check_random_state, column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, check_X_y, validate_data

from metaml.api import result_of, settings_of
from metaml.budget import Budget
from metaml.cluster.choice import Scheduler
from metaml.data import ColumnOptions, Dataset, Names, Ordinal, Repair, column_options, from_frame
from metaml.data.arrow import as_pandas
from metaml.data.columns import with_noun
from metaml.data.fingerprint import fingerprint
from metaml.data.given import name_of
from metaml.data.names import free_name
from metaml.errors import BadDataset, MetamlError
from metaml.evaluation.threads import threads_for
from metaml.metrics.custom import OwnFunction
from metaml.search.fidelity_search import DEFAULT_SEARCH
from metaml.search.judging import GivenCosts, judged_by
from metaml.splits import GivenFolds
from metaml.system.cores import cells_of, default_workers

Array = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]

MOST_SEEDS = 2**31 - 1
DECLARED = ("columns", "categorical", "numeric", "ordinal", "increasing", "decreasing")
"""The parameters that say what columns are."""


PARAMETERS = """Store what is asked for.

Parameters
----------
time_budget: seconds, or a text such as "10m", for all of `fit`; without it `iterations` decide, and without
    those either it is five minutes
iterations: the search ends after so many evaluations, if the time does not end it first
metric: what to optimise; "auto" is ROC AUC, log loss or RMSE. A function `metric(y_true, prediction)`, higher is
    better, or a scorer of scikit-learn
costs: what errors cost, as {("bad", "good"): 10} by true class and decision; another error costs 1
algorithms, exclude: names of algorithms to use, by default all, and to leave out
search: "default", or "hyperband", "bohb", "halving" or "look": try on few rows first, and promote the best
fidelity: of what there is less at first in such a search, "rows", "folds" or "trees"
single: one model instead of an ensemble
readable: search only models that a person can read, and take one of them
refit: fit the final model to all rows; smaller and quicker than the average of those of the folds
layers: of the ensemble, 1 or 2; None builds a second one if the time budget allows
calibration: whether class probabilities may be calibrated where that helps on rows it was not fitted on
repeats: how often what may join the ensemble is evaluated again on other folds; None is as often as the time
    budget allows, up to twice
sample: whether the model keeps some training rows, with which it explains predictions and checks new rows
workers: evaluations at a time, each in a process of its own; None is as many as the cores allow, but one with
    `iterations`
scheduler: address of a Dask scheduler, whose workers then evaluate, by default in all their slots
threads: of one evaluation; None is one, and up to four if X is large and there are cores enough
stop_at, patience: end early, at this score (of a loss, its positive value) or after so many evaluations without
    a better one
folds: of the cross-validation that scores an evaluation
cv: a splitter of scikit-learn, or pairs of training and test rows; each row may be tested once
time: column of X with dates or numbers; evaluations are scored on later rows than they were trained on
columns: the only columns of X that may be features; by default all
categorical, numeric: columns to read as categories, or as numbers, whatever they look like
ordinal: levels of columns in their order, lowest first, as {"size": ["S", "M", "L"]}
increasing, decreasing: columns with which the prediction may only rise, or only fall; of two classes, that of the
    second in `classes_`
kb: file or URL of the knowledge base to learn from and to add to; None is METAML_KB, else the user's own, as
    for the command line; ":memory:" neither uses nor adds experience
output: folder for the model, the report and the tables; None writes nothing
name: what the data is called in the report and the knowledge base; None is the name of the variable that holds
    it, if that says anything
random_state: the same number and `iterations` give the same runs; None is different every time
verbose: 1 shows progress, as a line that changes in a notebook and else on standard error
"""


class _Tuned(BaseEstimator):  # type: ignore[misc]
    """What classifier and regressor share: `fit` tunes, the model that was found predicts."""

    def __init__(
        self,
        *,
        time_budget: str | float | None = None,
        iterations: int | None = None,
        metric: str | OwnFunction = "auto",
        costs: GivenCosts | None = None,
        algorithms: str | Iterable[str] | None = None,
        exclude: str | Iterable[str] = (),
        search: str = DEFAULT_SEARCH,
        fidelity: str = "rows",
        single: bool = False,
        readable: bool = False,
        refit: bool = False,
        layers: int | None = None,
        calibration: bool = True,
        sample: bool = True,
        repeats: int | None = None,
        workers: int | None = None,
        scheduler: Scheduler = None,
        threads: int | None = None,
        stop_at: float | None = None,
        patience: int | None = None,
        folds: int = 5,
        cv: Any = None,
        time: str | None = None,
        columns: Names = (),
        categorical: Names = (),
        numeric: Names = (),
        ordinal: Ordinal = (),
        increasing: Names = (),
        decreasing: Names = (),
        kb: str | Path | None = None,
        output: str | Path | None = None,
        name: str | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
    ) -> None:
        self.time_budget = time_budget
        self.iterations = iterations
        self.metric = metric
        self.costs = costs
        self.algorithms = algorithms
        self.exclude = exclude
        self.search = search
        self.fidelity = fidelity
        self.single = single
        self.readable = readable
        self.refit = refit
        self.layers = layers
        self.calibration = calibration
        self.sample = sample
        self.repeats = repeats
        self.workers = workers
        self.scheduler = scheduler
        self.threads = threads
        self.stop_at = stop_at
        self.patience = patience
        self.folds = folds
        self.cv = cv
        self.time = time
        self.columns = columns
        self.categorical = categorical
        self.numeric = numeric
        self.ordinal = ordinal
        self.increasing = increasing
        self.decreasing = decreasing
        self.kb = kb
        self.output = output
        self.name = name
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        return tags

    def fit(self, X: Any, y: Any, groups: Any = None, sample_weight: Any = None) -> Self:
        """Find the best model that the budget allows for the rows `X` and their targets `y`; return the estimator.

        `X` is a frame or a two-dimensional array, `y` has one label or number per row. Rows with the same value in
        `groups` are never both trained on and tested in the search. `sample_weight` says how much each row counts, in
        learning and in every score: a whole number is how often it is there, and 0 leaves it out. An interrupt ends the
        search with the best model so far and a `UserWarning`. Raises ValueError if they cannot be used or a parameter
        makes no sense.
        """
        # A fit that fails must not leave an older model beside what it learnt of the new rows.
        self.__dict__.pop("model_", None)
        with _value_errors():
            threads = threads_for(self.threads, self.iterations, cells_of(X))
            settings = settings_of(
                **judged_by(self.metric, self.costs),
                time_budget=self.time_budget,
                iterations=self.iterations,
                algorithms=self.algorithms,
                exclude=self.exclude,
                search=self.search,
                fidelity=self.fidelity,
                n_folds=self.cv if isinstance(self.cv, int) else self.folds,
                splitter=None if self.cv is None or isinstance(self.cv, int) else GivenFolds(self.cv),
                n_workers=default_workers(self.iterations, threads) if self.workers is None else self.workers,
                stop_at=self.stop_at,
                patience=self.patience,
                seed=_seed_of(self.random_state),
                readable=self.readable,
                refits=self.refit,
                n_layers=self.layers,
                calibrates=self.calibration,
                keeps_sample=self.sample,
                n_repeats=self.repeats,
            )
            budget = Budget(settings.seconds)
            target = str(y.name).strip() if isinstance(y, pd.Series) and y.name else "target"
            name = self.name or name_of(X)
            frame, y = self._rows_and_target(X, y)
            taken = {str(column).strip() for column in frame.columns}
            target = free_name(target, taken)
            frame, options = self._with_roles(frame, {"group": groups, "weight": sample_weight}, {*taken, target})
            dataset = replace(self._dataset_of(frame, y, target, options), name=name)
            result = result_of(
                dataset,
                settings,
                budget=budget,
                kb=self.kb,
                output=self.output,
                single=self.single or self.readable,
                verbose=self.verbose,
                scheduler=self.scheduler,
                workers=self.workers,
                threads=threads,
            )
        if result.kind == "fallback":
            told = f"Only a fallback could be fitted: {result.why}."
            warnings.warn(told, ConvergenceWarning, stacklevel=2)
        self.model_ = result.model
        self.leaderboard_ = result.leaderboard
        self.best_algorithm_, self.best_config_ = result.best_algorithm, result.best_config
        self.best_score_, self.metric_ = result.score, result.metric
        self.report_ = result.report
        self.repairs_ = [str(repair) for repair in dataset.repairs]
        return self

    def _dataset_of(self, frame: pd.DataFrame, y: Array, target: str, options: ColumnOptions) -> Dataset:
        """Return rows and target as a data set."""
        raise NotImplementedError

    def _with_roles(
        self, frame: pd.DataFrame, given: Mapping[str, Any], taken: set[str]
    ) -> tuple[pd.DataFrame, ColumnOptions]:
        """Return rows with a column for each array given beside them, and the options that name these columns."""
        named: dict[str, Any] = {}
        for role, values in given.items():
            if values is not None:
                told = np.asarray(values)
                array = np.full(len(frame), told) if told.ndim == 0 else column_or_1d(told)
                check_consistent_length(frame, array)
                named[role] = free_name(role, taken)
                frame = frame.assign(**{named[role]: array})
        said = {name: getattr(self, name) for name in DECLARED}
        return frame, column_options(time=self.time, **said, **named)

    def _rows_and_target(self, X: Any, y: Any) -> tuple[pd.DataFrame, Array]:
        """Return training rows and target, checked by the rules of scikit-learn."""
        frame = self._rows(X, reset=True)
        # The rows are as they should be: numbers in their place leave the target and its length to be checked.
        stand_in = np.zeros((len(frame), 1))
        _, y = check_X_y(stand_in, y, y_numeric=is_regressor(self), ensure_min_samples=2, estimator=self)
        return frame, y

    def _rows(self, X: Any, *, reset: bool = False) -> pd.DataFrame:
        """Return rows with the columns' names, or x0, x1 … where they have none."""
        X = as_pandas(X)
        if isinstance(X, pd.DataFrame):
            frame = validate_data(self, X, reset=reset, skip_check_array=True)
        else:
            array = validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False)
            frame = pd.DataFrame(array).infer_objects()
        names = getattr(self, "feature_names_in_", [f"x{place}" for place in range(self.n_features_in_)])
        named: pd.DataFrame = frame.set_axis(names, axis=1).reset_index(drop=True)
        return named

    def _answer(self, X: Any) -> tuple[Array, Floats]:
        """Return predictions and, empty for regression, probabilities for rows like those of `fit`."""
        check_is_fitted(self, "model_")
        with _value_errors():
            answer = self.model_.answer(self._rows(X))
        return answer.predictions, np.zeros((0, 0)) if answer.probabilities is None else answer.probabilities


_Tuned.__init__.__doc__ = PARAMETERS


class MetaMLClassifier(ClassifierMixin, _Tuned):  # type: ignore[misc]
    """The best classifier that a budget allows, found with the help of all earlier runs.

    `fit` learns `classes_`; the `model_`, whose `save` writes a file for `metaml predict`; its cross-validated
    `best_score_`, the higher the better, by `metric_`; the `leaderboard_`, a frame with a row for each evaluation;
    `best_algorithm_` and `best_config_` of the best single one; `report_`, the path of the report if there is an
    `output`; and `repairs_`, what was done to the columns. A class with one row is never predicted, as it cannot be
    cross-validated.

    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> classifier = MetaMLClassifier(iterations=1, algorithms="decision_tree", folds=2, kb=":memory:", random_state=0)
    >>> classifier.fit(X, y).predict(X[:2]).tolist()
    [0, 0]
    >>> classifier.predict_proba(X).shape, classifier.best_algorithm_
    ((150, 3), 'decision_tree')
    """

    def predict(self, X: Any) -> Array:
        """Return the class of each row of `X`. Raises ValueError if the rows cannot be used."""
        return self._answer(X)[0].astype(self.classes_.dtype)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probability (0 to 1) of each class, in the order of `classes_`, for each row of `X`.

        Raises ValueError if the rows cannot be used.
        """
        _, learnt = self._answer(X)
        probabilities = np.zeros((len(learnt), len(self.classes_)))
        probabilities[:, self._learnt] = learnt
        return probabilities

    def _dataset_of(self, frame: pd.DataFrame, y: Array, target: str, options: ColumnOptions) -> Dataset:
        check_classification_targets(y)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise BadDataset(f"There is only one class ({self.classes_[0]!r}), so there is nothing to learn.")
        task = "binary" if len(self.classes_) == 2 else "multiclass"
        # Codes, as a label that is a word for "missing", or has spaces around it, would be read as another.
        dataset = from_frame(frame.assign(**{target: codes}), target, task, options=options)
        self._learnt = np.asarray(dataset.labels)
        labels = self.classes_[self._learnt]
        labels = labels.astype(object) if labels.dtype.kind == "U" else labels
        # JSON knows no moments and no durations; as numbers of their unit they come back the same.
        plain = labels.astype(np.int64) if labels.dtype.kind in "mM" else labels
        repairs = [repair for repair in dataset.repairs if repair.column != dataset.target]
        lonely = np.delete(self.classes_, self._learnt).tolist()
        if lonely:
            why = f"a class with one member cannot be cross-validated: {', '.join(map(repr, lonely[:3]))}"
            repairs.append(Repair(dataset.target, f"{with_noun(len(lonely), 'row')} dropped", why))
            warnings.warn(f"{repairs[-1]}. It is never predicted.", UserWarning, stacklevel=3)
        return replace(
            dataset,
            labels=labels,
            schema=replace(dataset.schema, labels=tuple(plain.tolist()), label_dtype=str(labels.dtype)),
            repairs=tuple(repairs),
            fingerprint=fingerprint(dataset.X, dataset.y, labels, dataset.target, dataset.roles),
        )


class MetaMLRegressor(RegressorMixin, _Tuned):  # type: ignore[misc]
    """The best regressor that a budget allows, found with the help of all earlier runs.

    What `fit` learns is named as in `MetaMLClassifier`.

    >>> from sklearn.datasets import load_diabetes
    >>> X, y = load_diabetes(return_X_y=True)
    >>> regressor = MetaMLRegressor(iterations=1, algorithms="decision_tree", metric="mae", kb=":memory:")
    >>> regressor.fit(X, y).predict(X[:3]).shape
    (3,)
    """

    def predict(self, X: Any) -> Floats:
        """Return the value of each row of `X`. Raises ValueError if the rows cannot be used."""
        return self._answer(X)[0]

    def _dataset_of(self, frame: pd.DataFrame, y: Array, target: str, options: ColumnOptions) -> Dataset:
        # Truth values are the numbers 0 and 1 to every regressor; in a table they would be words.
        values = y.astype(np.float64) if y.dtype == bool else y
        return from_frame(frame.assign(**{target: values}), target, "regression", options=options)


def _seed_of(random_state: int | np.random.RandomState | None) -> int:
    """Return the number that all choices follow from; NumPy's global generator is neither asked nor changed."""
    if random_state is None:
        return int(np.random.default_rng().integers(MOST_SEEDS))
    if isinstance(random_state, int | np.integer):
        return int(random_state)
    return int(check_random_state(random_state).randint(MOST_SEEDS))


@contextmanager
def _value_errors() -> Iterator[None]:
    """Say what is wrong as scikit-learn and its users expect it."""
    try:
        yield
    except MetamlError as error:
        raise ValueError(str(error)) from error
