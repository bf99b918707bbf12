"""The runs of one algorithm on many data sets, as arrays. Every part of meta-learning learns from them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Self

import numpy as np
import pandas as pd

from metaml.arrays import Floats, Positions
from metaml.encoding import Encoder, Facts
from metaml.metafeatures import NOT_LEARNT_FROM
from metaml.metalearning.fidelity import fingerprint_of
from metaml.metalearning.scales import normal_scores, standardised, within_groups
from metaml.spaces import Space
from metaml.spaces.config import Config

LEAST_DATASETS = 10
"""With fewer data sets, meta-learning is not used: a covariance over so few data sets means nothing."""
USUAL_FOLDS = 5
"""Seconds are those of this many folds: with fewer, an evaluation takes less time."""


@dataclass(frozen=True, eq=False)
class RunHistory:
    """Runs of one algorithm, scored by one metric (higher is better), on the data sets of a knowledge base.

    `groups` has, for each run, the position of its data set in `datasets`, where a sample of a data set is one of its
    own (see `metaml.metalearning.fidelity`). `standard` and `normal` are the scores on
    the two scales that all data sets share. They are computed from *all* runs of a data set, including runs that were
    later dropped by thinning. `spread` is the standard deviation of each data set's raw scores. `reference` is the
    time, in seconds, of the reference workload on the host that made the run. `seconds` and `reference` are NaN if
    unknown. `n_rows` and `n_folds` are the rows and folds that a run used; folds are NaN if unknown.
    `notes` are sentences for the user about this history.
    """

    algorithm: str
    metric: str
    revision: str
    datasets: tuple[str, ...]
    names: tuple[str, ...]
    encoder: Encoder
    groups: Positions
    configs: tuple[Config, ...]
    rows: Floats
    scores: Floats
    standard: Floats
    normal: Floats
    spread: Floats
    weights: Floats
    seconds: Floats
    reference: Floats
    n_rows: Floats
    n_folds: Floats
    runs: tuple[str, ...]
    metafeatures: pd.DataFrame
    facts: tuple[Facts | None, ...]
    left_out: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def n_datasets(self) -> int:
        """Return the number of data sets; samples of one count one by one."""
        return len(self.datasets)

    @property
    def is_empty(self) -> bool:
        """Return whether there is no run to learn from."""
        return not len(self.scores)

    @cached_property
    def places(self) -> tuple[Positions, ...]:
        """Return for each data set the positions of its runs."""
        return _places(self.groups, self.n_datasets)

    def encode(self, configs: Sequence[Config], facts: Facts | None = None) -> Floats:
        """Return configurations as rows on the unit cube; values that no run had are encoded as unknown."""
        return self.encoder.transform(configs, facts)

    def metafeatures_of(self, k: int) -> dict[str, float]:
        """Return the metafeatures of the data set at position `k`."""
        return {str(name): float(value) for name, value in self.metafeatures.iloc[k].items()}

    def keep(self, datasets: Iterable[int]) -> Self:
        """Return a history of these data sets (positions) only."""
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
        """Return a history of all data sets except these (positions) and other samples of them."""
        gone = {fingerprint_of(self.datasets[k]) for k in datasets}
        return self.keep(k for k, name in enumerate(self.datasets) if fingerprint_of(name) not in gone)

    def thinned(self, most: int, seed: int = 0) -> Self:
        """Return a history of at most `most` runs per data set, drawn at random in proportion to their weights."""
        return self._select(_thinned(self.places, self.weights, most, seed))

    def with_scores(self, scores: Floats) -> Self:
        """Return the same runs with other scores. Used to test what a misleading knowledge base would do."""
        spread = _spreads(scores, self.places)
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
            n_folds=self.n_folds[places],
            runs=tuple(self.runs[k] for k in places),
        )


def _places(groups: Positions, n: int) -> tuple[Positions, ...]:
    order = np.argsort(groups, kind="stable")
    edges = np.searchsorted(groups[order], np.arange(n + 1))
    return tuple(order[low:high] for low, high in pairwise(edges))


def _spreads(scores: Floats, groups: Sequence[Positions]) -> Floats:
    return np.array([float(scores[places].std()) if len(places) else 0.0 for places in groups])


def _thinned(groups: Sequence[Positions], weights: Floats, most: int, seed: int) -> Positions:
    rng = np.random.default_rng(seed)
    chosen = [_drawn(places, weights[places], most, rng) for places in groups]
    return np.sort(np.concatenate(chosen)) if chosen else np.zeros(0, dtype=np.int64)


def _drawn(places: Positions, weights: Floats, most: int, rng: np.random.Generator) -> Positions:
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
    scores: Floats,
    metafeatures: pd.DataFrame | Mapping[str, Mapping[str, float]] | None = None,
    names: Sequence[str] | None = None,
    facts: Sequence[Facts | None] | None = None,
    weights: Floats | None = None,
    seconds: Floats | None = None,
    reference: Floats | None = None,
    n_rows: Floats | None = None,
    n_folds: Floats | None = None,
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

    `metafeatures` has a row for each data set; a data set without one gets missing values. With a `space`, the encoded
    columns cover the whole space, including parts without runs. Without `n_rows`, each run used all rows.
    """
    unknown = np.full(len(scores), np.nan)
    table = _metafeature_table(metafeatures, datasets)
    weights = np.ones(len(scores)) if weights is None else weights
    places = _places(groups, len(datasets))
    # Scales are computed from all runs. Only the runs that are kept are decoded, so memory stays bounded.
    kept = _kept(places, weights, most_per_dataset, seed)
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
        spread=_spreads(scores, places),
        weights=weights[kept],
        seconds=(unknown if seconds is None else seconds)[kept],
        reference=(unknown if reference is None else reference)[kept],
        n_rows=(_all_rows(table, groups) if n_rows is None else n_rows)[kept],
        n_folds=(unknown if n_folds is None else n_folds)[kept],
        runs=tuple("" if runs is None else runs[place] for place in kept.tolist()),
        metafeatures=table,
        facts=tuple(facts_of(row) for _, row in table.iterrows()) if facts is None else tuple(facts),
        left_out=tuple(left_out),
        notes=tuple(notes),
    )
    return encoded(raw, space)


