"""Openings: in which order the recorded configurations are evaluated on a data set, learnt from all others.

Every opening begins with the defaults of a search; with only the first of them if its name ends in "/one", and with
none if it ends in "/free". `levels` is the portfolio for the best single model, `families` the one for the ensemble by
levels and families, `ensemble` the one by kept predictions.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property

import numpy as np
import pandas as pd

from metaml.acquisition.candidates import key_of
from metaml.algorithms import ALGORITHMS
from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.laboratory.ensembles.kept_runs import KeptRuns
from metaml.laboratory.ensembles.losses import EnsembleLosses, ensemble_order
from metaml.metalearning.fidelity import fingerprint_of
from metaml.metalearning.initial_design import InitialDesign, data_set_weights
from metaml.metalearning.portfolio import SIMILARITY_FEATURES, AlgorithmConfig, Portfolio, stretched
from metaml.search.defaults import FIRST_DEFAULTS

LEAST_SHARE = 0.25
"""A candidate is known if it was run on at least this share of the data sets of its kind."""
RIDGE = 1.0
N_DEFAULTS = {"/free": 0, "/one": 1}
"""How many defaults come first, by the end of an opening's name; without one, all that a search begins with."""


class Store:
    """All data sets of one kind of task and metric with kept predictions, as openings learn from them.

    `relatives` has, for each data set, the fingerprints of those that must not teach about it, itself included.
    """

    def __init__(self, kept: Sequence[KeptRuns], relatives: Mapping[str, Collection[str]]) -> None:
        self.kept = tuple(kept)
        self.relatives = {name: set(gone) for name, gone in relatives.items()}
        counts: dict[tuple[str, str], int] = {}
        configs: dict[tuple[str, str], AlgorithmConfig] = {}
        for item in self.kept:
            for name, config in item.candidates:
                key = (name, key_of(config))
                counts[key] = counts.get(key, 0) + 1
                configs.setdefault(key, (name, config))
        self.keys = tuple(key for key, n in counts.items() if n >= LEAST_SHARE * len(self.kept))
        self.candidates = tuple(configs[key] for key in self.keys)
        self.places = np.array([self._places_of(item) for item in self.kept]).reshape(len(self.kept), len(self.keys))

    def _places_of(self, item: KeptRuns) -> list[int]:
        own = {(name, key_of(config)): place for place, (name, config) in enumerate(item.candidates)}
        return [own.get(key, -1) for key in self.keys]

    @cached_property
    def losses(self) -> EnsembleLosses:
        """Return what any set of candidates loses on each data set, computed when it is asked for."""
        return EnsembleLosses(self.kept, self.places)

    def others(self, k: int) -> list[int]:
        """Return the data sets (positions) that may teach about the one at position `k`."""
        gone = self.relatives.get(fingerprint_of(self.kept[k].dataset), set()) | {fingerprint_of(self.kept[k].dataset)}
        return [j for j, item in enumerate(self.kept) if fingerprint_of(item.dataset) not in gone]

    def portfolio(self, datasets: Sequence[int]) -> Portfolio:
        """Return the candidates with their levels and costs on these data sets (positions)."""
        items = [self.kept[j] for j in datasets]
        places = self.places[list(datasets)]
        known = places >= 0
        scores = np.array([item.scores[row] for item, row in zip(items, places, strict=True)])
        seconds = np.array([item.seconds[row] for item, row in zip(items, places, strict=True)])
        table = pd.DataFrame([dict(item.metafeatures) for item in items], index=[item.dataset for item in items])
        return Portfolio(
            candidates=self.candidates,
            names={item.dataset: item.name for item in items},
            levels=stretched(np.where(known, scores, np.nan)),
            costs=_costs(np.where(known, seconds, np.nan), [item.metafeatures for item in items]),
            metafeatures=table.reindex(columns=list(SIMILARITY_FEATURES)),
            n_taught=len(items),
            most_rows=float(max(item.metafeatures["NumberOfInstances"] for item in items)),
        )

    def design(self, k: int, *, for_ensemble: bool) -> InitialDesign:
        """Return the initial design that a search on the data set at position `k` would have."""
        item = self.kept[k]
        here = [self.candidates[place] for place in np.flatnonzero(self.places[k] >= 0)]
        known = {(name, key_of(config)) for name, config in here}
        return InitialDesign(
            self.portfolio(self.others(k)),
            item.metafeatures,
            algorithms=tuple(ALGORITHMS),
            is_valid=lambda name, config: (name, key_of(config)) in known,
            n_rows=item.metafeatures["NumberOfInstances"],
            reference_seconds=1.0,
            for_ensemble=for_ensemble,
        )

    def defaults(self, k: int) -> list[int]:
        """Return the candidates (positions) that every search begins with."""
        task = self.kept[k].task
        wanted = [(name, key_of(ALGORITHMS[name].space(task).default())) for name in FIRST_DEFAULTS]
        return [
            self.keys.index(key) for key in wanted if key in self.keys and self.places[k, self.keys.index(key)] >= 0
        ]


