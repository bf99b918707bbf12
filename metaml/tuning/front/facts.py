"""What the report says about a front."""

from collections.abc import Sequence

from metaml.metrics import METRICS
from metaml.model.front import Front, is_higher_better
from metaml.pareto import RESOURCES
from metaml.report.data import FrontDot, FrontFacts
from metaml.report.wording import metric_label
from metaml.tuning.trials import Trial

WORDS = {
    "fit_seconds": "seconds to fit",
    "predict_seconds": "seconds for one row",
    "model_bytes": "bytes of the model",
    "n_columns": "columns that the model reads",
    "fnr": "false negative rate",
    "fpr": "false positive rate",
}


def front_facts(front: Front, trials: Sequence[Trial]) -> FrontFacts:
    """Return the front as the report shows it, with the evaluations behind it."""
    evaluated = []
    for trial in trials:
        if trial.outcome.status == "ok" and len(trial.scores) > 1:
            own = zip(front.objectives, trial.scores[1:], strict=True)
            evaluated.append([value if is_higher_better(name) else abs(value) for name, value in own])
    return FrontFacts(
        objectives=front.objectives,
        labels=[label_of(name) for name in front.objectives],
        is_higher_better=[is_higher_better(name) for name in front.objectives],
        is_log=[name in RESOURCES for name in front.objectives],
        dots=[
            FrontDot(
                number=point.number,
                values=[point.values[name] for name in front.objectives],
                text=point.in_words,
                members=[(member.algorithm, member.config) for member in point.members],
            )
            for point in front
        ],
        evaluated=evaluated,
    )


def label_of(name: str) -> str:
    """Return an objective in words.

    >>> label_of("predict_seconds"), label_of("gap:sex"), label_of("log_loss")
    ('seconds for one row', 'gap between groups of sex', 'log loss')
    """
    if name.startswith("gap:"):
        return f"gap between groups of {name.removeprefix('gap:')}"
    if name in WORDS:
        return WORDS[name]
    return metric_label(name if name in METRICS else f"neg_{name}")
