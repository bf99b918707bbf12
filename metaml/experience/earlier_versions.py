"""Earlier versions of a data set, such as last week's table, and the configurations that did best on them.

If the same table is tuned again with some more rows, the search starts with the members of the last model of the
earlier version, then with its best runs.
"""

import math
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
import pandas as pd

from metaml.acquisition.candidates import key_of
from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset
from metaml.evaluation import FoldPlan
from metaml.evaluation.environment import environment
from metaml.metalearning.initial_design import LONGEST_SHARE, Suggestion
from metaml.records.conversion import MOST_COLUMNS
from metaml.spaces.config import Config
from metaml_kb import KnowledgeBase
from metaml_kb.errors import BadQuery
from metaml_kb.lookup import StoredRun, final_models, find_run

LEAST_SHARED = 0.8
"""The smallest share of column names that an earlier version has in common with the data set."""
ALIKE = (
    "MajorityClassPercentage",
    "PercentageOfMissingValues",
    "PercentageOfNumericFeatures",
    "PercentageOfBinaryFeatures",
)
MOST_APART = 10.0
"""The largest difference in these metafeatures, in percentage points. Column names alone do not tell arrays apart."""
DRIFT = ("NumberOfInstances", "MajorityClassPercentage", "PercentageOfMissingValues")
"""Metafeatures that say, in a sentence, how a table changed."""
N_INHERITED, MOST_OF_ONE, BEST_SHARE = 8, 2, 0.25
"""How many configurations are inherited, how many of one algorithm, and the share of best runs they are taken from."""


@dataclass(frozen=True)
class EarlierBest:
    """A configuration that did well on an earlier version, with its run and its place among the runs there.

    `is_member` says that it is part of the last model of that version.
    """

    suggestion: Suggestion
    dataset: str
    run: str
    place: int
    is_member: bool = False


@dataclass(frozen=True)
class EarlierVersions:
    """What a data set inherits, members of the last model first, and the number of runs it was chosen from.

    `drift` has metafeatures of the newest version and of the data set now, by name.
    """

    inherited: tuple[EarlierBest, ...] = ()
    n_runs: int = 0
    drift: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    @property
    def configs(self) -> list[tuple[str, Config]]:
        """Return the configurations, with their algorithms."""
        return [(item.suggestion.algorithm, item.suggestion.config) for item in self.inherited]

    @property
    def members(self) -> list[tuple[str, Config]]:
        """Return the configurations that are part of the last model of an earlier version."""
        return [(item.suggestion.algorithm, item.suggestion.config) for item in self.inherited if item.is_member]

    @property
    def names(self) -> list[str]:
        """Return the names of the data sets that something is inherited from."""
        return list(dict.fromkeys(item.dataset for item in self.inherited))

    def carriers(self, algorithm: str, config: Config) -> list[dict[str, object]]:
        """Return the data sets that a configuration was inherited from, and how it stood there."""
        suggestion = algorithm, key_of(config)
        return [
            {"dataset": item.dataset, "place": item.place, "run": item.run}
            for item in self.inherited
            if (item.suggestion.algorithm, key_of(item.suggestion.config)) == suggestion
        ]


def find_earlier_versions(
    kb: KnowledgeBase,
    dataset: Dataset,
    plan: FoldPlan,
    *,
    metric: str,
    algorithms: Collection[str],
    simple: Mapping[str, float],
    left_out: Collection[str] = (),
    budget_seconds: float | None = None,
) -> EarlierVersions:
    """Return what a data set with these simple metafeatures inherits, to be evaluated by this plan.

    Without a budget in seconds, its own earlier runs do not count: the same search then makes the same choices again.
    A data set that is itself left out inherits nothing, because an earlier version is as good as the data set itself.
    """
    if dataset.fingerprint in left_out:
        return EarlierVersions()
    found: dict[tuple[str, str], EarlierBest] = {}
    n_runs = 0
    own = {dataset.fingerprint} if budget_seconds is None else set()
    drift: dict[str, tuple[float, float]] = {}
    for fingerprint, n in _versions(kb, dataset, simple, {*left_out, *own}):
        n_runs += n
        drift = drift or _drift(kb.metafeature_values(fingerprint), simple)
        for place, key, is_member in _best(kb, fingerprint, metric, algorithms, n):
            stored = find_run(kb, key)
            name, config = stored.run.algorithm, dict(stored.run.config)
            seconds = _seconds(stored, plan)
            is_too_long = budget_seconds is not None and seconds > LONGEST_SHARE * budget_seconds
            if is_too_long or not ALGORITHMS[name].space(dataset.task).is_valid(config):
                continue
            item = EarlierBest(Suggestion(name, config, seconds), stored.dataset.name, key, place, is_member)
            found.setdefault((name, key_of(config)), item)
            if len(found) == N_INHERITED:
                return EarlierVersions(tuple(found.values()), n_runs, drift)
    return EarlierVersions(tuple(found.values()), n_runs, drift)


