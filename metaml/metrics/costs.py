"""Costs of errors: a metric that knows what each error costs, and the decisions that cost the least."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from metaml.arrays import Array, Floats, Positions
from metaml.errors import BadRequest
from metaml.metrics.base import Metric, Weight, mean_over_rows

PREFIX = "neg_cost"
ORDINARY_COST = 1.0
LEAST_FACTOR = 1e-6
"""What a class weighs whose errors cost nothing: it is predicted where nothing else is possible."""


@dataclass(frozen=True, eq=False)
class Costs:
    """What each error costs: `matrix` has true classes as rows and decisions as columns, in the order of `labels`.

    The decision on a row is the class with the least expected cost. The score is the negative mean cost of a row.
    """

    labels: tuple[str, ...]
    matrix: Floats

    @classmethod
    def of(cls, given: Mapping[tuple[str, str], float], labels: Sequence[str]) -> Costs:
        """Return the costs of these pairs (true class, decision); another error costs 1, what is right nothing."""
        names = tuple(labels)
        matrix = ORDINARY_COST * (1 - np.eye(len(names)))
        for (true, decided), cost in given.items():
            for name in (true, decided):
                if name not in names:
                    raise BadRequest(
                        f"There is no class {name!r} to give a cost for. Choose among: {', '.join(names)}."
                    )
            if not (math.isfinite(cost) and cost >= 0):
                raise BadRequest(
                    f"An error cannot cost {cost:g}, as {true!r} taken for {decided!r} does. Give 0 or more."
                )
            if true == decided and cost:
                raise BadRequest(f"What is right costs nothing, so {true!r} taken for itself cannot cost {cost:g}.")
            matrix[names.index(true), names.index(decided)] = cost
        if not matrix.any():
            raise BadRequest("No error costs anything, so all models are as good. Give an error a cost above 0.")
        return cls(names, matrix)

    @property
    def factors(self) -> tuple[float, ...]:
        """Return what each probability is multiplied with before the largest decides, the largest factor being 1.

        For two classes the decision costs the least if probabilities are right: the theoretical threshold (Elkan 2001;
        Coors 2018, eq. 53). With more, a class weighs as much as its errors cost in the mean.

        >>> Costs.of({("bad", "good"): 10.0}, ["bad", "good"]).factors
        (1.0, 0.1)
        """
        means = self.matrix.sum(axis=1) / (len(self.labels) - 1)
        return tuple(np.maximum(means / means.max(), LEAST_FACTOR).tolist())

    @property
    def name(self) -> str:
        """Return the name of the metric: JSON of what errors cost, the classes in the order of their codes.

        >>> Costs.of({("bad", "good"): 10.0}, ["bad", "good"]).name
        'neg_cost{"bad":{"good":10},"good":{}}'
        """
        told = {
            label: {
                other: int(cost) if float(cost).is_integer() else float(cost)
                for other, cost in zip(self.labels, row, strict=True)
                if other != label and cost != ORDINARY_COST
            }
            for label, row in zip(self.labels, self.matrix, strict=True)
        }
        return PREFIX + json.dumps(told, separators=(",", ":"), ensure_ascii=False)

    def scores(self, truth: Positions, batch: Array) -> Floats:
        """Return the score of each prediction: candidates × rows × classes."""
        decisions = np.argmin(batch @ self.matrix, axis=2)
        return -np.asarray(self.matrix[truth, decisions].mean(axis=1), dtype=np.float64)

    @property
    def metric(self) -> Metric:
        """Return the metric: minus the mean cost of a row."""
        return Metric(
            name=self.name,
            label="mean cost",
            tasks=("binary",) if len(self.labels) == 2 else ("multiclass",),
            needs="labels",
            function=partial(_mean_cost, matrix=self.matrix),
            from_counts=partial(_cost_of_counts, matrix=self.matrix),
            is_loss=True,
            factors=self.factors,
            # What the cheapest error costs: thresholds that save a share of it are worth moving to.
            unit=float(self.matrix[self.matrix > 0].min()),
        )


def costs_named(name: str) -> Costs | None:
    """Return the costs that the name of a metric holds; None if it is the name of another metric.

    >>> costs_named('neg_cost{"bad":{"good":10},"good":{}}').matrix.tolist()
    [[0.0, 10.0], [1.0, 0.0]]
    >>> costs_named("accuracy") is None
    True
    """
    if not name.startswith((PREFIX, "cost")):
        return None
    try:
        told = json.loads(name.removeprefix("neg_").removeprefix("cost"))
        given = {(true, decided): float(cost) for true, errors in told.items() for decided, cost in errors.items()}
    except (ValueError, AttributeError, TypeError):
        return None
    return Costs.of(given, tuple(told)) if len(told) > 1 else None


def costs_in(texts: Iterable[str]) -> dict[tuple[str, str], float]:
    """Return the costs in texts such as "sick:healthy=10, healthy:sick=1", by true class and decision.

    >>> costs_in(["sick:healthy=10, healthy:sick=1"])
    {('sick', 'healthy'): 10.0, ('healthy', 'sick'): 1.0}
    >>> costs_in(["sick>healthy=10"])
    {('sick', 'healthy'): 10.0}
    """
    found = {}
    for text in (part for whole in texts for part in whole.split(",")):
        pair, _, cost = text.rpartition("=")
        true, mark, decided = pair.partition(">" if ">" in pair else ":")
        try:
            found[true.strip(), decided.strip()] = float(cost)
        except ValueError:
            mark = ""
        if not mark:
            raise BadRequest(
                f"--costs {text.strip()!r} is not a cost. Write it as TRUE:DECIDED=COST, such as sick:healthy=10."
            )
    return found


def _mean_cost(truth: Array, labels: Array, weight: Weight = None, *, matrix: Floats) -> float:
    return -mean_over_rows(matrix[truth, labels], weight)


def _cost_of_counts(tables: Floats, matrix: Floats) -> Floats:
    n = tables.shape[-1]
    return -np.asarray((tables * matrix[:n, :n]).sum(axis=(-2, -1)) / tables.sum(axis=(-2, -1)))
