"""How much tuning gains over a default: the tunability of an algorithm and of each of its hyperparameters.

Probst, Boulesteix & Bischl (2019), "Tunability: Importance of Hyperparameters of Machine Learning Algorithms". On each
data set a forest learns the score from the configuration. The gain is what the forest promises for its best
configuration, less what it promises for the reference. That of one hyperparameter is the same when only it may differ
from the reference. Where all data sets have runs of the same configurations, as in a grid study, these need no forest.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd

from metaml.arrays import Floats, Positions
from metaml.encoding import Encoder
from metaml.insight.runs import AlgorithmRuns
from metaml.insight.settings import columns
from metaml.spaces import Space
from metaml.spaces.config import Config, Value
from metaml.system.threads import importing

LEAST_RUNS, MOST_RUNS = 20, 300
LEAST_IN_GRID, MOST_IN_GRID, COMPLETE = 4, 2000, 0.9
MOST_DATASETS = 40
N_TREES = 48
N_CANDIDATES, N_VALUES = 400, 21


@dataclass(frozen=True)
class Gain:
    """How much is gained by tuning one hyperparameter, or all of them: a mean over data sets with its standard error.

    `held_out` is the same gain judged by runs that did not choose the best configuration. The plain mean, as in the
    paper, is too high where scores are noisy; `held_out` is rather too low, because it has half of the runs. It is NaN
    on a grid, where every configuration was run once.
    """

    name: str
    mean: float
    standard_error: float
    held_out: float
    n_datasets: int


@dataclass(frozen=True, eq=False)
class Tunability:
    """What tuning an algorithm gains, in units of the metric (as a logarithm if it has the unit of the target).

    `over_default` is the gain over the default configuration; None if there is no default. `over_best_single` is that
    over `best_single`, the one configuration that is best on average over these data sets. `hyperparameters` has the
    gain over `reference` when only one of them is tuned, largest first; the reference is the default, or else the best
    single one. `by_dataset` has the gain of each data set over the reference. `fit` is the median over data sets of the
    variance of the scores that the forests explain out of bag; near 0, the gains mean little. It is 1 on a grid.
    """

    algorithm: str
    metric: str
    over_default: Gain | None
    over_best_single: Gain
    best_single: Config
    reference: Config
    hyperparameters: tuple[Gain, ...]
    by_dataset: pd.DataFrame
    fit: float


def tunability(runs: AlgorithmRuns, *, default: Config | None = None, seed: int = 0) -> Tunability | None:
    """Return the tunability of an algorithm; None if no data set has 20 runs, or runs of a common grid.

    All data sets are of the task with the most such data sets, and at most 40 of them are taken. `default` replaces the
    default of the algorithm's space. Every run counts, also those that a search proposed: a forest per data set is not
    misled by where they are dense.
    """
    rng = np.random.default_rng(seed)
    landscape: _Landscape | None = _grid(runs)
    space = None
    if landscape is None:
        space, places = _largest_task(runs)
        if not places:
            return None
        landscape = _forests(runs, space, places, rng)
    if default is None and space is None:
        default = next((runs.configs[k] for k in np.flatnonzero(runs.is_default).tolist()), None)
    elif default is None and space is not None:
        default = space.default()
    return _summary(runs, landscape, default)


class _Landscape(Protocol):
    """The score of any configuration on each of some data sets."""

    datasets: list[int]
    candidates: list[Config]
    fit: float

    def scores(self, configs: Sequence[Config]) -> tuple[Floats, Floats, Floats]:
        """Return data sets × configurations: by all runs, and by either half of them; NaN where unknown."""
        ...

    def changed(self, config: Config) -> dict[str, list[Config]]:
        """Return for each hyperparameter the configurations that differ from this one only there."""
        ...


class _Grid:
    """Look-up of configurations that were run on nearly all data sets."""

    fit = 1.0

    def __init__(self, datasets: list[int], candidates: list[Config], table: Floats) -> None:
        self.datasets, self.candidates, self._table = datasets, candidates, table
        self._places = {_key(config): place for place, config in enumerate(candidates)}

    def scores(self, configs: Sequence[Config]) -> tuple[Floats, Floats, Floats]:
        found = self._table[:, [self._places.get(_key(config), -1) for config in configs]]
        unknown = np.full(found.shape, np.nan)
        return found, unknown, unknown

    def changed(self, config: Config) -> dict[str, list[Config]]:
        changes: dict[str, list[Config]] = {}
        for other in self.candidates:
            differing = [name for name in {*config, *other} if _differs(config, other, name)]
            if len(differing) == 1:
                changes.setdefault(differing[0], []).append(other)
        return changes


class _Forests:
    """Forests, fitted to each data set's runs: to all of them, and to either half."""

    def __init__(
        self,
        datasets: list[int],
        candidates: list[Config],
        encoder: Encoder,
        forests: list[tuple[Any, Any, Any]],
        values: Mapping[str, Sequence[Value]],
        space: Space | None,
    ) -> None:
        self.datasets, self.candidates = datasets, candidates
        self._encoder, self._forests, self._values, self._space = encoder, forests, values, space
        self.fit = float(np.median([whole.oob_score_ for whole, _, _ in forests]))

    def scores(self, configs: Sequence[Config]) -> tuple[Floats, Floats, Floats]:
        rows = _filled(self._encoder.transform(configs)).astype(np.float32)
        whole, first, second = (
            np.array([_predict(forest, rows) for forest in part]) for part in zip(*self._forests, strict=True)
        )
        return whole, first, second

    def changed(self, config: Config) -> dict[str, list[Config]]:
        changes = {}
        for name, values in self._values.items():
            if name in config:
                others: list[Config] = [{**config, name: value} for value in values]
                changes[name] = [self._space.complete(other) for other in others] if self._space else others
        return changes