def may_have_earlier_versions(kb: KnowledgeBase, dataset: Dataset) -> bool:
    """Return whether a table with this target and these columns is known: a quick look, before anything is read."""
    ours = {column.name for column in dataset.columns[:MOST_COLUMNS]}
    details = kb.dataset_details(dataset.task, dataset.target)["details"]
    return any(_share_columns(ours, set(found.get("columns", ()))) for found in details)


def _versions(
    kb: KnowledgeBase, dataset: Dataset, simple: Mapping[str, float], left_out: Collection[str]
) -> Iterator[tuple[str, int]]:
    """Yield the fingerprints of tables with this task, target and columns, and their complete runs, newest first."""
    n_classes = None if dataset.labels is None else len(dataset.labels)
    ours = {column.name for column in dataset.columns[:MOST_COLUMNS]}
    known = kb.dataset_details(dataset.task, dataset.target)
    for fingerprint, n, details, n_complete in known.itertuples(index=False):
        if not n_complete or fingerprint in left_out or (n_classes is not None and n != n_classes):
            continue
        if _share_columns(ours, set(details.get("columns", ()))) and _is_alike(kb, str(fingerprint), simple):
            yield str(fingerprint), int(n_complete)


def _is_alike(kb: KnowledgeBase, fingerprint: str, simple: Mapping[str, float]) -> bool:
    """Return whether a known data set agrees with these metafeatures, as far as it was described."""
    theirs = kb.metafeature_values(fingerprint)
    apart = np.array([simple.get(name, np.nan) - theirs.get(name, np.nan) for name in ALIKE], dtype=np.float64)
    return not bool((np.abs(apart) > MOST_APART).any())


def _share_columns(ours: set[str], theirs: set[str]) -> bool:
    return len(ours & theirs) >= LEAST_SHARED * len(ours | theirs) > 0


def _drift(then: Mapping[str, float], now: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Return what is known of both versions and can be told in a sentence."""
    return {name: (then[name], now[name]) for name in DRIFT if name in then and name in now}


def _best(
    kb: KnowledgeBase, fingerprint: str, metric: str, algorithms: Collection[str], n_runs: int
) -> Iterator[tuple[int, str, bool]]:
    """Yield runs on a data set, each with its place and whether it is a member of the last model there.

    First come these members, the heaviest first, then the best quarter of the runs, at most two of an algorithm.
    """
    members = _members(kb, fingerprint, metric)
    n_best = max(N_INHERITED, int(BEST_SHARE * n_runs))
    try:
        best = kb.best(fingerprint, metric, n=n_runs if members else n_best)
    except BadQuery:
        # Nobody scored anything there by this metric.
        return
    best = best.assign(place=np.arange(1, len(best) + 1))
    best = best[best["algorithm"].isin(algorithms)]
    places = dict(zip(best["run"], best["place"].tolist(), strict=True))
    yield from ((places[run], run, True) for run in members if run in places)
    best = best[best["place"] <= n_best]
    chosen: pd.DataFrame = best[best.groupby("algorithm", observed=True).cumcount() < MOST_OF_ONE]
    yield from ((place, run, False) for place, run in zip(chosen["place"].tolist(), chosen["run"], strict=True))


def _members(kb: KnowledgeBase, fingerprint: str, metric: str) -> list[str]:
    """Return the runs that the newest model for this metric on a data set is made of, the heaviest first."""
    newest = next((final for final in final_models(kb, fingerprint) if final["metric"] == metric), {})
    return [str(run) for run, _ in sorted(newest.get("members", ()), key=lambda member: -member[1])]


def _seconds(stored: StoredRun, plan: FoldPlan) -> float:
    """Return the expected seconds of a run by another plan and on this machine; NaN if its own seconds are unknown."""
    took = (stored.run.fit_seconds or np.nan) + (stored.run.predict_seconds or 0.0)
    then = stored.fold_plan
    n_rows = min(stored.dataset.n_rows or plan.n_used, then.max_rows or math.inf)
    unit = None if stored.environment is None else stored.environment.reference_seconds
    pace = environment()["reference_seconds"] / unit if unit else 1.0
    return float(took * pace * (plan.n_used * plan.n_folds) / max(n_rows * (then.n_folds or plan.n_folds), 1))
