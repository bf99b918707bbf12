"""Support vector machines with kernels on scaled columns; their distances become probabilities."""

from __future__ import annotations

from functools import cache
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.algorithms.allowance import Allowance
from metaml.algorithms.base import Algorithm, Matrix, Rows, Vector
from metaml.algorithms.fewer_steps import growing_rows
from metaml.algorithms.preprocessing import (
    encoding_parameters,
    head_from,
    imputation_parameter,
    scaling_parameter,
)
from metaml.algorithms.trusted_classes import State, TrustedClass, filled
from metaml.spaces import Choice, Float, Integer, Parameter, Space
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from sklearn.base import BaseEstimator

    from metaml.data import Task

_CACHE_MEGABYTES = 200
_FIT_PART = 0.5
"""The part of its seconds that a fit takes: with many support vectors, to predict takes about as long."""
_MOST_ITERATIONS = 100_000
_CALIBRATION_FOLDS = 3
_POWER = 2.0  # of the rows: how the time of a machine grows with them, at least
_LAST_MACHINE = (_CALIBRATION_FOLDS / (_CALIBRATION_FOLDS - 1)) ** _POWER
"""How many times the time of a fold's machine that of all rows takes."""
_NEWTON_STEPS = 50
_HALVINGS = 12
_CELLS_AT_ONCE = 10_000_000  # bounds the memory that coupling many classes takes


@cache
def space(task: Task) -> Space:
    """Return the space of the machine; ranges follow the random bot and van Hoof (2018), table 6.2.

    `gamma` counts in units of 1 / (columns · variance), so that 1 suits data sets of any width.
    """
    parameters: list[Parameter] = [
        Choice("kernel", ("rbf", "poly", "sigmoid", "linear"), default="rbf"),
        Float("C", 0.03125, 32768.0, default=1.0, log=True),
        Float("gamma", 1e-3, 100.0, default=1.0, log=True, when=("kernel", ("rbf", "poly", "sigmoid"))),
        Integer("degree", 2, 5, default=3, when=("kernel", ("poly",))),
        Float("coef0", 0.0, 1.0, default=0.0, when=("kernel", ("poly", "sigmoid"))),
        Choice("shrinking", (True, False), default=True),
        Float("tol", 1e-5, 0.1, default=1e-3, log=True),
    ]
    if task == "regression":
        parameters.append(Float("epsilon", 1e-3, 1.0, default=0.1, log=True))
    else:
        parameters.append(Choice("class_weight", (None, "balanced"), default=None))
    return Space([*parameters, imputation_parameter(), scaling_parameter("robust"), *encoding_parameters("one_hot")])


def build(config: Config, *, task: Task, seed: int, n_threads: int = 1, seconds: float | None = None) -> BaseEstimator:
    """Return an unfitted machine for `config`."""
    from metaml.algorithms.tabular import tabular

    space(task).check(config)
    head = head_from(config, seed=seed, precision="float64")
    model = _SupportVectors(config, seed=seed)
    allowed = None if seconds is None else _FIT_PART * seconds
    return tabular(
        task, config, head, model, train=_SupportVectors.fit, seed=seed, n_threads=n_threads, seconds=allowed
    )