def _grid(runs: AlgorithmRuns) -> _Grid | None:
    """Return the look-up of configurations that were run on at least 90 % of the data sets; None if there are few."""
    seen: dict[str, Config] = {}
    cells: dict[tuple[int, str], float] = {}
    for k, config, score in zip(runs.groups.tolist(), runs.configs, runs.scores.tolist(), strict=True):
        key = _key(config)
        seen.setdefault(key, config)
        cells[k, key] = max(score, cells.get((k, key), -math.inf))
        if len(seen) > MOST_IN_GRID:
            return None
    if len(seen) < LEAST_IN_GRID:
        return None
    places = {key: place for place, key in enumerate(seen)}
    table = np.full((runs.n_datasets, len(seen) + 1), np.nan)
    for (k, key), score in cells.items():
        table[k, places[key]] = score
    rows = np.flatnonzero((~np.isnan(table[:, :-1])).mean(axis=1) >= COMPLETE)
    if len(rows) < COMPLETE * runs.n_datasets:
        return None
    return _Grid(rows.tolist(), list(seen.values()), table[rows])


def _largest_task(runs: AlgorithmRuns) -> tuple[Space | None, list[tuple[int, Positions]]]:
    """Return the space with the most data sets that have enough runs in it, and the positions of these runs."""
    by_space: dict[Space | None, list[tuple[int, Positions]]] = {}
    for k, places in runs.places(least=LEAST_RUNS):
        space = runs.spaces.get(str(runs.datasets["task"].iloc[k]))
        inside = [place for place in places.tolist() if space is None or space.is_valid(runs.configs[place])]
        if len(inside) >= LEAST_RUNS and (space is not None or not runs.spaces):
            by_space.setdefault(space, []).append((k, np.array(inside, dtype=np.int64)))
    return max(by_space.items(), key=lambda item: len(item[1]), default=(None, []))


def _forests(
    runs: AlgorithmRuns, space: Space | None, places: list[tuple[int, Positions]], rng: np.random.Generator
) -> _Forests:
    if len(places) > MOST_DATASETS:
        places = [places[k] for k in sorted(rng.choice(len(places), MOST_DATASETS, replace=False).tolist())]
    if space is not None:
        candidates = space.sample(N_CANDIDATES, rng)
        units = (np.arange(N_VALUES) + 0.5) / N_VALUES
        values = {item.name: list(dict.fromkeys(item.from_unit(units))) for item in space.parameters}
    else:
        distinct = list({_key(config): config for config in runs.configs}.values())
        chosen = rng.permutation(len(distinct))[:N_CANDIDATES]
        candidates = [distinct[k] for k in chosen.tolist()]
        values = {setting.name: _spread(columns(runs.configs, setting)) for setting in runs.settings}
    encoder = Encoder(one_hot=True, unit=True).fit([*candidates, *runs.configs][: 10 * N_CANDIDATES], None, space)
    forests = []
    for _, found in places:
        part = rng.choice(found, min(MOST_RUNS, len(found)), replace=False)
        X, y = _filled(encoder.transform([runs.configs[k] for k in part.tolist()])), runs.scores[part]
        middle, seed = len(part) // 2, int(rng.integers(2**31))
        forests.append(
            (
                _forest(X, y, seed, is_judged=True),
                _forest(X[:middle], y[:middle], seed),
                _forest(X[middle:], y[middle:], seed),
            )
        )
    return _Forests([k for k, _ in places], candidates, encoder, forests, values, space)


