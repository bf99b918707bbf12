"""Compares openings by the held-out loss of the final ensemble, on all data sets with kept predictions.

A search is a look-up: an opening says in which order recorded configurations are evaluated, a budget (evaluations or
recorded seconds) how many, a rule and layers what the final model is made of. Each data set is left out of what its
opening learns, with its near-duplicates.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import product

import numpy as np
import pandas as pd

from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.laboratory.ensembles.judge import held_out_loss, selection_rule
from metaml.laboratory.ensembles.kept_runs import KeptRuns, kept_runs
from metaml.laboratory.ensembles.openings import Store, check_opening, order
from metaml.metalearning.fidelity import fingerprint_of
from metaml.metalearning.near_duplicates import near_duplicates
from metaml_kb import KnowledgeBase

CLIP = 0.1
"""Log ratios of losses are clipped at 10 %: a mean must not hang on one data set that is solved by one algorithm."""
EQUAL = 1e-9
LEAST_DATASETS = 3
COLUMNS = ("opening", "rule", "layers", "budget", "data sets", "difference", "± error", "median", "won", "lost")


@dataclass(frozen=True)
class Way:
    """One way to search: an opening, and what the final model is made of."""

    opening: str
    rule: str = "selected"
    n_layers: int = 1

    def __str__(self) -> str:
        layers = "" if self.n_layers == 1 else f", {self.n_layers} layers"
        return f"{self.opening} ({self.rule}{layers})"


@dataclass(frozen=True)
class SearchLimit:
    """When a search ends: after so many evaluations, or so many seconds of its runs."""

    evaluations: int | None = None
    seconds: float | None = None

    def __str__(self) -> str:
        return f"{self.evaluations} evaluations" if self.seconds is None else f"{self.seconds:g} s"


@dataclass(frozen=True, eq=False)
class EnsembleStudy:
    """What each way lost on each data set with each budget.

    `losses` has the columns dataset, name, rows, opening, rule, layers, budget, loss (a logarithm) and n (evaluations).
    `table` compares them with the first way; differences are in per cent of the loss, negative is better.

    >>> nothing = pd.DataFrame()
    >>> EnsembleStudy(losses=nothing, table=nothing).table.empty
    True
    """

    losses: pd.DataFrame
    table: pd.DataFrame


def relatives_of(kb: KnowledgeBase, families: Sequence[Collection[str]] = ()) -> dict[str, set[str]]:
    """Return, for each data set, the fingerprints of its near-duplicates and of its family, itself included.

    `families` are groups of names that are related in ways that nobody sees from their sizes.
    """
    known, described = kb.datasets(), kb.metafeatures()
    names = dict(zip(known["fingerprint"], known["name"], strict=True))
    found = {}
    for fingerprint, name in names.items():
        gone = near_duplicates(known, described, [str(fingerprint)])
        related = {member for family in families if name in family for member in family}
        found[str(fingerprint)] = gone | {str(other) for other, called in names.items() if called in related}
    return found


def study_ensembles(
    kb: KnowledgeBase,
    ways: Sequence[Way],
    budgets: Sequence[SearchLimit],
    *,
    metric: str | None = None,
    datasets: Collection[str] = (),
    families: Sequence[Collection[str]] = (),
    n_seeds: int = 3,
) -> EnsembleStudy:
    """Return how the ways compare on the data sets of a knowledge base whose predictions were kept.

    `datasets` limits on which they are judged, not what openings learn from. Random openings are drawn `n_seeds` times.
    Raises `BadRequest` if fewer than three data sets are left.
    """
    kept = kept_runs(kb, metric=metric)
    relatives = relatives_of(kb, families)
    stores: dict[str, list[KeptRuns]] = {}
    for item in kept:
        # Levels have no unit, so two and more classes teach one another whatever they are scored by.
        stores.setdefault("numbers" if item.task == "regression" else "classes", []).append(item)
    rows: list[dict[str, object]] = []
    for items in stores.values():
        if len(items) >= LEAST_DATASETS:
            store = Store(items, relatives)
            for k, item in enumerate(items):
                if not datasets or {item.name, fingerprint_of(item.dataset)} & set(datasets):
                    rows += _rows_of(store, k, ways, budgets, n_seeds)
    if len({row["dataset"] for row in rows}) < LEAST_DATASETS:
        raise BadRequest(
            f"{kb.name} has kept predictions of {len(kept)} data sets, and of fewer than {LEAST_DATASETS} of one kind. "
            "Make more with: metaml bot FOLDER --keep-predictions"
        )
    losses = pd.DataFrame(rows)
    return EnsembleStudy(losses, compared(losses, ways[0]))


def _rows_of(
    store: Store, k: int, ways: Sequence[Way], budgets: Sequence[SearchLimit], n_seeds: int
) -> list[dict[str, object]]:
    item, judged = store.kept[k], {}
    rows: list[dict[str, object]] = []
    for way, budget in product(ways, budgets):
        losses, numbers = [], []
        for seed in range(n_seeds if way.opening.startswith("random") else 1):
            most = budget.evaluations or len(store.keys)
            rng = np.random.default_rng((k, seed))
            asked = order(store, k, way.opening, n=most, budget=budget.seconds, rng=rng)
            places = _within(item, [int(store.places[k, place]) for place in asked], budget.seconds)
            key = (frozenset(places), way.rule, way.n_layers)
            if key not in judged:
                judged[key] = held_out_loss(item, sorted(places), rule=way.rule, n_layers=way.n_layers)
            losses.append(judged[key])
            numbers.append(len(places))
        rows.append(
            {
                "dataset": item.dataset,
                "name": item.name,
                "rows": int(item.metafeatures["NumberOfInstances"]),
                "opening": way.opening,
                "rule": way.rule,
                "layers": way.n_layers,
                "budget": str(budget),
                "loss": float(np.mean(losses)),
                "n": float(np.mean(numbers)),
            }
        )
    return rows


def _within(item: KeptRuns, places: Sequence[int], seconds: float | None) -> list[int]:
    """Return the evaluations that end in time, at least one."""
    if seconds is None:
        return list(places)
    finished = np.cumsum(item.seconds[list(places)])
    return list(places[: max(int(np.searchsorted(finished, seconds, side="right")), 1)])


def compared(losses: pd.DataFrame, reference: Way) -> pd.DataFrame:
    """Return each way against the reference: mean difference of clipped log losses, median, and data sets won."""
    keys = ["opening", "rule", "layers"]
    wide = losses.pivot_table(index="dataset", columns=[*keys, "budget"], values="loss")
    rows = []
    for budget in losses["budget"].unique():
        base = wide[(reference.opening, reference.rule, reference.n_layers, budget)]
        for opening, rule, layers in losses[keys].drop_duplicates().itertuples(index=False, name=None):
            gap: Floats = (wide[(opening, rule, layers, budget)] - base).dropna().to_numpy(np.float64)
            clipped = np.clip(gap, -CLIP, CLIP)
            error = clipped.std(ddof=1) / np.sqrt(len(clipped)) if len(clipped) > 1 else np.nan
            numbers = [100 * clipped.mean(), 100 * error, 100 * float(np.median(gap))]
            won_and_lost = [int((gap < -EQUAL).sum()), int((gap > EQUAL).sum())]
            rows.append(
                [opening, rule, layers, budget, len(gap), *(round(float(x), 2) for x in numbers), *won_and_lost]
            )
    return pd.DataFrame(rows, columns=list(COLUMNS))


def ways_named(openings: Sequence[str], rules: Sequence[str], layers: Sequence[str]) -> list[Way]:
    """Return all combinations; the first of each list make the reference. BadRequest for what does not exist.

    >>> [str(way) for way in ways_named(["levels", "random"], ["selected"], ["1"])]
    ['levels (selected)', 'random (selected)']
    """
    for opening in openings:
        check_opening(opening)
    for rule in rules:
        selection_rule(rule)
    if not (openings and rules and layers) or not set(layers) <= {"1", "2"}:
        raise BadRequest(f"--layers is 1, 2 or 1,2, not {','.join(layers)!r}; name an opening and a rule, too.")
    return [Way(opening, rule, int(n)) for rule, n, opening in product(rules, layers, openings)]


def budgets_named(evaluations: Sequence[str], seconds: Sequence[str]) -> list[SearchLimit]:
    """Return budgets from words such as 5 and 10; BadRequest for what is no positive number.

    >>> [str(budget) for budget in budgets_named(["5"], ["2.5"])]
    ['5 evaluations', '2.5 s']
    """
    try:
        found = [SearchLimit(evaluations=int(word)) for word in evaluations] + [
            SearchLimit(seconds=float(word)) for word in seconds
        ]
    except ValueError:
        words = ", ".join([*evaluations, *seconds])
        raise BadRequest(f"Budgets are numbers, not {words!r}. Give them as 3,5,10.") from None
    if not found or any((budget.evaluations or budget.seconds or 0) <= 0 for budget in found):
        raise BadRequest("A budget must be above 0. Give budgets as 3,5,10.")
    return found