def _costs(seconds: Floats, described: Sequence[Mapping[str, float]]) -> Floats:
    """Return, for each candidate, coefficients of log seconds: common slopes and an intercept of its own."""
    sizes = np.array(
        [
            [
                np.log(max(float(row.get("NumberOfInstances", 1.0)), 1.0)),
                np.log(max(float(row.get("NumberOfFeatures", 2.0)) - 1, 1.0)),
                np.log(max(float(row.get("NumberOfClasses", 1.0)), 1.0)),
            ]
            for row in described
        ]
    )
    sizes = np.nan_to_num(sizes)
    logs = np.log(np.maximum(seconds, 1e-4))
    with np.errstate(invalid="ignore"):
        usual = np.nanmean(logs, axis=0)
        typical = np.nan_to_num(np.nanmean(logs - usual, axis=1))
    centred = sizes - sizes.mean(axis=0)
    towards = np.array([1.0, 1.0, 0.5])
    slopes = towards + np.linalg.solve(
        centred.T @ centred + RIDGE * np.eye(3), centred.T @ (typical - centred @ towards)
    )
    slopes = np.maximum(slopes, 0.0)
    intercepts = np.nan_to_num(usual, nan=float(np.nanmean(usual))) - sizes.mean(axis=0) @ slopes
    return np.column_stack([intercepts, np.tile(slopes, (len(intercepts), 1))])


Opening = Callable[[Store, int, int, float | None, np.random.Generator], list[int]]
"""Returns `n` candidates (positions in the store) for the data set at position `k`, after those given."""


def _random(store: Store, k: int, n: int, budget: float | None, rng: np.random.Generator) -> list[int]:  # noqa: ARG001
    return [int(place) for place in rng.permutation(np.flatnonzero(store.places[k] >= 0))]


def _designed(store: Store, k: int, n: int, budget: float | None, given: list[int], *, for_ensemble: bool) -> list[int]:
    first = store.design(k, for_ensemble=for_ensemble).first(
        n, given=[store.candidates[place] for place in given], budget_seconds=budget, is_filled=True
    )
    return [store.keys.index((item.algorithm, key_of(item.config))) for item in first]


def check_opening(name: str) -> None:
    """Raise BadRequest if there is no opening of this name."""
    _parts(name)


def _parts(opening: str) -> tuple[str, int | None]:
    """Return the rule of an opening, and how many defaults come first: None means all."""
    name, slash, end = opening.partition("/")
    if name not in OPENINGS or slash + end not in ("", *N_DEFAULTS):
        ends = " or ".join(N_DEFAULTS)
        raise BadRequest(f"There is no opening {opening!r}. Choose among: {', '.join(OPENINGS)}; {ends} may follow.")
    return name, N_DEFAULTS.get(slash + end)


def order(store: Store, k: int, opening: str, *, n: int, budget: float | None, rng: np.random.Generator) -> list[int]:
    """Return the first `n` candidates (positions) that an opening evaluates on the data set at position `k`."""
    name, n_defaults = _parts(opening)
    given = store.defaults(k)[:n_defaults]
    if name == "random":
        found = _random(store, k, n, budget, rng)
    elif name == "ensemble":
        others = store.others(k)
        weights = data_set_weights(store.portfolio(others).metafeatures, store.kept[k].metafeatures)
        found = ensemble_order(store.losses, others, weights, n, given=given, usable=store.places[k] >= 0)
    else:
        found = _designed(store, k, n, budget, given, for_ensemble=name == "families")
    # Where too few data sets teach anything, chance goes on.
    return list(dict.fromkeys([*given, *found, *_random(store, k, n, budget, rng)]))[:n]


OPENINGS = ("levels", "families", "ensemble", "random")