class _SupportVectors:
    """A support vector machine whose classes get probabilities by Platt's method, as libsvm's do.

    One sigmoid per pair of classes is fitted to the distances of rows the machine had not seen (3 folds);
    the pairs are then coupled. Folds always leave a member of each class to learn from.
    """

    def __init__(self, config: Config, *, seed: int) -> None:
        self.config: dict[str, Any] = config
        self.seed = seed

    def fit(self, Z: Matrix, y: Vector, weight: Vector | None, allowance: Allowance) -> None:
        """Learn from all rows, or from as many as there is time for: libsvm cannot be stopped on its way."""
        for rows in growing_rows(y, allowance, power=_POWER, seed=self.seed):
            if "epsilon" in self.config:
                own = None if weight is None else weight[rows]
                self.machine_: Any = self._machine(Z[rows], own).fit(Z[rows], y[rows], sample_weight=own)
            else:
                self._fit_classes(Z[rows], y[rows], np.ones(len(rows)) if weight is None else weight[rows], allowance)
            if allowance.ended_training:
                return

    def _fit_classes(self, Z: Matrix, y: Vector, weight: Vector, allowance: Allowance) -> None:
        """Learn from these rows. If there is no time for all folds, those that are done give the probabilities.

        If there is none for the machine of all rows either, that of the last fold takes its place.
        """
        self.pairs_ = list(combinations(range(int(y.max()) + 1), 2))
        distances = np.zeros((len(y), len(self.pairs_)))
        folds = _folds(y, np.random.default_rng(self.seed))
        begin, seconds, self.machine_ = allowance.used, 0.0, None
        for fold in range(_CALIBRATION_FOLDS):
            rows, rest = folds == fold, folds != fold
            if rows.any():
                self.machine_ = self._machine(Z).fit(Z[rest], y[rest], sample_weight=weight[rest])
                distances[rows] = _distances(self.machine_, Z[rows])
            seconds = (allowance.used - begin) / (fold + 1)
            if allowance.left < seconds * (_CALIBRATION_FOLDS - fold - 1 + _LAST_MACHINE):
                allowance.ended_training = True
                break
        if self.machine_ is None or allowance.left > seconds * _LAST_MACHINE:
            self.machine_ = self._machine(Z).fit(Z, y, sample_weight=weight)
        distances[folds < 0] = _distances(self.machine_, Z)[folds < 0]
        self.sigmoids_ = np.empty((len(self.pairs_), 2))
        for k, (first, second) in enumerate(self.pairs_):
            rows = ((y == first) | (y == second)) & (folds <= fold)
            self.sigmoids_[k] = fit_sigmoid(distances[rows, k], y[rows] == first, weight[rows])

    def predict(self, Z: Matrix) -> Vector:
        result: Vector = self.machine_.predict(Z)
        return result

    def predict_proba(self, Z: Matrix) -> Matrix:
        from scipy.special import expit

        chances = expit(_distances(self.machine_, Z) * self.sigmoids_[:, 0] + self.sigmoids_[:, 1])
        if len(self.pairs_) == 1:
            return np.column_stack([chances, 1 - chances])
        n_classes = self.pairs_[-1][1] + 1
        step = max(1, _CELLS_AT_ONCE // n_classes**2)
        parts = [couple_pairs(chances[i : i + step], self.pairs_) for i in range(0, len(Z), step)]
        return np.vstack(parts) if parts else np.empty((0, n_classes))

    def _machine(self, Z: Matrix, weight: Vector | None = None) -> Any:
        from sklearn.svm import SVC, SVR

        names = ("kernel", "C", "degree", "coef0", "shrinking", "tol", "epsilon")
        settings = {name: self.config[name] for name in names if name in self.config}
        if "gamma" in self.config:
            variance = Z.var()
            if weight is not None:
                counts = np.broadcast_to(weight[:, None], Z.shape)
                variance = np.average((Z - np.average(Z, weights=counts)) ** 2, weights=counts)
            settings["gamma"] = self.config["gamma"] / (Z.shape[1] * (float(variance) or 1.0))
        settings |= {"cache_size": _CACHE_MEGABYTES, "max_iter": _MOST_ITERATIONS}
        return SVR(**settings) if "epsilon" in settings else SVC(**settings, decision_function_shape="ovo")


def _folds(y: Vector, rng: np.random.Generator) -> Rows:
    """Return the fold of each row, classes spread evenly; the only member of a class is in none (-1)."""
    folds = np.full(len(y), -1)
    for code in np.unique(y):
        rows = rng.permutation(np.flatnonzero(y == code))
        if len(rows) > 1:
            folds[rows] = np.arange(len(rows)) % _CALIBRATION_FOLDS
    return folds


def _distances(machine: Any, Z: Matrix) -> Matrix:
    """Return for each pair of classes how far a row lies on the side of the first."""
    values: Matrix = machine.decision_function(Z)
    # With two classes alone, scikit-learn counts towards the second.
    return -values[:, None] if values.ndim == 1 else values


def fit_sigmoid(distances: Vector, is_member: Vector, weight: Vector) -> tuple[float, float]:
    """Return slope and offset of the sigmoid that turns distances into the probability of membership.

    Platt (1999) by Newton's method: cross-entropy against targets slightly inside (0, 1), so that it converges for
    separable rows. The slope stays positive, so that the machine's order of the rows is kept.
    """
    from scipy.special import expit

    inside, outside = weight[is_member].sum(), weight[~is_member].sum()
    targets = np.where(is_member, (inside + 1) / (inside + 2), 1 / (outside + 2))
    unit = float(np.abs(distances).max()) or 1.0
    columns = np.column_stack([distances / unit, np.ones(len(distances))])

    def loss(p: Vector) -> float:
        z = columns @ p
        return float(weight @ (np.logaddexp(0, z) - targets * z))

    place = np.array([0.0, np.log((inside + 1) / (outside + 1))])
    value = loss(place)
    for _ in range(_NEWTON_STEPS):
        chances = expit(columns @ place)
        gradient = columns.T @ (weight * (chances - targets))
        curvature = (columns.T * (weight * chances * (1 - chances))) @ columns + 1e-9 * np.eye(2)
        step = np.linalg.solve(curvature, gradient)
        for halving in range(_HALVINGS):
            candidate = place - step / 2**halving
            lower = loss(candidate)
            if lower < value:
                break
        else:
            break
        place, gain, value = candidate, value - lower, lower
        if gain < 1e-9 * abs(value):
            break
    return float(max(place[0], 1e-3) / unit), float(place[1])


def couple_pairs(chances: Matrix, pairs: list[tuple[int, int]]) -> Matrix:
    """Return class probabilities from the chance of the first class in each pair.

    Wu, Lin and Weng (2004), eq. 21: the p that minimises the sum of (r_ji p_i - r_ij p_j)² and sums to 1.

    >>> couple_pairs(np.array([[0.5, 0.5, 0.5]]), [(0, 1), (0, 2), (1, 2)]).round(3).tolist()
    [[0.333, 0.333, 0.333]]
    """
    n, k = len(chances), pairs[-1][1] + 1
    firsts, seconds = np.array(pairs).T
    r = np.zeros((n, k, k))
    r[:, firsts, seconds] = np.clip(chances, 1e-7, 1 - 1e-7)
    r[:, seconds, firsts] = 1 - r[:, firsts, seconds]
    system = np.zeros((n, k + 1, k + 1))
    system[:, :k, :k] = -r * r.transpose(0, 2, 1)
    diagonal = np.arange(k)
    system[:, diagonal, diagonal] = (r**2).sum(axis=1)
    system[:, :k, k] = system[:, k, :k] = 1.0
    right = np.zeros((n, k + 1, 1))
    right[:, k] = 1.0
    solved: Matrix = np.linalg.solve(system, right)[:, :k, 0]
    return np.maximum(solved, 0.0)


_MACHINE = {
    "support_": ("<i4", 1),
    "support_vectors_": ("<f8", 2),
    "_n_support": ("<i4", 1),
    "_dual_coef_": ("<f8", 2),
    "_intercept_": ("<f8", 1),
    "_probA": ("<f8", 1),
    "_probB": ("<f8", 1),
}
"""The type and the dimensions of the arrays that libsvm reads, and nothing checks."""


def _make_machine(kind: type, state: State) -> Any:
    """Return a machine whose arrays fit together: libsvm follows their sizes without a check."""
    for name, (form, n_dimensions) in _MACHINE.items():
        array = state[name]
        if not isinstance(array, np.ndarray) or array.dtype != np.dtype(form) or array.ndim != n_dimensions:
            raise ValueError(f"{name} of a support vector machine is of another kind")
    counts, n_vectors = state["_n_support"], len(state["support_vectors_"])
    n_classes = len(counts)
    n_pairs = n_classes * (n_classes - 1) // 2
    if n_classes < 2 or (counts < 0).any() or (kind.__name__ == "SVC" and counts.sum() != n_vectors):
        raise ValueError("a support vector machine counts other vectors than it has")
    sizes = (len(state["support_"]), state["_dual_coef_"].shape, len(state["_intercept_"]))
    chances = {len(state["_probA"]), len(state["_probB"])}
    if sizes != (n_vectors, (n_classes - 1, n_vectors), n_pairs) or not chances <= {0, n_pairs}:
        raise ValueError("the parts of a support vector machine have other sizes than its vectors")
    is_usual = state["kernel"] in ("linear", "poly", "rbf", "sigmoid") and state["_sparse"] is False
    if not is_usual or "_impl" in state:
        raise ValueError("a support vector machine is of another kind")
    return filled(kind, state)


ALGORITHM = Algorithm(
    "svm",
    space,
    build,
    modules=("sklearn.svm",),
    first_turn=8,
    row_power=2.0,
    saves=(
        TrustedClass("svm", "metaml.algorithms.svm:_SupportVectors"),
        TrustedClass("SVC", "sklearn.svm:SVC", make=_make_machine),
        TrustedClass("SVR", "sklearn.svm:SVR", make=_make_machine),
    ),
    stacks=False,
)
