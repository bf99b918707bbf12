"""Learn all that a knowledge base teaches, and judge how good its rankings are."""

from collections.abc import Callable, Iterator, Sequence

import pandas as pd

from metaml.algorithms import ALGORITHMS, check_known
from metaml.data import TASKS
from metaml.errors import BadRequest
from metaml.evaluation import METRICS, default_metric, display
from metaml.evaluation import metric as metric_of
from metaml.experience.lesson_files import LessonRequest, learn, portfolio_at_hand
from metaml.experience.load_history import check_left_out, run_history, to_leave_out
from metaml.metalearning.assessment.comparison import RANKINGS, USUAL_RANKINGS, compare_rankings
from metaml.metalearning.assessment.quality import mean_taus
from metaml.metalearning.history import RunHistory
from metaml.metalearning.worth import verdicts
from metaml.search.defaults import FIRST_DEFAULTS
from metaml_kb import KnowledgeBase


def requests_for(
    kb: KnowledgeBase, *, metric: str = "auto", exclude_datasets: Sequence[str] = ()
) -> list[LessonRequest]:
    """Return the lessons that a knowledge base can teach: for each kind of task in it, by the metric asked for.

    Experience with `exclude_datasets` (names or fingerprints) and their near-duplicates is left out. Raises
    `BadRequest` if there is no data set to learn from.
    """
    check_left_out(kb, exclude_datasets)
    left_out = to_leave_out(kb, exclude_datasets) if exclude_datasets else ()
    known = kb.datasets()
    tasks = [task for task in TASKS if (known["task"] == task).any()]
    if not tasks and len(known):
        raise BadRequest(
            f"{kb.name} does not know the task of its {len(known)} data set{'s' * (len(known) > 1)}. "
            "Import their table again: metaml kb import-table with --task binary, multiclass or regression."
        )
    if not tasks:
        raise BadRequest(f"{kb.name} holds no data set to learn from. Make experience with: metaml bot --builtin")
    if metric == "auto":
        return [LessonRequest(default_metric(task), task, left_out=left_out) for task in tasks]
    name = metric_of(metric).name
    fitting = [task for task in tasks if task in METRICS[name].tasks]
    if not fitting:
        raise BadRequest(f"{kb.name} holds no data set that {metric} is for, only {', '.join(tasks)}.")
    return [LessonRequest(name, fitting[0], left_out=left_out)]


def learn_all(
    kb: KnowledgeBase, requests: Sequence[LessonRequest], *, on_note: Callable[[str], None] = lambda _: None
) -> pd.DataFrame:
    """Learn the lessons and keep them beside the knowledge base; return a row for each with what it was learnt from."""
    rows = []
    for request in requests:
        on_note(f"Learning {request.family} by {display(request.metric, 0.0)[0]} …")
        lessons = learn(kb, request)
        for note in dict.fromkeys(lessons.notes):
            on_note(f"  {note}")
        rows.append(
            {
                "task": request.family,
                "metric": request.metric,
                "algorithms": len(lessons.trained),
                "data sets": lessons.n_datasets,
                "runs": lessons.n_runs,
                "seconds": round(lessons.seconds, 1),
            }
        )
    return pd.DataFrame(rows)


def histories(
    kb: KnowledgeBase,
    requests: Sequence[LessonRequest],
    *,
    algorithms: Sequence[str] = (),
    on_note: Callable[[str], None] = lambda _: None,
) -> Iterator[RunHistory]:
    """Yield the runs of each algorithm that is known on at least two data sets; no `algorithms` means all of them."""
    check_known(algorithms)
    for request in requests:
        for name in algorithms or list(ALGORITHMS):
            space = ALGORITHMS[name].space(request.task)
            found = run_history(
                kb, name, metric=request.metric, task=request.task, space=space, leave_out=request.left_out
            )
            if found.n_datasets < 2:
                on_note(" ".join(found.notes) or f"{kb.name} knows {name} on too few data sets to judge.")
                continue
            on_note(f"{name} by {request.metric}: {len(found.scores)} runs on {found.n_datasets} data sets")
            yield found


def ranking_quality(found: RunHistory, learners: Sequence[str] = USUAL_RANKINGS) -> list[dict[str, object]]:
    """Return a row for each way to rank configurations: Kendall's tau-b to their true order on unseen data sets."""
    unknown = [name for name in learners if name not in RANKINGS]
    if unknown:
        raise BadRequest(f"There is no meta-learner {', '.join(unknown)}. Choose among: {', '.join(RANKINGS)}.")
    rows = mean_taus(list(compare_rankings(found, learners).items()))
    return [{"algorithm": found.algorithm, "metric": found.metric, **row} for row in rows]


def memory_verdicts(
    kb: KnowledgeBase, requests: Sequence[LessonRequest], *, on_note: Callable[[str], None] = lambda _: None
) -> pd.DataFrame:
    """Return at which sizes and after how many evaluations experience pays, by a replay on the known data sets.

    What is stored is judged; only where nothing is stored, lessons are learnt first.
    """
    tables = []
    for request in requests:
        portfolio = portfolio_at_hand(kb, request)
        if portfolio is None:
            on_note(f"Learning {request.family} by {display(request.metric, 0.0)[0]} …")
            portfolio = learn(kb, request).portfolio
        if portfolio.n_datasets and portfolio.candidates:
            defaults = [(name, ALGORITHMS[name].space(request.task).default()) for name in FIRST_DEFAULTS]
            table = verdicts(portfolio, defaults=defaults)
            tables.append(table.assign(task=request.task, metric=request.metric))
    if not tables:
        on_note(f"{kb.name} knows too few data sets to replay an opening: whether memory pays cannot be said.")
        return pd.DataFrame()
    whole = pd.concat(tables, ignore_index=True)
    return whole[["task", "metric", *(name for name in whole.columns if name not in ("task", "metric"))]]
