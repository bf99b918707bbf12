"""What a search is judged by if it is no metric of the list: what errors cost, or a function of the user's own."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from metaml.data import Dataset
from metaml.data.cells import text_of
from metaml.errors import BadRequest
from metaml.metrics import Metric, known
from metaml.metrics.costs import Costs, costs_in
from metaml.metrics.custom import OwnFunction, check_custom, custom_metric
from metaml.search.settings import TuneSettings

GivenCosts = str | Iterable[str] | Mapping[tuple[Any, Any], float]
"""Costs of errors: {("bad", "good"): 10}, or texts such as "bad:good=10,good:bad=1"."""


def judged_by(metric: str | OwnFunction, costs: GivenCosts | None) -> dict[str, Any]:
    """Return the settings for a metric, by name or as a function, and for costs, as people give them.

    >>> judged_by("auto", "bad:good=10")
    {'metric': 'auto', 'own_metric': None, 'costs': (('bad', 'good', 10.0),)}
    """
    told: Mapping[tuple[Any, Any], float] = {}
    if isinstance(costs, Mapping):
        told = costs
    elif costs is not None:
        told = costs_in([costs] if isinstance(costs, str) else costs)
    pairs = tuple((text_of(true), text_of(decided), float(cost)) for (true, decided), cost in told.items())
    if pairs and metric != "auto":
        raise BadRequest("Costs are a metric of their own: a search cannot have both. Leave out --metric or --costs.")
    is_name = isinstance(metric, str)
    return {"metric": metric if is_name else "auto", "own_metric": None if is_name else metric, "costs": pairs}


@contextmanager
def judging(settings: TuneSettings, dataset: Dataset) -> Iterator[TuneSettings]:
    """Yield the settings of a search that name its metric, which is known by that name while the block runs."""
    found = _metric_of(settings, dataset)
    with known(found):
        yield settings if found is None else replace(settings, metric=found.name)


def _metric_of(settings: TuneSettings, dataset: Dataset) -> Metric | None:
    if settings.own_metric is not None:
        found = custom_metric(settings.own_metric, dataset.task, dataset.labels)
        n_classes = 0 if dataset.labels is None else len(dataset.labels)
        check_custom(found, dataset.y, n_classes, dataset.row_weights)
        return found
    if not settings.costs:
        return None
    if dataset.labels is None:
        raise BadRequest(f"Costs are of classes, but {dataset.target!r} is a number. Leave out --costs.")
    given = {(true, decided): cost for true, decided, cost in settings.costs}
    return Costs.of(given, [text_of(label) for label in dataset.labels.tolist()]).metric
