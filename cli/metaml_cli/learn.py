"""`metaml learn`: train the meta-learners on the knowledge base, and evaluate them."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaml_cli.kb import KB, Form, opened
from metaml_cli.options import names_in
from metaml_cli.render import Format, as_text, say, show

if TYPE_CHECKING:
    from metaml.experience.lesson_files import LessonRequest
    from metaml.metalearning.history import RunHistory
    from metaml_kb import KnowledgeBase

BAR = 30
EXPLAINED = """\
Does an opening from experience pay? Each data set is left out of what its opening learns. 'ahead' is the best
level of single models (1: the best candidate, 0: the median) less that of the defaults and then chance;
'saved' is how many evaluations more chance needs. Sizes are rows that were used. Scores are measured or, where
a candidate was not run, predicted. An ensemble gains less: metaml replay --ensemble judges it by kept predictions."""


def learn(
    metric: Annotated[str, typer.Option(help="A metric of metaml; auto: the default metrics of metaml tune.")] = "auto",
    algorithms: Annotated[str | None, typer.Option(help="With --evaluate: only these, comma-separated.")] = None,
    exclude_dataset: Annotated[
        list[str] | None, typer.Option(help="Learn without this data set and its near-duplicates; may be repeated.")
    ] = None,
    evaluate: Annotated[
        bool, typer.Option("--evaluate", help="Show how good the rankings are, instead of learning.")
    ] = False,
    learners: Annotated[
        str | None,
        typer.Option(help="With --evaluate: thesis, ranker, neighbours, nearest_lightgbm …"),
    ] = None,
    growth: Annotated[int, typer.Option(min=0, help="With --evaluate: data sets of the growth curve.")] = 20,
    output: Annotated[Path | None, typer.Option(help="With --evaluate: folder for pictures and tables.")] = None,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Learn from all runs what to try first on a new data set.

    metaml tune uses the result, and learns again by itself when the knowledge base has grown. With --evaluate, this
    command shows Kendall's tau-b between the predicted and the true order of configurations on held-out data sets, the
    most important inputs, and the benefit of a larger knowledge base. A table shows for which sizes of data sets and
    after how many evaluations experience helps, does not help, or cannot be judged.

    Example: metaml learn --evaluate --metric roc_auc --algorithms lightgbm
    """
    from metaml.experience.learning import learn_all, requests_for

    with opened(kb) as base:
        wanted = requests_for(base, metric=metric, exclude_datasets=exclude_dataset or ())
        if evaluate:
            _evaluate(base, wanted, names_in(algorithms or ""), names_in(learners or ""), growth, output, form)
            return
        show(learn_all(base, wanted, on_note=say), form)


def _evaluate(
    base: "KnowledgeBase",
    wanted: "list[LessonRequest]",
    algorithms: Sequence[str],
    learners: Sequence[str],
    n_growth: int,
    output: Path | None,
    form: Format,
) -> None:
    import pandas as pd

    from metaml.algorithms import check_known
    from metaml.experience.learning import histories, ranking_quality
    from metaml.metalearning.assessment.comparison import USUAL_RANKINGS
    from metaml.tuning.run import check_output

    check_known(algorithms)
    if output is not None:
        check_output(output)
    rows: list[dict[str, object]] = []
    for found in histories(base, wanted, algorithms=algorithms, on_note=say):
        rows += ranking_quality(found, learners or USUAL_RANKINGS)
        _show_importances(found)
        if n_growth:
            _show_growth(found, n_growth, output)
    _show_verdicts(base, wanted, output)
    if not rows:
        return
    frame = pd.DataFrame(rows)
    show(frame, form)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        frame.to_csv(output / "tau.csv", index=False)
        say(f"Tables and pictures are in {output}.")


def _show_verdicts(base: "KnowledgeBase", wanted: "list[LessonRequest]", output: Path | None) -> None:
    """Say at which sizes and after how many evaluations an opening from experience pays, and where not."""
    from metaml.experience.learning import memory_verdicts

    table = memory_verdicts(base, wanted, on_note=say)
    if not len(table):
        return
    say(EXPLAINED)
    say(as_text(table, None))
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        table.to_csv(output / "verdict.csv", index=False)


def _show_importances(found: "RunHistory") -> None:
    """Draw the ten most important inputs of the meta-learner."""
    from metaml.metalearning.explain import input_importances
    from metaml.metalearning.meta_learner import MetaLearner

    shares = input_importances(MetaLearner().fit(found.thinned(100)), 10)
    longest = max((len(name) for name, _ in shares), default=0)
    most = max((share for _, share in shares), default=1.0) or 1.0
    for name, share in shares:
        say(f"  {name:<{longest}}  {'█' * max(round(BAR * share / most), 1):<{BAR}} {share:.0%}")


def _show_growth(found: "RunHistory", n_tasks: int, output: Path | None) -> None:
    """Show the regret after ten evaluations by the number of known data sets."""
    import numpy as np

    from metaml.metalearning.assessment.growth import growth_curve
    from metaml.search.strategy import STRATEGIES

    curve = growth_curve(found, STRATEGIES["gbqr"], most_tasks=n_tasks)
    points = {size: (float(np.mean(values)), _error(values)) for size, values in curve.items() if values}
    if not points:
        say("  Too few runs of each data set for a growth curve.")
        return
    text = ", ".join(f"{size}: {mean:.1f} ± {error:.1f}" for size, (mean, error) in points.items())
    say(f"  regret (%) after 10 evaluations by data sets known: {text}")
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
