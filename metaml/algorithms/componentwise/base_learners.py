"""The base learners of a table: a line and a curve for each number, the levels of each category, pairs if wanted.

All of them have one degree of freedom, so that none is chosen only because it bends more (Hofner et al. 2011, "A
framework for unbiased model selection based on boosting"). A base learner is kept in a basis in which its normal matrix
is the identity and its penalty is diagonal: fitting it is then a matrix product.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from metaml.algorithms.componentwise.effects import Term
from metaml.algorithms.componentwise.grids import Codes, Grid
from metaml.arrays import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Kind = Literal["linear", "curve", "levels", "missing", "pair"]

N_KNOTS, FEWEST_CURVED = 12, 3
"""Knots of a curve; its penalty, not their number, says how smooth it is. With fewer points, a line is enough."""
SMALLEST = 1e-9
"""Directions of a basis with a smaller share of the largest eigenvalue count as absent."""


@dataclass(frozen=True, eq=False)
class BaseLearner:
    """One base learner: the term that it reads, its basis at each code, and how each direction shrinks."""

    term: int
    kind: Kind
    basis: Floats
    shrinkage: Floats


class Step(NamedTuple):
    """The base learner that fits best, its values at each code of its term (codes × outputs) and what it gains."""

    learner: int
    values: Floats
    gain: float


Splines = dict[int, Floats]
"""The splines of terms: they are the same for every sample of the rows."""


def base_learners_of(
    terms: Sequence[Term],
    codes: Sequence[Codes],
    weight: Floats,
    *,
    curves: bool = True,
    splines: Splines | None = None,
) -> list[BaseLearner]:
    """Return the base learners of coded terms, given the weight of each row.

    Numbers have a line and, with `curves`, what a line leaves over; categories and pairs have levels. `splines` keeps
    what was computed, for a next sample of the rows with the same terms.
    """
    splines = {} if splines is None else splines
    found: list[BaseLearner | None] = []
    for place, (term, coded) in enumerate(zip(terms, codes, strict=True)):
        mass: Floats = np.bincount(coded, weights=weight, minlength=term.n_codes).astype(np.float64)
        grid = term.grids[0]
        if grid.is_category or len(term.grids) > 1:
            found.append(_levels(place, mass, "levels" if len(term.grids) == 1 else "pair"))
            continue
        if len(grid.points) > 1:
            found.append(_line(place, grid, mass))
            if curves and len(grid.points) >= FEWEST_CURVED:
                if place not in splines:
                    splines[place] = _splines_at(grid)
                found.append(_curve(place, grid, mass, splines[place]))
        if 0 < mass[-1] < mass.sum():
            found.append(_missing(place, mass))
    return [learner for learner in found if learner is not None]


def _levels(term: int, mass: Floats, kind: Kind) -> BaseLearner | None:
    """A level of few rows is shrunk towards the mean: ridge."""
    used = np.flatnonzero(mass > 0)
    if len(used) < 2:
        return None
    design = np.zeros((len(mass), len(used)))
    design[used, np.arange(len(used))] = 1.0
    design[used] -= mass[used] / mass.sum()
    return _learner(term, kind, design, mass, np.eye(len(used)))


def _line(term: int, grid: Grid, mass: Floats) -> BaseLearner | None:
    return _learner(term, "linear", _centred(_scaled(grid.points)[:, None], mass), mass, None)


def _missing(term: int, mass: Floats) -> BaseLearner | None:
    flag = np.zeros((len(mass), 1))
    flag[-1] = 1.0
    return _learner(term, "missing", flag - mass[-1] / mass.sum(), mass, None)


def _splines_at(grid: Grid) -> Floats:
    """Return cubic B-splines at the points of a column (points × splines)."""
    from sklearn.preprocessing import SplineTransformer

    x = _scaled(grid.points)
    n_knots = min(N_KNOTS, len(x) - 1)
    return np.asarray(SplineTransformer(n_knots=max(n_knots, 2), degree=3).fit_transform(x[:, None]))


def _curve(term: int, grid: Grid, mass: Floats, splines: Floats) -> BaseLearner | None:
    """A cubic P-spline (Eilers and Marx 1996) without its line: a curve is chosen only if a line is not enough."""
    second = np.diff(np.eye(splines.shape[1]), n=2, axis=0)
    design = _centred(splines, mass)
    line = _centred(_scaled(grid.points)[:, None], mass)
    known = mass[:, None]
    share = (line * known).T @ design / max(float((line * line * known).sum()), 1e-300)
    return _learner(term, "curve", design - line @ share, mass, second.T @ second)


def _scaled(points: Floats) -> Floats:
    """Return points between 0 and 1, halved first: the range of huge numbers must not overflow."""
    halves = points / 2
    return np.asarray((halves - halves[0]) / (halves[-1] - halves[0]))


def _centred(design: Floats, mass: Floats) -> Floats:
    """Return a design with mean 0 over the known rows, and a row of zeros for missing values."""
    known = mass[:-1]
    mean = known @ design / max(known.sum(), 1e-300)
    return np.vstack([design - mean, np.zeros((1, design.shape[1]))])


def _learner(term: int, kind: Kind, design: Floats, mass: Floats, penalty: Floats | None) -> BaseLearner | None:
    """Return the base learner in the basis of its own directions, shrunk to one degree of freedom; None if flat."""
    values, vectors = np.linalg.eigh((design * mass[:, None]).T @ design)
    kept = values > SMALLEST * max(float(values.max()), 0.0)
    if not kept.any() or not np.isfinite(values).all():
        return None
    whitened = vectors[:, kept] / np.sqrt(values[kept])
    if penalty is None:
        return BaseLearner(term, kind, design @ whitened, np.ones(int(kept.sum())))
    roughness, turned = np.linalg.eigh(whitened.T @ penalty @ whitened)
    roughness = np.maximum(roughness, 0.0)
    return BaseLearner(term, kind, design @ whitened @ turned, _one_degree(roughness))


def _one_degree(roughness: Floats) -> Floats:
    """Return how each direction shrinks, 1 / (1 + lambda × roughness), with a sum of one.

    >>> _one_degree(np.array([1.0, 1.0, 1.0, 1.0])).round(6).tolist()
    [0.25, 0.25, 0.25, 0.25]
    """
    if len(roughness) == 1 or roughness.max() <= 0:
        return np.full(len(roughness), 1 / len(roughness))
    low, high = -30.0, 60.0 - np.log(roughness.max())
    for _ in range(80):
        middle = (low + high) / 2
        low, high = (middle, high) if (1 / (1 + np.exp(middle) * roughness)).sum() > 1 else (low, middle)
    return np.asarray(1 / (1 + np.exp(low) * roughness))


class LearnerSet:
    """The base learners of a table in arrays, so that all of them are fitted to a working response at once."""

    def __init__(self, learners: Sequence[BaseLearner], codes: Sequence[Codes]) -> None:
        self.learners, self.codes = list(learners), list(codes)
        self._size = max((len(learner.basis) for learner in self.learners), default=1)
        most = max((learner.basis.shape[1] for learner in self.learners), default=1)
        self._terms = np.array([learner.term for learner in self.learners], dtype=np.int64)
        self._bases = np.zeros((len(self.learners), self._size, most))
        self._shrinkage = np.zeros((len(self.learners), most))
        for place, learner in enumerate(self.learners):
            n_points, n_directions = learner.basis.shape
            self._bases[place, :n_points, :n_directions] = learner.basis
            self._shrinkage[place, :n_directions] = learner.shrinkage
        # What a shrunken fit takes off the squares: 2s - s².
        self._worth = self._shrinkage * (2 - self._shrinkage)
        self._members = _membership(self.codes, self._size) if self.learners else None

    def best(self, response: Floats) -> Step | None:
        """Return the best step for a weighted working response (rows × outputs); None if nothing is to be gained."""
        if self._members is None:
            return None
        sums = (self._members @ response).reshape(len(self.codes), self._size, response.shape[1])
        fits = self._bases.transpose(0, 2, 1) @ sums[self._terms]
        gains = np.einsum("lk,lko->l", self._worth, fits**2)
        best = int(gains.argmax())
        if not gains[best] > 0:
            return None
        coefficients = self._shrinkage[best][:, None] * fits[best]
        n_codes = len(self.learners[best].basis)
        return Step(best, self._bases[best, :n_codes] @ coefficients, float(gains[best]))


def _membership(codes: Sequence[Codes], size: int) -> csr_array:
    """Return a sparse matrix of ones: which rows have which code of which term (terms · codes × rows)."""
    from scipy.sparse import csr_array

    n_rows, n_terms = len(codes[0]), len(codes)
    places = np.concatenate([coded.astype(np.int64) + size * place for place, coded in enumerate(codes)])
    rows = np.tile(np.arange(n_rows), n_terms)
    return csr_array((np.ones(len(rows)), (places, rows)), shape=(size * n_terms, n_rows))
