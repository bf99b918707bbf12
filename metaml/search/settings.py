"""What a tuning session is asked to do, and what follows from that for a data set."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any, Literal

from metaml.algorithms import ALGORITHMS, READABLE, SEARCHED, check_known
from metaml.bandits import DEFAULT_POLICY
from metaml.data import Dataset
from metaml.data.cells import text_of
from metaml.errors import BadRequest
from metaml.evaluation import METRICS, Limits, metric
from metaml.evaluation.model_limits import NO_LIMITS, ModelLimits
from metaml.metrics.costs import costs_named
from metaml.search.fidelity import check_fidelity
from metaml.search.fidelity_search import DEFAULT_SEARCH, check_search
from metaml.search.objectives import objective_names
from metaml.search.pareto_optimizer import METHODS
from metaml.search.schedules import DEFAULT_SCHEDULE, schedule_named
from metaml.search.strategy import check_for_search
from metaml.seeds import check_seed
from metaml.splits import Splitter
from metaml.splits.shuffled import HELD_OUT_SHARE

DEFAULT_METHOD = "parego"
DEFAULT_LIMITS = Limits(seconds=120.0, megabytes=4000.0)
DESCRIBE_SHARE = 0.02
EVALUATION_SHARE, CELLS_PER_SECOND, CELLS_PER_ROW, LEAST_ROWS = 0.08, 1e6, 10, 2000
"""One evaluation of the default LightGBM should take about this share of the budget. In folds a row costs ten cells
more than it has. Use at least 2,000 rows."""
LEAST_HELD_OUT = 1000
"""Rows that a single held-out fold needs. With two classes, count only the rarer one, twice."""
LONGEST_SHARE, FIRST_DEFAULT_SHARE, FIRST_SHARE = 0.15, 0.2, 0.6
"""The share of the time budget that one evaluation may take: an ordinary one, one of the first defaults, and any one
while no evaluation is complete."""
SHORT_BUDGET, BEYOND = 30.0, 1 / 3
"""Beyond 30 s of budget, the time of an ordinary evaluation grows a third as fast: a learner that must stop returns the
best model it has, and a search that has time should not spend it on one."""
SLOWER = 3.0
"""Whatever the budget, an evaluation may take this many times the quickest one or, up to its share, the typical one."""
EXPENSIVE, EXPENSIVE_ROWS, FEW_HELD_OUT = 4, 3, 300
"""If all folds would take four times the share, use one held-out fold with three times the rows instead."""
TOO_EXPENSIVE, FEWEST_HELD_OUT = 20, 100
"""If all folds would take twenty times the share, use one held-out fold even on few rows."""


@dataclass(frozen=True, kw_only=True)
class TuneSettings:
    """What is asked for; a session ends after `seconds` or `n_iterations`, whichever comes first.

    `costs` are those of errors (true class, decision, cost), `own_metric` is a function of the user's own; either makes
    the metric.

    `refits` asks for a final model that is fitted to all rows even where averaging those of the folds is better: it is
    smaller and predicts sooner. `n_layers` is how many layers the ensemble may have, 1 or 2; with None a second layer
    is built if time allows, but not where evaluations are counted. `calibrates` lets the class probabilities of the
    final model be calibrated where that helps. `n_repeats` is how often what may join the ensemble is evaluated again
    on other folds; with None, as often as time allows, but not where evaluations are counted. The search ends early at
    the score `stop_at`, as people write it, or after `patience` evaluations without a better one. `user` and `project`
    are words to find the session by. `splitter` makes the folds; without one, the groups and times of the data set
    decide. `schedule` says how several workers share the search. `search` says whether, and how, configurations are
    looked at first with a low `fidelity`: fewer rows, folds or trees. `keeps_sample` lets the model keep some of the
    training rows. `model_limits` are what that model may take. With `objectives`, the search is for their Pareto front,
    by the `front_method`.
    """

    metric: str = "auto"
    costs: tuple[tuple[str, str, float], ...] = ()
    own_metric: Callable[..., Any] | None = None
    seconds: float | None = 300.0
    n_iterations: int | None = None
    algorithms: tuple[str, ...] = SEARCHED
    strategy: str = "default"
    bandit: str = DEFAULT_POLICY
    schedule: str = DEFAULT_SCHEDULE
    search: str = DEFAULT_SEARCH
    fidelity: str = "rows"
    n_workers: int = 1
    n_folds: int = 5
    limits: Limits = DEFAULT_LIMITS
    max_rows: int | None = None
    seed: int = 0
    uses_memory: bool = True
    exclude_datasets: tuple[str, ...] = ()
    refits: bool = False
    n_layers: int | None = None
    keep_predictions: Literal["float16", "float32"] | None = None
    calibrates: bool = True
    keeps_sample: bool = True
    n_repeats: int | None = None
    stop_at: float | None = None
    patience: int | None = None
    user: str | None = None
    project: str | None = None
    splitter: Splitter | None = None
    model_limits: ModelLimits = NO_LIMITS
    objectives: tuple[str, ...] = ()
    front_method: str = DEFAULT_METHOD

    @property
    def clock(self) -> float | None:
        """Return the seconds that choices may depend on: none where evaluations are counted, to be the same again."""
        return self.seconds if self.n_iterations is None else None

    def __post_init__(self) -> None:
        if not self.algorithms:
            raise BadRequest(f"No algorithm is left to try. Choose among: {', '.join(ALGORITHMS)}.")
        check_known(self.algorithms)
        if self.seconds is None and self.n_iterations is None:
            raise BadRequest("A session without end was asked for. Give a time budget or a number of iterations.")
        check_seed(self.seed)
        schedule_named(self.schedule)
        check_for_search(self.strategy)
        check_search(self.search, strategy=self.strategy, schedule=self.schedule)
        if self.objectives and self.search != DEFAULT_SEARCH:
            raise BadRequest(f"The search {self.search} is for one objective. Leave out --search or --objectives.")
        check_fidelity(self.fidelity)
        if self.n_repeats is not None and self.n_repeats < 0:
            raise BadRequest(f"{self.n_repeats} repeats cannot be made. Ask for 0 or more.")
        if self.patience is not None and self.patience < 1:
            raise BadRequest(f"A patience of {self.patience} evaluations ends a search at once. Give 1 or more.")
        if self.stop_at is not None and not math.isfinite(self.stop_at):
            raise BadRequest(f"No search reaches a score of {self.stop_at}. Give a finite number to stop at.")
        if self.objectives:
            self._check_front()
        if self.n_layers not in (None, 1, 2):
            raise BadRequest(f"An ensemble of {self.n_layers} layers cannot be built. Choose 1 or 2.")

    def _check_front(self) -> None:
        if self.objectives != objective_names(self.objectives):
            raise BadRequest(f"Name the objectives {', '.join(objective_names(self.objectives))}.")
        if self.front_method not in METHODS:
            raise BadRequest(f"No front method is named {self.front_method!r}. Choose one of {', '.join(METHODS)}.")
        if self.schedule != DEFAULT_SCHEDULE:
            raise BadRequest(f"The schedule {self.schedule} knows one objective only. Leave out --schedule.")
        if self.stop_at is not None or self.patience is not None:
            raise BadRequest("A front has no best score to stop at. Leave out --stop-at and --patience.")


def chosen(wanted: Sequence[str], excluded: Sequence[str]) -> tuple[str, ...]:
    """Return the algorithms that are wanted and not excluded; raise BadRequest for one to exclude that does not exist.

    >>> chosen(["svm", "mlp"], ["mlp"])
    ('svm',)
    """
    unknown = [name for name in excluded if name not in ALGORITHMS]
    if unknown:
        raise BadRequest(f"There is no algorithm {', '.join(unknown)} to exclude. They are: {', '.join(ALGORITHMS)}.")
    return tuple(name for name in wanted if name not in excluded)


def keeping_directions(settings: TuneSettings, dataset: Dataset) -> tuple[TuneSettings, str]:
    """Return the settings that keep to `--increasing` and `--decreasing`, and a sentence on what was left out.

    A second layer reads predictions and may fall where one of them rises, so there is none.
    """
    if not dataset.directions:
        return settings, ""
    able = tuple(name for name in settings.algorithms if ALGORITHMS[name].one_way is not None)
    left_out = [name for name in settings.algorithms if name not in able]
    if not able:
        others = [name for name, found in ALGORITHMS.items() if found.one_way is not None]
        raise BadRequest(
            f"With --increasing or --decreasing, {', '.join(left_out)} cannot be used. Choose among: "
            f"{', '.join(others)}."
        )
    if settings.n_layers == 2:
        raise BadRequest("A second layer cannot keep to --increasing and --decreasing. Leave out --layers 2.")
    told = f"Left out, as they cannot keep to the directions of the columns: {', '.join(left_out)}." if left_out else ""
    return replace(settings, algorithms=able, n_layers=1), told


def for_reading(settings: TuneSettings) -> TuneSettings:
    """Return settings that end with one model which a person can read: nothing is averaged, stacked or calibrated."""
    unreadable = [name for name in settings.algorithms if name not in READABLE]
    if unreadable:
        raise BadRequest(
            f"Nobody can read a model of {', '.join(unreadable)}. Leave it out, or choose among: {', '.join(READABLE)}."
        )
    if (settings.n_layers or 1) > 1:
        raise BadRequest("A model of two layers cannot be read. Leave out --layers.")
    if settings.objectives:
        raise BadRequest("A front holds many models, and --readable takes one. Leave out one of both.")
    return replace(settings, refits=True, n_layers=1, n_repeats=0, calibrates=False)


def check_fits(name: str, algorithms: Sequence[str], dataset: Dataset) -> None:
    """Raise BadRequest if a metric or an algorithm is not for the task of a data set."""
    others = [found for found in algorithms if dataset.task not in ALGORITHMS[found].tasks]
    if others:
        raise BadRequest(
            f"The algorithm {others[0]} is for {' or '.join(ALGORITHMS[others[0]].tasks)}, but the target "
            f"{dataset.target!r} is {dataset.task}. Leave it out of the algorithms."
        )
    check_metric(name, dataset)


def check_metric(name: str, dataset: Dataset) -> None:
    """Raise BadRequest if a metric is not for the task of a data set, or for other classes."""
    costs = costs_named(name)
    labels = () if dataset.labels is None else tuple(map(text_of, dataset.labels.tolist()))
    if costs is not None and labels and costs.labels != labels:
        raise BadRequest(
            f"The costs are of the classes {', '.join(costs.labels)}, but {dataset.target!r} has "
            f"{', '.join(labels[:8])}. Give costs for these."
        )
    if dataset.task not in metric(name).tasks:
        fitting = [other.removeprefix("neg_") for other, found in METRICS.items() if dataset.task in found.tasks]
        raise BadRequest(
            f"The metric {name.removeprefix('neg_')} does not fit the {dataset.task} target {dataset.target!r}. "
            f"Leave out --metric, or choose one of: {', '.join(fitting)}."
        )


def with_row_weights(settings: TuneSettings, dataset: Dataset) -> tuple[TuneSettings, tuple[str, ...]]:
    """Return the settings, and the algorithms left out: those that ignore weights, if the rows have any.

    Raises BadRequest if none is left.
    """
    if dataset.row_weights is None:
        return settings, ()
    gone = tuple(name for name in settings.algorithms if not ALGORITHMS[name].takes_weights)
    if len(gone) == len(settings.algorithms):
        known = ", ".join(name for name, found in ALGORITHMS.items() if found.takes_weights)
        raise BadRequest(
            f"No algorithm is left to try: {', '.join(gone)} cannot weigh rows by {dataset.roles.options.weight!r}. "
            f"Choose among: {known}."
        )
    return replace(settings, algorithms=tuple(name for name in settings.algorithms if name not in gone)), gone


def describe_seconds(settings: TuneSettings) -> float:
    """Return the seconds that metafeatures may take; where evaluations are counted, enough for all of them."""
    return 10.0 if settings.clock is None else min(max(DESCRIBE_SHARE * settings.clock, 0.1), 2.0)


def longest_evaluation(settings: TuneSettings, complete: Sequence[float], *, is_first_default: bool = False) -> float:
    """Return the limit of one evaluation, given the seconds of the complete ones: none may take most of the time alone.

    >>> longest_evaluation(TuneSettings(seconds=300.0), [2.0, 3.0, 9.0])
    18.0
    """
    limit = settings.limits.seconds
    if settings.clock is None:
        return limit
    if not complete:
        return min(limit, FIRST_SHARE * settings.clock)
    if is_first_default:
        return min(limit, max(FIRST_DEFAULT_SHARE * settings.clock, SLOWER * min(complete)))
    usual = LONGEST_SHARE * min(settings.clock, SHORT_BUDGET + BEYOND * (settings.clock - SHORT_BUDGET))
    slow = min(SLOWER * median(complete), LONGEST_SHARE * settings.clock)
    return min(limit, max(usual, slow, SLOWER * min(complete)))


def folds_and_rows(dataset: Dataset, settings: TuneSettings) -> tuple[int, int | None]:
    """Return the number of folds and the largest number of rows, so that at least a dozen evaluations fit.

    If five folds of all rows would exceed the time share, use one held-out fold with more rows instead: models are then
    compared at nearly the size that they will have. That fold must hold enough rows of a rare class.
    """
    if settings.max_rows is not None or settings.clock is None or settings.splitter is not None:
        return settings.n_folds, settings.max_rows
    n_rows, n_columns = len(dataset.y), max(dataset.X.shape[1], 1)
    trees = len(dataset.labels) if dataset.task == "multiclass" and dataset.labels is not None else 1
    cells = EVALUATION_SHARE * settings.clock * CELLS_PER_SECOND / trees
    most = int(cells / n_columns)
    most_in_folds = max(int(cells / (n_columns + CELLS_PER_ROW)) // settings.n_folds, LEAST_ROWS)
    if n_rows > most_in_folds:
        if min(n_rows, most) * HELD_OUT_SHARE * _informative_share(dataset) >= LEAST_HELD_OUT:
            return 1, most
        if n_rows * settings.n_folds <= EXPENSIVE * most:
            # Slightly fewer rows would save little, and every member would have to be refitted.
            return settings.n_folds, None
    n_fitted = min(n_rows, most_in_folds) * settings.n_folds
    if n_fitted > EXPENSIVE * most and min(n_rows, EXPENSIVE_ROWS * most) * HELD_OUT_SHARE >= FEW_HELD_OUT:
        return 1, EXPENSIVE_ROWS * most
    if n_fitted > TOO_EXPENSIVE * most and n_rows * HELD_OUT_SHARE >= FEWEST_HELD_OUT:
        return 1, max(most, LEAST_ROWS)
    return settings.n_folds, most_in_folds


def _informative_share(dataset: Dataset) -> float:
    """Return the share of rows that separate models: with two classes, the rarer one and as many of the other."""
    if dataset.task != "binary":
        return 1.0
    return 2 * float(min(dataset.y.mean(), 1 - dataset.y.mean()))
