"""Which hyperparameters matter across data sets: PED-ANOVA (Watanabe, Bansal & Hutter 2023) on random runs.

On each data set, the values of a hyperparameter among the best runs are compared with its values among all runs. If it
does not matter, both are distributed alike. Their Pearson divergence is the importance. A few runs differ by chance,
too: the mean divergence of randomly chosen "best" runs is subtracted. What is left is averaged over data sets, as in
van Rijn & Hutter (2018).
"""

import math
from dataclasses import dataclass

import numpy as np

from metaml.arrays import Floats
from metaml.insight.runs import AlgorithmRuns
from metaml.insight.settings import Setting, columns

BEST_SHARE = 0.25
LEAST_RUNS = 8
N_PLACES = 21
N_SHUFFLES = 64
SMALLEST = 1e-12


@dataclass(frozen=True)
class Importance:
    """How much one hyperparameter matters.

    `share` is its part in the importance of all, 0 to 1; where it did not vary it has none. `divergence` is the mean
    over data sets of the Pearson divergence less what chance gives, with its `standard_error`; below about two standard
    errors it may be chance.
    """

    name: str
    share: float
    divergence: float
    standard_error: float
    n_datasets: int

    @property
    def is_clear(self) -> bool:
        """Return whether the divergence is more than two standard errors above zero."""
        return self.divergence > 2 * self.standard_error


def importance(runs: AlgorithmRuns, *, seed: int = 0, best: float = BEST_SHARE) -> tuple[Importance, ...]:
    """Return the importance of each hyperparameter that varies, most important first.

    Only runs that no search proposed count, each by its weight. `best` is the share of a data set's runs that are
    called the best. A data set needs 8 runs; without one, nothing is returned.
    """
    drawn = runs.drawn()
    rng = np.random.default_rng(seed)
    found: dict[str, list[float]] = {setting.name: [] for setting in runs.settings}
    kernels = {setting.name: _kernel(setting, drawn) for setting in runs.settings}
    for _, places in drawn.places(least=LEAST_RUNS):
        tops = _tops(drawn.scores[places], best, rng)
        for name, kernel in kernels.items():
            value = _divergence(kernel[places], drawn.weights[places], tops)
            if math.isfinite(value):
                found[name].append(value)
    parts = {name: max(sum(values), 0.0) for name, values in found.items() if values}
    whole = sum(parts.values())
    result = [
        Importance(
            name,
            part / whole if whole > 0 else 0.0,
            float(np.mean(found[name])),
            _standard_error(found[name]),
            len(found[name]),
        )
        for name, part in parts.items()
    ]
    return tuple(sorted(result, key=lambda item: (-item.share, -item.divergence)))


def _standard_error(values: list[float]) -> float:
    return float(np.std(values, ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.inf


def _tops(scores: Floats, share: float, rng: np.random.Generator) -> Floats:
    """Return how much each run counts as one of the best: first row the truth, the others shuffled.

    Runs with equal scores at the edge share what is left, so that their order does not matter.
    """
    wanted = max(1.0, share * len(scores))
    _, position, counts = np.unique(-scores, return_inverse=True, return_counts=True)
    before = np.concatenate([[0.0], np.cumsum(counts)[:-1]])
    part = np.clip((wanted - before) / counts, 0.0, 1.0)[position]
    return np.vstack([part, *(rng.permutation(part) for _ in range(N_SHUFFLES))])


def _kernel(setting: Setting, runs: AlgorithmRuns) -> Floats:
    """Return how much each run says about each place of a hyperparameter; a row of zeros where it is inactive."""
    units = setting.units(columns(runs.configs, setting))
    if setting.choices:
        kernel = (units[:, np.newaxis] == np.arange(len(setting.choices))).astype(np.float64)
    else:
        width = 1.06 * 0.29 * max(2.0, len(units) / max(1, runs.n_datasets)) ** -0.2
        gaps = units[:, np.newaxis] - np.linspace(0.0, 1.0, N_PLACES)
        kernel = np.exp(-0.5 * (gaps / width) ** 2)
        kernel = kernel / np.maximum(kernel.sum(axis=1, keepdims=True), SMALLEST)
    return np.asarray(np.nan_to_num(kernel))


def _divergence(kernel: Floats, weights: Floats, tops: Floats) -> float:
    """Return the Pearson divergence of the best runs from all runs, less its mean over shuffles; NaN if unknown."""
    is_active = kernel.any(axis=1)
    if is_active.sum() < LEAST_RUNS / 2 or np.ptp(kernel[is_active], axis=0).max() <= 0:
        return math.nan
    weighted = kernel * weights[:, np.newaxis]
    overall = weighted.sum(axis=0)
    overall /= overall.sum()
    best = tops @ weighted
    sums = best.sum(axis=1, keepdims=True)
    best = np.where(sums > 0, best / np.maximum(sums, SMALLEST), overall)
    kept = overall > SMALLEST
    values = (np.square(best[:, kept] - overall[kept]) / overall[kept]).sum(axis=1)
    return float(is_active.mean() * (values[0] - values[1:].mean()))
