"""What to try first on a data set, and why, without running anything."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from metaml.algorithms import ALGORITHMS, SEARCHED, check_known
from metaml.data import Dataset
from metaml.evaluation import default_metric, make_plan
from metaml.evaluation import metric as metric_of
from metaml.evaluation.environment import environment
from metaml.experience.earlier_versions import EarlierVersions, find_earlier_versions
from metaml.experience.experience import Experience, recall_experience
from metaml.experience.lesson_files import LessonRequest, count_datasets
from metaml.experience.load_history import check_left_out, to_leave_out
from metaml.metafeatures import describe
from metaml.metalearning.initial_design import InitialDesign, Suggestion
from metaml.spaces.config import Config
from metaml_kb import KnowledgeBase

COLUMNS = ("rank", "algorithm", "expected_sd", "seconds", "config", "reasons", "carriers")
DESCRIBE_SECONDS = 1.0
N_FOLDS = 5


@dataclass(frozen=True, eq=False)
class Suggestions:
    """What a knowledge base suggests for a data set: a row of `COLUMNS` for each suggestion, the best first.

    `experience` is None if the runs are too few to learn from; `n_datasets` is how many data sets they are on.
    """

    rows: list[dict[str, Any]]
    experience: Experience | None
    family: str
    n_datasets: int

    @property
    def is_known(self) -> bool:
        """Return whether the knowledge base has anything to say about the data set."""
        return self.experience is not None or bool(self.rows)


def request_for(dataset: Dataset, *, metric: str = "auto", algorithms: Sequence[str] = ()) -> LessonRequest:
    """Return which lessons a data set needs; no `algorithms` means all of them.

    Raises `BadRequest` for a metric or an algorithm that does not exist.
    """
    chosen = tuple(algorithms) or SEARCHED
    check_known(chosen)
    name = default_metric(dataset.task) if metric == "auto" else metric_of(metric).name
    return LessonRequest(name, dataset.task, chosen)


def suggest(
    kb: KnowledgeBase, dataset: Dataset, request: LessonRequest, *, n: int = 10, exclude_datasets: Sequence[str] = ()
) -> Suggestions:
    """Return at most `n` configurations to try first: what won on earlier versions of the table, then the portfolio.

    Experience with `exclude_datasets` (names or fingerprints) and their near-duplicates is ignored.
    """
    check_left_out(kb, exclude_datasets, own=(dataset.name, dataset.fingerprint))
    left_out = to_leave_out(kb, exclude_datasets) if exclude_datasets else ()
    request = replace(request, left_out=left_out)
    described = describe(dataset, seconds=DESCRIBE_SECONDS).values
    experience = recall_experience(kb, request, described)
    earlier = find_earlier_versions(
        kb,
        dataset,
        make_plan(dataset, N_FOLDS, 0),
        metric=request.metric,
        algorithms=request.algorithms,
        simple=described,
        left_out=left_out,
    )
    if experience is None and not earlier.inherited:
        return Suggestions([], None, request.family, count_datasets(kb, request))
    reference_seconds = environment()["reference_seconds"]
    suggestions = [item.suggestion for item in earlier.inherited]
    if experience is not None:
        design = InitialDesign(
            experience.lessons.portfolio,
            experience.metafeatures,
            algorithms=request.algorithms,
            is_valid=lambda name, config: ALGORITHMS[name].space(dataset.task).is_valid(config),
            n_rows=len(dataset.y),
            reference_seconds=reference_seconds,
        )
        suggestions += [
            suggestion for suggestion in design.first(n, is_filled=True) if _pair(suggestion) not in earlier.configs
        ]
    rows = [
        _row(rank, suggestion, experience, earlier, reference_seconds)
        for rank, suggestion in enumerate(suggestions[:n], start=1)
    ]
    n_datasets = count_datasets(kb, request) if experience is None else experience.lessons.n_datasets
    return Suggestions(rows, experience, request.family, n_datasets)


def _pair(suggestion: Suggestion) -> tuple[str, Config]:
    return suggestion.algorithm, suggestion.config


def _row(
    rank: int, suggestion: Suggestion, experience: Experience | None, earlier: EarlierVersions, reference_seconds: float
) -> dict[str, Any]:
    seconds, why = suggestion.seconds, {}
    if experience is not None:
        predicted = experience.seconds(*_pair(suggestion), reference_seconds=reference_seconds)
        seconds = predicted if predicted == predicted else seconds
        why = experience.reasons(*_pair(suggestion))
    return {
        "rank": rank,
        "algorithm": suggestion.algorithm,
        "expected_sd": why.get("expected"),
        "seconds": round(seconds, 2),
        "config": dict(suggestion.config),
        "reasons": why.get("reasons", []),
        "carriers": [*earlier.carriers(*_pair(suggestion)), *why.get("carriers", [])],
    }
