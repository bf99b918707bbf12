"""Component-wise boosting under way: in each round, the base learner that fits the gradient best moves its effect.

Several scores may be boosted at once: one for a number or two classes, one per class for more, one per parameter of a
distribution. Bühlmann and Hothorn (2007), "Boosting algorithms: regularization, prediction and model fitting".
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from metaml.algorithms.componentwise.base_learners import (
    BaseLearner,
    LearnerSet,
    Splines,
    Step,
    base_learners_of,
)
from metaml.algorithms.componentwise.effects import Effect, Term
from metaml.algorithms.componentwise.grids import value_grid
from metaml.arrays import Array, Flags, Floats

MOST_PAIRED, PAIR_POINTS, MOST_LEVELS = 8, 8, 16
"""Pairs are sought among so many strongest columns, with so many points or levels each."""

Totals = dict[int, Floats]
"""What each term adds so far (codes × outputs)."""


def terms_of(Z: Array, is_category: Flags) -> list[Term]:
    """Return a term for each column of a matrix."""
    return [
        Term((place,), (value_grid(Z[:, place], is_category=bool(flag)),)) for place, flag in enumerate(is_category)
    ]


class Ensemble:
    """The effects of an additive model while they grow, and the scores that they give the training rows.

    `scores` (rows × outputs) begin with the `intercept`. `weight` are weights of the rows with a mean of 1. With
    `shadows`, a generator of random numbers, each base learner competes with a copy on shuffled rows (probing).
    `terms` and their `splines` are given where several samples of the same rows are fitted.
    """

    def __init__(
        self,
        Z: Array,
        is_category: Flags,
        weight: Floats,
        intercept: Floats,
        *,
        curves: bool = True,
        shadows: np.random.Generator | None = None,
        terms: Sequence[Term] | None = None,
        splines: Splines | None = None,
    ) -> None:
        self.Z, self.weight, self.intercept = Z, weight, intercept
        self.terms = terms_of(Z, is_category) if terms is None else list(terms)
        self.codes = [term.codes(Z) for term in self.terms]
        self.learners = base_learners_of(self.terms, self.codes, weight, curves=curves, splines=splines)
        self.totals: Totals = {}
        self.scores: Floats = np.tile(intercept, (len(Z), 1))
        self._is_category, self._shadows = is_category, shadows
        self._set = self._all_learners()

    def best(self, gradient: Floats) -> Step | None:
        """Return the step that fits a negative gradient (rows × outputs) best, also of a shadow; None if it is 0."""
        return self._set.best(self.weight[:, None] * gradient)

    def is_shadow(self, step: Step) -> bool:
        """Return whether a step is that of a shuffled copy."""
        return step.learner >= len(self.learners)

    def at_rows(self, step: Step) -> Floats:
        """Return the values of a step, also of a shadow, at the training rows (rows × outputs)."""
        return np.asarray(step.values[self._set.codes[self._set.learners[step.learner].term]])

    def term_of(self, step: Step) -> int:
        """Return the term that a step moves."""
        return self.learners[step.learner].term

    def take(self, values: Floats, term: int, shift: Floats | float = 0.0) -> None:
        """Add values at each code of a term (codes × outputs) to its effect, and a shift to the intercept."""
        self.scores += values[self.codes[term]] + shift
        self.intercept = self.intercept + shift
        self.totals[term] = values + self.totals[term] if term in self.totals else values

    def effects(self, totals: Totals) -> tuple[Effect, ...]:
        """Return effects as a model keeps them, the strongest first."""
        found = [Effect(self.terms[term], values) for term, values in totals.items()]
        return tuple(sorted(found, key=lambda effect: -float(np.ptp(effect.values, axis=0).max())))

    def add_pairs(self, gradient: Floats, n_pairs: int) -> None:
        """Let the pairs of strong columns that fit a gradient best compete from now on."""
        strength = {term: float(np.ptp(values, axis=0).max()) for term, values in self.totals.items()}
        strongest = [term for term in sorted(strength, key=lambda term: -strength[term]) if self._can_pair(term)]
        columns = [self.terms[term].columns[0] for term in strongest[:MOST_PAIRED]]
        coarse = {
            column: value_grid(self.Z[:, column], is_category=bool(self._is_category[column]), most=PAIR_POINTS)
            for column in columns
        }
        offered = [Term(pair, (coarse[pair[0]], coarse[pair[1]])) for pair in combinations(sorted(coarse), 2)]
        codes = [term.codes(self.Z) for term in offered]
        learners = base_learners_of(offered, codes, self.weight)
        for _ in range(n_pairs):
            step = LearnerSet(learners, codes).best(self.weight[:, None] * gradient) if learners else None
            if step is None:
                break
            learner = learners.pop(step.learner)
            self.learners.append(BaseLearner(len(self.terms), learner.kind, learner.basis, learner.shrinkage))
            self.terms.append(offered[learner.term])
            self.codes.append(codes[learner.term])
        self._set = self._all_learners()

    def _can_pair(self, term: int) -> bool:
        return not self._is_category[self.terms[term].columns[0]] or self.terms[term].n_codes <= MOST_LEVELS

    def _all_learners(self) -> LearnerSet:
        """Return the base learners, followed by those of the shadows if there are any."""
        if self._shadows is None:
            return LearnerSet(self.learners, self.codes)
        n_terms = len(self.terms)
        copies = [
            BaseLearner(learner.term + n_terms, learner.kind, learner.basis, learner.shrinkage)
            for learner in self.learners
        ]
        shuffled = [self._shadows.permutation(coded) for coded in self.codes]
        return LearnerSet([*self.learners, *copies], [*self.codes, *shuffled])