def _metafeature_table(
    metafeatures: pd.DataFrame | Mapping[str, Mapping[str, float]] | None, datasets: Sequence[str]
) -> pd.DataFrame:
    table = metafeatures if isinstance(metafeatures, pd.DataFrame) else pd.DataFrame(metafeatures or {}).T
    known = [name for name in table.columns if name not in NOT_LEARNT_FROM]
    return table[known].reindex(list(datasets)).astype(np.float64)


def _kept(groups: Sequence[Positions], weights: Floats, most: int | None, seed: int) -> Positions:
    return np.arange(len(weights)) if most is None else _thinned(groups, weights, most, seed)


def _all_rows(table: pd.DataFrame, groups: Positions) -> Floats:
    """Return, for each run, the number of rows of its data set; NaN if unknown."""
    if "NumberOfInstances" not in table:
        return np.full(len(groups), np.nan)
    return table["NumberOfInstances"].to_numpy(np.float64)[groups]


def leave_out_parts(datasets: Sequence[str], n_parts: int | None, seed: int = 0) -> Iterator[list[int]]:
    """Yield the data sets (positions) to leave out together: one at a time, or in `n_parts` random parts.

    All samples of a data set are left out together.

    >>> [sorted(part) for part in leave_out_parts(["a", "b@500", "b@2000"], None)]
    [[0], [1, 2]]
    """
    places: dict[str, list[int]] = {}
    for k, name in enumerate(datasets):
        places.setdefault(fingerprint_of(name), []).append(k)
    whole = list(places.values())
    if n_parts is None or n_parts >= len(whole):
        yield from whole
        return
    order = np.random.default_rng(seed).permutation(len(whole))
    yield from ([k for place in part for k in whole[int(place)]] for part in np.array_split(order, n_parts))


def encoded(history: RunHistory, space: Space | None = None) -> RunHistory:
    """Return the history with an encoder fitted to its configurations (and a space), and with encoded rows."""
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