def _forest(X: Floats, scores: Floats, seed: int, *, is_judged: bool = False) -> Any:
    with importing:
        from sklearn.ensemble import ExtraTreesRegressor

    return ExtraTreesRegressor(
        n_estimators=N_TREES, min_samples_leaf=2, bootstrap=True, oob_score=is_judged, random_state=seed
    ).fit(X, scores)


def _predict(forest: Any, rows: Any) -> Floats:
    """Return the mean of the trees: what `forest.predict` says, without its overhead, which exceeds the work here."""
    values = [tree.tree_.predict(rows)[:, 0] for tree in forest.estimators_]
    return np.asarray(np.mean(values, axis=0), dtype=np.float64)


def _filled(X: Floats) -> Floats:
    """Return rows in which an inactive hyperparameter is a value below all others."""
    return np.nan_to_num(X, nan=-1.0)


def _spread(values: Sequence[Value]) -> list[Value]:
    """Return some of the values that were run, evenly taken."""
    known = sorted({value for value in values if value == value}, key=lambda value: (str(type(value)), value))
    places = np.unique(np.linspace(0, len(known) - 1, min(N_VALUES, len(known))).astype(int))
    return [known[k] for k in places.tolist()]


def _summary(runs: AlgorithmRuns, landscape: _Landscape, default: Config | None) -> Tunability:
    candidates = landscape.candidates if default is None else [default, *landscape.candidates]
    scores = landscape.scores(candidates)
    has_default = default is not None and not np.isnan(scores[0][:, 0]).any()
    # A configuration that failed somewhere must not be preferred for it.
    means = np.where(np.isnan(scores[0]).any(axis=0), -np.inf, np.nan_to_num(scores[0]).mean(axis=0))
    single = int(means.argmax())
    reference = candidates[0 if has_default else single]
    all_places = np.arange(len(candidates))
    changes = landscape.changed(reference)
    changed = landscape.scores([reference, *(config for others in changes.values() for config in others)])
    each, first = [], 1
    for name, others in changes.items():
        each.append(_gain(name, changed, np.array([0, *range(first, first + len(others))]), 0))
        first += len(others)
    over_default = _gain("all", scores, all_places, 0) if has_default else None
    gains = np.nanmax(scores[0], axis=1) - scores[0][:, 0 if has_default else single]
    datasets = runs.datasets.iloc[landscape.datasets].reset_index(drop=True)
    return Tunability(
        runs.algorithm,
        runs.metric,
        over_default,
        _gain("all", scores, all_places, single),
        candidates[single],
        reference,
        tuple(sorted(each, key=lambda gain: -gain.mean)),
        datasets[["fingerprint", "name", "n_rows"]].assign(gain=gains),
        landscape.fit,
    )


def _gain(name: str, scores: tuple[Floats, Floats, Floats], among: Positions, reference: int) -> Gain:
    whole, first, second = scores
    gains = np.nanmax(whole[:, among], axis=1) - whole[:, reference]
    held_out = math.nan
    if not np.isnan(first).any():
        rows = np.arange(len(whole))
        held_out = float(
            np.mean(
                [
                    judge[rows, among[chooser[:, among].argmax(axis=1)]] - judge[:, reference]
                    for chooser, judge in ((first, second), (second, first))
                ]
            )
        )
    error = float(gains.std(ddof=1) / math.sqrt(len(gains))) if len(gains) > 1 else math.inf
    return Gain(name, float(gains.mean()), error, held_out, len(gains))


def _key(config: Config) -> str:
    return repr(sorted(config.items()))


def _differs(one: Config, other: Config, name: str) -> bool:
    return (name in one) != (name in other) or repr(one.get(name)) != repr(other.get(name))
