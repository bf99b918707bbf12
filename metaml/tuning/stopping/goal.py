"""When a search ends before its budget: a score is reached, or evaluations no longer improve."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

from metaml.evaluation import metric as find_metric
from metaml.report.wording import counted, metric_label, score_text
from metaml.tuning.trials import Trial


@dataclass(frozen=True)
class Goal:
    """The end that was asked for: a `score` (higher is better), or `patience` evaluations without a better one.

    It depends only on the scores so far, so that a session that is resumed or replayed ends at the same place.
    """

    metric: str
    score: float | None = None
    patience: int | None = None

    @classmethod
    def of(cls, metric: str, stop_at: float | None, patience: int | None) -> Self:
        """Return the goal for a score as people write it: that of a loss is positive."""
        score = None if stop_at is None else -abs(stop_at) if find_metric(metric).is_loss else stop_at
        return cls(metric, score, patience)

    def reached(self, trials: Sequence[Trial]) -> str:
        """Return why the search has come to its end, in a sentence; empty while it goes on."""
        if self.score is None and self.patience is None:
            return ""
        best, since = -math.inf, 0
        for trial in trials:
            if trial.share < 1.0:
                continue
            is_better = trial.outcome.status == "ok" and trial.score > best
            best, since = (trial.score, 0) if is_better else (best, since + 1)
        if self.score is not None and best >= self.score:
            wanted = score_text(self.metric, self.score)
            return f"The search ended as it reached the {metric_label(self.metric)} of {wanted} that was asked for."
        if self.patience is not None and since >= self.patience and math.isfinite(best):
            return f"The search ended after {counted(since, 'evaluation')} without a better score."
        return ""
