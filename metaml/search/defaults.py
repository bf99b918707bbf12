"""What a search tries first without any experience: defaults, and what pays on large tables or in long searches."""

from collections.abc import Callable, Sequence

from metaml.algorithms import ALGORITHMS, Algorithm
from metaml.data import Task
from metaml.encoding import Facts
from metaml.spaces.config import Config


def _by_turn(turn: Callable[[Algorithm], int | None]) -> tuple[str, ...]:
    """Return the algorithms that have such a turn, in this order."""
    turns = {name: place for name, found in ALGORITHMS.items() if (place := turn(found)) is not None}
    return tuple(sorted(turns, key=turns.__getitem__))


FIRST = _by_turn(lambda algorithm: algorithm.first_turn)
"""The order in which defaults are tried when nothing is known: strong and quick ones first."""
FIRST_DEFAULTS = FIRST[:3]
"""Their defaults are always evaluated first, so that the result is never worse. Meanwhile experience is read."""
DEFAULTS_IF_WIDE = _by_turn(lambda algorithm: algorithm.first_turn_if_wide)
DEFAULTS_IF_SLOW = _by_turn(lambda algorithm: algorithm.first_turn_if_slow)
"""What is evaluated first where boosting may take too long: quick ones lead."""
MANY_CLASSES, MANY_COLUMNS, MANY_ROWS = 10, 2000, 8000
SLOW_SHARE = 1 / 12
MOST_ROWS_PER_SECOND = 300
"""With more rows for each second of the time budget, an expensive learner cannot be trained well in its share."""


def default_starts(
    task: Task, algorithms: Sequence[str], facts: Facts, *, seconds: float | None = None
) -> list[tuple[str, Config]]:
    """Return what every search, or one with so many seconds, evaluates first: quick ones where boosting takes long.

    >>> names = ["lightgbm", "random_forest", "extra_trees"]
    >>> [name for name, _ in default_starts("binary", names, Facts(100, 20_000, 2))]
    ['extra_trees', 'random_forest', 'lightgbm']
    """
    order: tuple[str, ...] = FIRST_DEFAULTS
    if facts.n_columns > MANY_COLUMNS:
        order = DEFAULTS_IF_WIDE
    elif facts.n_classes > MANY_CLASSES or (seconds and boosting_seconds(facts) > SLOW_SHARE * seconds):
        order = DEFAULTS_IF_SLOW
    return [(name, ALGORITHMS[name].space(task).default()) for name in order if name in algorithms]


def starts_for_many_rows(task: Task, algorithms: Sequence[str], facts: Facts) -> list[tuple[str, Config]]:
    """Return configurations of high capacity, if there are enough rows for them.

    The runs that a portfolio is learnt from have few rows, on which such configurations do badly.

    >>> [name for name, _ in starts_for_many_rows("binary", ["lightgbm", "svm"], Facts(10_000, 20, 2))]
    ['lightgbm']
    """
    if facts.n_rows < MANY_ROWS or facts.n_classes > MANY_CLASSES or facts.n_columns > MANY_COLUMNS:
        return []
    wanted = [ALGORITHMS[name] for name in in_order(algorithms)]
    return [
        (found.name, {**found.space(task).default(), **found.for_many_rows})
        for found in wanted
        if found.for_many_rows is not None
    ]


def starts_for_long_searches(
    task: Task, algorithms: Sequence[str], facts: Facts, *, seconds: float | None
) -> list[tuple[str, Config]]:
    """Return the defaults of expensive algorithms that pay in a search of so many seconds, if it is long.

    >>> names = ["neural_network", "svm"]
    >>> [name for name, _ in starts_for_long_searches("binary", names, Facts(10_000, 20, 2), seconds=300.0)]
    ['neural_network']
    """
    if seconds is None or facts.n_rows > MOST_ROWS_PER_SECOND * seconds:
        return []
    wanted = [ALGORITHMS[name] for name in in_order(algorithms)]
    return [
        (found.name, found.space(task).default()) for found in wanted if 0.0 < (found.least_budget or 0.0) <= seconds
    ]


def boosting_seconds(facts: Facts) -> float:
    """Return what an evaluation of LightGBM's default may take, give or take a factor of two.

    Fitted by least squares to its 269 runs, on at most 2,000 rows, in the starter experience. Beyond, it grows with the
    rows.

    >>> [round(boosting_seconds(Facts(1000, 30, n_classes)), 1) for n_classes in (2, 8)]
    [0.3, 1.1]
    """
    n_trees = facts.n_classes if facts.n_classes > 2 else 1
    known = min(facts.n_rows, 2000)
    return float(0.0026 * known**0.47 * facts.n_columns**0.42 * n_trees**0.64 * facts.n_rows / known)


def in_order(algorithms: Sequence[str]) -> tuple[str, ...]:
    """Return the algorithms, those that have a turn among the first tries in its order, then the others."""
    return tuple([name for name in FIRST if name in algorithms] + [name for name in algorithms if name not in FIRST])
