"""The runs of one algorithm on many data sets as arrays: what every part of meta-learning learns from."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from metaml.encoding import Encoder, Facts
from metaml.metalearning.scales import Array, Positions, normal_scores, standardised, within_groups
from metaml.spaces import Space
from metaml.spaces.config import Config

Flags = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class RunHistory:
    """Runs of one algorithm, scored by one metric (higher is better), on the data sets of a knowledge base.

    `groups` says for each run the position of its data set in `datasets`. `standard` and `normal` are the scores on
    the two scales that data sets have in common, made of *all* runs of the data set, also of those that were thinned
    out. `spread` is the standard deviation of each data set's raw scores. `seconds` and `reference` (the seconds of
    the reference workload on the host that made the run) are NaN where unknown; `n_rows` are the rows that were
    cross-validated, which may be fewer than the data set has. `notes` say in sentences what a user should know about
    this history.
    """

    algorithm: str
    metric: str
    revision: str
    datasets: tuple[str, ...]
    names: tuple[str, ...]
    encoder: Encoder
    groups: Positions
    configs: tuple[Config, ...]
    rows: Array
    scores: Array
    standard: Array
    normal: Array
    spread: Array
    weights: Array
    seconds: Array
    reference: Array
    n_rows: Array
    runs: tuple[str, ...]
    metafeatures: pd.DataFrame
    facts: tuple[Facts | None, ...]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n_datasets(self) -> int:
        """Return the number of data sets."""
        return len(self.datasets)

    @property
    def is_empty(self) -> bool:
        """Return whether there is no run to learn from."""
        return not len(self.scores)

    @cached_property
    def places(self) -> tuple[Positions, ...]:
        """Return for each data set the positions of its runs."""
        return _places(self.groups, self.n_datasets)

    def encode(self, configs: Sequence[Config], facts: Facts | None = None) -> Array:
        """Return configurations of this algorithm as rows on the unit cube; what no run ever had is unknown."""
        return self.encoder.transform(configs, facts)

    def keep(self, datasets: Iterable[int]) -> Self:
        """Return the history with these data sets (positions) only."""
        kept = np.array(sorted(set(datasets)), dtype=np.int64)
        new = np.full(self.n_datasets, -1, dtype=np.int64)
        new[kept] = np.arange(len(kept))
        smaller = self._select(np.flatnonzero(new[self.groups] >= 0))
        return replace(
            smaller,
            datasets=tuple(self.datasets[k] for k in kept),
            names=tuple(self.names[k] for k in kept),
            groups=new[smaller.groups],
            spread=self.spread[kept],
            metafeatures=self.metafeatures.iloc[kept],
            facts=tuple(self.facts[k] for k in kept),
        )

    def without(self, datasets: Iterable[int]) -> Self:
        """Return the history without these data sets (positions)."""
        gone = set(datasets)
        return self.keep(k for k in range(self.n_datasets) if k not in gone)

    def thinned(self, most: int, seed: int = 0) -> Self:
        """Return at most `most` runs of each data set, drawn at random, the heavier runs first."""
        return self._select(_thinned(self.places, self.weights, most, seed))

    def with_scores(self, scores: Array) -> Self:
        """Return the same runs with other scores; used to ask what a wrong knowledge base would do."""
        spread = np.array([float(scores[places].std()) if len(places) else 0.0 for places in self.places])
        standard = within_groups(scores, self.groups, standardised)
        normal = within_groups(scores, self.groups, normal_scores)
        return replace(self, scores=scores, standard=standard, normal=normal, spread=spread)

    def _select(self, places: Positions) -> Self:
        return replace(
            self,
            groups=self.groups[places],
            configs=tuple(self.configs[k] for k in places),
            rows=self.rows[places],
            scores=self.scores[places],
            standard=self.standard[places],
            normal=self.normal[places],
            weights=self.weights[places],
            seconds=self.seconds[places],
            reference=self.reference[places],
            n_rows=self.n_rows[places],
            runs=tuple(self.runs[k] for k in places),
        )


def _places(groups: Positions, n: int) -> tuple[Positions, ...]:
    order = np.argsort(groups, kind="stable")
    edges = np.searchsorted(groups[order], np.arange(n + 1))
    return tuple(order[low:high] for low, high in pairwise(edges))


def _thinned(groups: Sequence[Positions], weights: Array, most: int, seed: int) -> Positions:
    rng = np.random.default_rng(seed)
    chosen = [_drawn(places, weights[places], most, rng) for places in groups]
    return np.sort(np.concatenate(chosen)) if chosen else np.zeros(0, dtype=np.int64)


def _drawn(places: Positions, weights: Array, most: int, rng: np.random.Generator) -> Positions:
    if len(places) <= most:
        return places
    # Exponential races: a draw without replacement in proportion to the weights (Efraimidis & Spirakis 2006).
    race = rng.exponential(size=len(places)) / np.maximum(weights, 1e-12)
    return places[np.argsort(race, kind="stable")[:most]]


def make_history(
    algorithm: str,
    metric: str,
    *,
    datasets: Sequence[str],
    groups: Positions,
    configs: Sequence[Config],
    scores: Array,
    metafeatures: pd.DataFrame | Mapping[str, Mapping[str, float]] | None = None,
    names: Sequence[str] | None = None,
    facts: Sequence[Facts | None] | None = None,
    weights: Array | None = None,
    seconds: Array | None = None,
    reference: Array | None = None,
    n_rows: Array | None = None,
    runs: Sequence[str] | None = None,
    log: Iterable[str] = (),
    space: Space | None = None,
    most_per_dataset: int | None = 100,
    revision: str = "",
    left_out: Sequence[str] = (),
    notes: Sequence[str] = (),
    seed: int = 0,
) -> RunHistory:
    """Return a history from plain sequences; at most `most_per_dataset` runs of each data set are encoded.

    `metafeatures` has a row for each data set; a data set without one is described by missing values. With a `space`,
    columns cover it, also where no run has been. Without `n_rows`, runs are on all rows of their data sets.
    """
    unknown = np.full(len(scores), np.nan)
    table = metafeatures if isinstance(metafeatures, pd.DataFrame) else pd.DataFrame(metafeatures or {}).T
    table = table.reindex(list(datasets)).astype(np.float64)
    known_facts = tuple(facts) if facts is not None else tuple(facts_of(row) for _, row in table.iterrows())
    weights = np.ones(len(scores)) if weights is None else weights
    if n_rows is None:
        n_rows = table["NumberOfInstances"].to_numpy(np.float64)[groups] if "NumberOfInstances" in table else unknown
    places = _places(groups, len(datasets))
    spread = np.array([float(scores[own].std()) if len(own) else 0.0 for own in places])
    # Targets are made of all runs, but only those that are kept become configurations: memory stays bounded.
    kept = np.arange(len(scores))
    if most_per_dataset is not None:
        kept = _thinned(places, weights, most_per_dataset, seed)
    raw = RunHistory(
        algorithm=algorithm,
        metric=metric,
        revision=revision,
        datasets=tuple(datasets),
        names=tuple(names if names is not None else datasets),
        encoder=Encoder(unit=True, log=log),
        groups=groups[kept],
        configs=tuple(configs[place] for place in kept.tolist()),
        rows=np.zeros((len(kept), 0)),
        scores=scores[kept],
        standard=within_groups(scores, groups, standardised)[kept],
        normal=within_groups(scores, groups, normal_scores)[kept],
        spread=spread,
        weights=weights[kept],
        seconds=(unknown if seconds is None else seconds)[kept],
        reference=(unknown if reference is None else reference)[kept],
        n_rows=n_rows[kept],
        runs=tuple("" if runs is None else runs[place] for place in kept.tolist()),
        metafeatures=table,
        facts=known_facts,
        left_out=tuple(left_out),
        notes=tuple(notes),
    )
    return encoded(raw, space)


def encoded(history: RunHistory, space: Space | None = None) -> RunHistory:
    """Return the history with an encoder fitted to its configurations (and to a space), and their rows."""
    if history.is_empty and space is None:
        return history
    known = all(fact is not None for fact in history.facts)
    facts = [fact for k in history.groups if (fact := history.facts[k]) is not None] if known else None
    encoder = Encoder(unit=True, log=history.encoder.log).fit(history.configs, facts, space)
    return replace(history, encoder=encoder, rows=encoder.transform(history.configs, facts))


def facts_of(metafeatures: Mapping[str, float] | pd.Series) -> Facts | None:
    """Return the size of a data set from OpenML's qualities, which count the target as a feature; None if unknown.

    >>> facts_of({"NumberOfInstances": 150.0, "NumberOfFeatures": 5.0, "NumberOfClasses": 3.0})
    Facts(n_rows=150, n_columns=4, n_classes=3)
    """
    n_rows = float(metafeatures.get("NumberOfInstances", np.nan))
    n_features = float(metafeatures.get("NumberOfFeatures", np.nan))
    n_classes = float(metafeatures.get("NumberOfClasses", np.nan))
    if not (np.isfinite(n_rows) and np.isfinite(n_features)):
        return None
    return Facts(int(n_rows), max(int(n_features) - 1, 1), int(n_classes) if np.isfinite(n_classes) else 0)
