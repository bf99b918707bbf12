"""Surrogates that judge candidates together: each ranks them by its own rule, and the ranks are averaged."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from metaml.acquisition import COST_ACQUISITIONS, Rule, rule_named
from metaml.arrays import Floats
from metaml.errors import BadRequest
from metaml.surrogates import SURROGATES, Surrogate
from metaml.surrogates.base import Prediction
from metaml.surrogates.duration import Duration

DIGITS, SMALLEST = 9, 1e-200


@dataclass(frozen=True)
class Expert:
    """A surrogate and the rule its predictions are read by.

    The incumbent is the best score or, with `is_noisy`, the best mean that the surrogate predicts. Then a lucky score
    is not a bar that nothing can pass.
    """

    surrogate: str
    acquisition: str
    is_noisy: bool = False
    weight: float = 1.0


@dataclass(frozen=True)
class Belief:
    """What was expected of one row: its score, the uncertainty, and its seconds if a cost rule needs them."""

    score: float
    std: float
    seconds: float | None


class Committee:
    """Experts fitted to the same runs. With one expert, its own values decide; with more, the mean of their ranks.

    Under a cost rule each expert uses that rule in place of its own, with seconds from a model of durations.
    """

    name = "committee"

    def __init__(self, experts: tuple[Expert, ...], *, cost: str | None = None) -> None:
        for expert in experts:
            _check("surrogate", expert.surrogate, SURROGATES)
        if cost is not None:
            _check("cost rule", cost, COST_ACQUISITIONS)
        self.experts = experts
        self.cost = cost
        self._rules = [rule_named(expert.acquisition) for expert in experts]
        self._made = [SURROGATES[expert.surrogate](0) for expert in experts]

    def fit(self, X: Floats, y: Floats, seconds: Floats, seed: int) -> Self:
        """Fit every expert to rows, scores and, where known, seconds (NaN = unknown)."""
        for surrogate in self._made:
            if hasattr(surrogate, "seed"):
                surrogate.seed = seed
            surrogate.fit(X, y)
        self._scores = np.sort(y)
        self._scaled = [np.sort(surrogate.scaled(y)) for surrogate in self._made]
        self._standings = [
            standing_of(surrogate, rule, X, y, is_noisy=expert.is_noisy)
            for expert, rule, surrogate in zip(self.experts, self._rules, self._made, strict=True)
        ]
        self._duration = None
        known = np.isfinite(seconds)
        if self.cost is not None and known.any():
            self._duration = Duration(seed=seed).fit(X[known], seconds[known])
        return self

    def parts(self, X: Floats) -> Floats:
        """Return each expert's prediction for each row (mean, std, upper), and its seconds in the last column.

        The value of a row may depend on all candidate rows: a cost rule uses their medians.
        """
        seconds = np.full(len(X), np.nan) if self._duration is None else self._duration.predict(X)
        columns = []
        for surrogate in self._made:
            believed = surrogate.predict(X)
            columns += [believed.mean, believed.std, believed.upper]
        return np.column_stack([*columns, seconds])

    def values(self, parts: Floats) -> Floats:
        """Return one value per row: the only expert's, or the weighted mean of all experts' ranks in [0, 1]."""
        beliefs = [Prediction(*parts.T[3 * k : 3 * k + 3]) for k in range(len(self.experts))]
        each = [settled(self._value(k, belief, parts[:, -1])) for k, belief in enumerate(beliefs)]
        if len(each) == 1:
            return each[0]
        return self._mean_ranks(each)

    def bounds(self, parts: Floats, width: float) -> Floats:
        """Return the confidence bound of each row, `width` deviations above its mean; of several experts, mean ranks.

        With different widths, one fitted committee proposes different rows (qLCB, Hutter et al. 2012).
        """
        each = [settled(parts[:, 3 * k] + width * parts[:, 3 * k + 1]) for k in range(len(self.experts))]
        return each[0] if len(each) == 1 else self._mean_ranks(each)

    def _mean_ranks(self, each: Sequence[Floats]) -> Floats:
        total = np.zeros(len(each[0]))
        for column, expert in zip(each, self.experts, strict=True):
            total += expert.weight * mean_ranks(column)
        return total / sum(expert.weight for expert in self.experts)

    def believe(self, row: Floats) -> Belief:
        """Return the first expert's expectation of one row, in the unit of the scores."""
        X = row[np.newaxis]
        prediction = self._made[0].predict(X)
        levels = prediction.mean[0] + np.array([0.0, 1.0]) * prediction.std[0]
        if np.array_equal(self._scaled[0], self._scores):
            score, std = float(levels[0]), float(prediction.std[0])
        else:
            back = np.interp(levels, self._scaled[0], self._scores)
            score, std = float(back[0]), float(back[1] - back[0])
        seconds = None if self._duration is None else float(self._duration.predict(X)[0])
        return Belief(score, std, seconds)

    def _value(self, k: int, prediction: Prediction, seconds: Floats) -> Floats:
        incumbent, noise = self._standings[k]
        if self.cost is not None and self._duration is not None:
            return COST_ACQUISITIONS[self.cost](prediction, incumbent, seconds)
        return self._rules[k](prediction, incumbent, noise=noise)


def standing_of(surrogate: Surrogate, rule: Rule, X: Floats, y: Floats, *, is_noisy: bool) -> tuple[float, float]:
    """Return the incumbent of a rule, and the noise of the scores, both in the scale of a fitted surrogate.

    The noise is the root mean square of what the surrogate leaves unexplained.
    """
    scaled = surrogate.scaled(y)
    if rule.incumbent is None and not is_noisy:
        return float(scaled.max()), 0.0
    seen = surrogate.predict(X)
    noise = float(np.sqrt(np.mean((scaled - seen.mean) ** 2)))
    return (float(seen.mean.max()) if rule.incumbent is None else rule.incumbent(seen)), noise


def settled(values: Floats) -> Floats:
    """Return values without their last digits, which differ between threads and machines.

    Values that differ only there become ties. The seeded random numbers of a search break ties the same way each time.

    >>> settled(np.array([0.5, 0.5 + 1e-15, 0.25])).tolist()
    [0.5, 0.5, 0.25]
    """
    scale = np.abs(values[np.isfinite(values)]).max(initial=0.0)
    if scale < SMALLEST:
        return values
    rounded: Floats = np.round(values, DIGITS - int(np.floor(np.log10(scale))))
    return rounded


def mean_ranks(values: Floats) -> Floats:
    """Return ranks scaled to [0, 1], ties sharing the mean of theirs.

    >>> mean_ranks(np.array([3.0, 1.0, 1.0])).tolist()
    [1.0, 0.25, 0.25]
    """
    _, position, counts = np.unique(values, return_inverse=True, return_counts=True)
    middle = np.cumsum(counts) - (counts + 1) / 2
    ranks: Floats = middle[position] / max(len(values) - 1, 1)
    return ranks


def _check(what: str, name: str, known: Iterable[str]) -> None:
    names = list(known)
    if name not in names:
        raise BadRequest(f"No {what} is named {name!r}. Choose one of {', '.join(names)}.")
