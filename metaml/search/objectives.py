"""What a search makes as large as it can: for each objective, one number per outcome."""

from dataclasses import dataclass
from typing import Protocol

from metaml.arrays import Array
from metaml.data import Dataset
from metaml.ensemble.threshold_scores import threshold_score
from metaml.evaluation import FoldPlan, Outcome


class Objective(Protocol):
    """Something that evaluations are compared by.

    A search has a tuple of them, and the first one ranks its trials.
    """

    @property
    def name(self) -> str:
        """Return its name, which tells it from the other objectives of a search."""
        ...

    def value(self, outcome: Outcome) -> float:
        """Return what an outcome is worth: higher is better, NaN if it has no value."""
        ...


@dataclass(frozen=True, eq=False)
class MetricObjective:
    """The score of a metric: the mean over folds, after thresholds if the metric looks at labels.

    `truth` is the target of each row, `folds` the fold that tests it. `is_forward`: folds follow one another in time.
    """

    name: str
    truth: Array
    folds: Array
    is_forward: bool = False

    def value(self, outcome: Outcome) -> float:
        """Return the score of an outcome."""
        return threshold_score(outcome, self.truth, self.folds, self.name, is_forward=self.is_forward)


def objective_of(metric: str, dataset: Dataset, plan: FoldPlan) -> MetricObjective:
    """Return the score of a metric on the folds of a data set."""
    return MetricObjective(metric, dataset.y, plan.assignment, plan.is_forward)
