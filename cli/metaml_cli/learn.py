"""`metaml learn`: train the meta-learners for the knowledge base as it is now, and show how good they are."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaml_cli.kb import KB, Form, opened
from metaml_cli.options import names_in
from metaml_cli.render import Format, say, show

if TYPE_CHECKING:
    import pandas as pd

    from metaml.experience.lesson_files import LessonRequest
    from metaml.metalearning.history import RunHistory
    from metaml_kb import KnowledgeBase

BAR = 30


def learn(
    metric: Annotated[str, typer.Option(help="One of our metrics; auto: those that tune uses by default.")] = "auto",
    algorithms: Annotated[str | None, typer.Option(help="With --evaluate: only these, comma-separated.")] = None,
    exclude_dataset: Annotated[
        list[str] | None, typer.Option(help="Learn without this data set and its near_duplicates; may be repeated.")
    ] = None,
    evaluate: Annotated[bool, typer.Option("--evaluate", help="Show how good the rankings are instead.")] = False,
    growth: Annotated[int, typer.Option(min=0, help="With --evaluate: data sets of the growth curve.")] = 20,
    output: Annotated[Path | None, typer.Option(help="With --evaluate: folder for pictures and tables.")] = None,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Learn from all runs which configurations to try first on a new data set.

    tune uses what was learnt, and learns by itself when the knowledge base has grown. With --evaluate, Kendall's tau-b
    between predicted and true order of configurations on data sets that were left out, the inputs that matter most, and
    what a larger knowledge base is worth.

    Example: metaml learn --evaluate --metric roc_auc --algorithms lightgbm
    """
    from metaml.experience.load_history import check_left_out, to_leave_out

    with opened(kb) as base:
        check_left_out(base, exclude_dataset or ())
        left_out = to_leave_out(base, exclude_dataset) if exclude_dataset else ()
        wanted = _wanted(base, metric, left_out)
        if evaluate:
            _evaluate(base, wanted, names_in(algorithms or ""), growth, output, form)
            return
        show(_learn(base, wanted), form)


def _wanted(base: "KnowledgeBase", metric: str, left_out: tuple[str, ...]) -> "list[LessonRequest]":
    """Return the lessons to learn: for each kind of task in the knowledge base, by the metric asked for."""
    from metaml.errors import BadRequest
    from metaml.evaluation import METRICS, default_metric
    from metaml.evaluation import metric as metric_of
    from metaml.experience.lesson_files import LessonRequest

    known = base.datasets()
    tasks = [task for task in ("binary", "multiclass", "regression") if (known["task"] == task).any()]
    if not tasks and len(known):
        raise BadRequest(
            f"{base.name} does not know the task of its {len(known)} data set{'s' * (len(known) > 1)}. "
            "Import their table again: metaml kb import-table with --task binary, multiclass or regression."
        )
    if not tasks:
        raise BadRequest(f"{base.name} holds no data set to learn from. Make experience with: metaml bot --builtin")
    if metric == "auto":
        return [LessonRequest(default_metric(task), task, left_out=left_out) for task in tasks]  # type: ignore[arg-type]
    name = metric_of(metric).name
    fitting = [task for task in tasks if task in METRICS[name].tasks]
    if not fitting:
        raise BadRequest(f"{base.name} holds no data set that {metric} is for, only {', '.join(tasks)}.")
    return [LessonRequest(name, fitting[0], left_out=left_out)]


def _learn(base: "KnowledgeBase", wanted: "list[LessonRequest]") -> "pd.DataFrame":
    import pandas as pd

    from metaml.evaluation import display
    from metaml.experience.lesson_files import learn as learn_lessons

    rows = []
    for item in wanted:
        say(f"Learning {item.family} by {display(item.metric, 0.0)[0]} …")
        lessons = learn_lessons(base, item)
        for note in dict.fromkeys(lessons.notes):
            say(f"  {note}")
        rows.append(
            {
                "task": item.family,
                "metric": item.metric,
                "algorithms": len(lessons.trained),
                "data sets": lessons.n_datasets,
                "runs": lessons.n_runs,
                "seconds": round(lessons.seconds, 1),
            }
        )
    return pd.DataFrame(rows)


def _evaluate(
    base: "KnowledgeBase",
    wanted: "list[LessonRequest]",
    algorithms: Sequence[str],
    n_growth: int,
    output: Path | None,
    form: Format,
) -> None:
    import pandas as pd

    from metaml.algorithms import ALGORITHMS, check_known
    from metaml.experience.load_history import experience
    from metaml.metalearning.assessment.comparison import compare
    from metaml.metalearning.assessment.quality import summary
    from metaml.tuning.run import check_output

    check_known(algorithms)
    if output is not None:
        check_output(output)
    rows: list[dict[str, object]] = []
    for item in wanted:
        for name in algorithms or list(ALGORITHMS):
            space = ALGORITHMS[name].space(item.task)
            found = experience(base, name, metric=item.metric, task=item.task, space=space, leave_out=item.left_out)
            if found.n_datasets < 2:
                say(" ".join(found.notes) or f"{base.name} knows {name} on too few data sets to judge.")
                continue
            say(f"{name} by {item.metric}: {len(found.scores)} runs on {found.n_datasets} data sets")
            judged = summary(list(compare(found).items()))
            rows += [{"algorithm": name, "metric": item.metric, **row} for row in judged]
            _show_importances(found)
            if n_growth:
                _show_growth(found, n_growth, output)
    if not rows:
        return
    frame = pd.DataFrame(rows)
    show(frame, form)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        frame.to_csv(output / "tau.csv", index=False)
        say(f"Tables and pictures are in {output}.")


def _show_importances(found: "RunHistory") -> None:
    """Draw the ten inputs that matter most to the meta-learner."""
    from metaml.metalearning.explain import importances
    from metaml.metalearning.meta_learner import MetaLearner

    shares = importances(MetaLearner().fit(found.thinned(100)), 10)
    longest = max((len(name) for name, _ in shares), default=0)
    most = max((share for _, share in shares), default=1.0) or 1.0
    for name, share in shares:
        say(f"  {name:<{longest}}  {'█' * max(round(BAR * share / most), 1):<{BAR}} {share:.0%}")


def _show_growth(found: "RunHistory", n_tasks: int, output: Path | None) -> None:
    """Show regret after ten evaluations against the number of data sets known."""
    import numpy as np

    from metaml.metalearning.assessment.growth import growth_curve
    from metaml.search.optimizer import STRATEGIES

    curve = growth_curve(found, STRATEGIES["gbqr"], most_tasks=n_tasks)
    points = {size: (float(np.mean(values)), _error(values)) for size, values in curve.items() if values}
    if not points:
        say("  Too few runs of each data set for a growth curve.")
        return
    told = ", ".join(f"{size}: {mean:.1f} ± {error:.1f}" for size, (mean, error) in points.items())
    say(f"  regret (%) after 10 evaluations by data sets known: {told}")
    if output is None:
        return
    from metaml.report.charts import Line, line_chart

    output.mkdir(parents=True, exist_ok=True)
    line = Line(found.algorithm, [float(size) for size in points], [mean for mean, _ in points.values()])
    picture = line_chart(
        [line], title=f"What experience is worth, {found.algorithm}", x_label="data sets known", y_label="regret (%)"
    )
    (output / f"growth-{found.algorithm}-{found.metric}.svg").write_text(picture, encoding="utf-8")


def _error(values: list[float]) -> float:
    import numpy as np

    return float(np.std(values, ddof=1) / np.sqrt(len(values))) if len(values) > 1 else float("nan")
