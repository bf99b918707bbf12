"""`metaml replay`: compare optimisers on recorded runs."""

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaml_cli.kb import KB, Form, opened
from metaml_cli.options import names_in
from metaml_cli.render import Format, say, show

if TYPE_CHECKING:
    from metaml.laboratory.compare import Study


def replay(
    session: Annotated[
        str | None, typer.Option(help="Repeat the proposals of this tuning session instead.", show_default=False)
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(help="Score, such as roc_auc. Default: accuracy; with --ensemble, what a search would use."),
    ] = None,
    optimisers: Annotated[
        str,
        typer.Option(help="Comma-separated; all are compared with the last. gbqr+delta adds a choice."),
    ] = "default,gbqr,forest,random",
    preset: Annotated[
        str | None, typer.Option(help="Also compare a whole way to search, such as thesis, and its bandit.")
    ] = None,
    policies: Annotated[str, typer.Option(help="Comma-separated bandits over the algorithms; empty for none.")] = "",
    algorithm: Annotated[list[str] | None, typer.Option(help="Only this algorithm; may be repeated.")] = None,
    dataset: Annotated[list[str] | None, typer.Option(help="Only this data set; may be repeated.")] = None,
    seeds: Annotated[int, typer.Option(min=1, help="Simulations of each optimiser on each data set.")] = 3,
    evaluations: Annotated[int, typer.Option(min=5, help="Evaluations of each simulation.")] = 100,
    most: Annotated[int, typer.Option(min=20, help="Most configurations per data set.")] = 500,
    workers: Annotated[int, typer.Option(min=1, help="Simulations in parallel.")] = 1,
    simulated_workers: Annotated[
        int | None,
        typer.Option(
            min=1, help="Instead: compare schedules of this many workers, by recorded seconds.", show_default=False
        ),
    ] = None,
    schedules: Annotated[
        str, typer.Option(help="With --simulated-workers: comma-separated; differences are to the first.")
    ] = "asynchronous,rambo",
    ensemble: Annotated[
        bool, typer.Option("--ensemble", help="Instead: compare openings by the final ensemble, on kept predictions.")
    ] = False,
    openings: Annotated[
        str, typer.Option(help="With --ensemble: comma-separated; differences are to the first.")
    ] = "levels,families,ensemble,random",
    budgets: Annotated[
        str, typer.Option(help="With --ensemble: comma-separated numbers of evaluations.")
    ] = "3,5,10,20",
    second_budgets: Annotated[
        str, typer.Option("--seconds", help="With --ensemble: comma-separated seconds of the recorded runs.")
    ] = "",
    rules: Annotated[str, typer.Option(help="With --ensemble: comma-separated: selected, best, mean.")] = "selected",
    layers: Annotated[str, typer.Option(help="With --ensemble: comma-separated: 1, 2.")] = "1",
    table: Annotated[Path | None, typer.Option(help="Take the runs from this csv instead of a KB.")] = None,
    dataset_column: Annotated[str, typer.Option(help="With --table: column that names the data set.")] = "dataset",
    score_column: Annotated[
        str | None, typer.Option(help="With --table: column with the score; default: the metric's name.")
    ] = None,
    seconds_column: Annotated[
        str | None, typer.Option(help="With --table: column with the runtime in seconds.")
    ] = None,
    ignore_column: Annotated[list[str] | None, typer.Option(help="With --table: column to leave out.")] = None,
    lower_is_better: Annotated[
        bool, typer.Option("--lower-is-better", help="With --table: the score is a loss.")
    ] = False,
    output: Annotated[Path | None, typer.Option(help="Folder for the curves; a second call continues there.")] = None,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Compare optimisers, bandits and openings on recorded runs.

    It shows the regret by evaluations and by seconds.

    Scores are looked up, not computed. With --session (a key, or its beginning) the command proposes each configuration
    of a tuning session again from its event log, and shows whether the proposals are the same.
    With --simulated-workers it compares how several workers share a search: what they find in the same time, by the
    recorded seconds.

    With --ensemble it compares openings by what the final model loses on rows that did not choose it. That needs runs
    with kept predictions (metaml bot --keep-predictions). What is learnt for a data set is learnt without it and its
    near-duplicates.

    Example: metaml replay --metric roc_auc --optimisers default,gbqr,random --output replay/
    """
    if session is not None:
        _retrace(session, kb, form)
        return
    if ensemble:
        ways, ends = (openings, rules, layers), (budgets, second_budgets)
        _compare_openings(kb, form, ways, ends, metric=metric, datasets=dataset or (), n_seeds=seeds, output=output)
        return
    from metaml.laboratory.compare import methods_of, study
    from metaml.laboratory.load import metafeatures_of, pools_of
    from metaml.laboratory.parallel import compare_schedules, ways_of
    from metaml.search.presets import preset_named
    from metaml.tuning.run import check_output

    metric = metric or "accuracy"
    chosen, bandits = names_in(optimisers), names_in(policies)
    if preset is not None:
        chosen, bandits = (preset, *chosen), (preset_named(preset).bandit, *bandits)
    methods = methods_of(chosen)
    ways_by_name = ways_of(methods, names_in(schedules))
    if output is not None:
        check_output(output)
    with opened(":memory:" if table else kb, create=table is not None) as base:
        if table is not None:
            from metaml_kb.table_import.layout import TableLayout
            from metaml_kb.table_import.runs import import_table

            column = score_column or metric
            layout = TableLayout(
                dataset_column=dataset_column,
                score_columns=(column,),
                metrics=(metric,),
                lower_is_better=(column,) if lower_is_better else (),
                algorithm=table.name.split(".")[0],
                seconds_column=seconds_column,
                ignore_columns=tuple(ignore_column or ()),
            )
            import_table(base, table, layout)
        pools = pools_of(base, metric=metric, algorithms=algorithm, datasets=dataset, most=most)
        described = metafeatures_of(base)
    n_pools = sum(map(len, pools.values()))
    if simulated_workers is not None:
        say(f"{len(ways_by_name)} ways x {n_pools} pools x {seeds} seeds, {simulated_workers} simulated workers.")
        show(compare_schedules(pools, ways_by_name, n_workers=simulated_workers, n_seeds=seeds), form)
        return
    say(f"{len(methods)} optimisers x {n_pools} pools x {seeds} seeds, {evaluations} evaluations each.")
    path = None if output is None else output / "simulations.csv"
    found = study(
        pools,
        methods,
        policies=tuple(dict.fromkeys(bandits)),
        n_seeds=seeds,
        n=evaluations,
        n_workers=workers,
        path=path,
        metafeatures=described,
    )
    show(found.regret, form)
    if not found.policies.empty:
        show(found.policies, form)
    if output is not None:
        _write(found, output)
        say(f"Curves are in {output}: curves.csv and a picture per algorithm.")


def _compare_openings(
    kb: str | None,
    form: Format,
    ways: tuple[str, str, str],
    ends: tuple[str, str],
    *,
    metric: str | None,
    datasets: Collection[str],
    n_seeds: int,
    output: Path | None,
) -> None:
    """Show how openings compare by the final ensemble, and write what each lost on each data set."""
    from metaml.laboratory.ensembles.study import budgets_named, study_ensembles, ways_named
    from metaml.tuning.run import check_output

    compared = ways_named(*map(names_in, ways))
    budgets = budgets_named(*map(names_in, ends))
    if output is not None:
        check_output(output)
    with opened(kb) as base:
        found = study_ensembles(base, compared, budgets, metric=metric, datasets=datasets, n_seeds=n_seeds)
    n = found.losses["dataset"].nunique()
    say(f"{n} data sets. Differences to {compared[0]} in per cent of the held-out loss; negative is better.")
    show(found.table, form)
    if output is not None:
        output.mkdir(parents=True, exist_ok=True)
        found.losses.to_csv(output / "losses.csv", index=False)


def _retrace(session: str, kb: str | None, form: Format) -> None:
    """Show the steps of a session and whether each is proposed again. Exit with 1 if one differs."""
    import pandas as pd

    from metaml.tuning.replay_session import replay_session

    with opened(kb) as base:
        steps = replay_session(base, session)
    rows = [
        {"step": step.number, "algorithm": step.algorithm, "proposed by": step.proposer, "same": step.is_same}
        for step in steps
    ]
    show(pd.DataFrame(rows), form)
    n_same = sum(step.is_same for step in steps)
    say(f"{n_same} of {len(steps)} choices are proposed again.")
    if n_same < len(steps):
        raise typer.Exit(1)


def _write(found: "Study", output: Path) -> None:
    """Write the curves as csv and as pictures."""
    from metaml.report.charts import Line, line_chart

    found.curves.to_csv(output / "curves.csv", index=False)
    for (algorithm, axis), points in found.curves.groupby(["algorithm", "axis"]):
        lines = [
            Line(str(name), group["at"].tolist(), group["regret"].tolist())
            for name, group in points.groupby("optimiser", sort=False)
        ]
        label = "evaluations" if axis == "evaluations" else "time, in mean evaluations"
        picture = line_chart(lines, title=f"Regret, {algorithm}", x_label=label, y_label="mean regret (%)", log_y=True)
        (output / f"{algorithm}-{axis}.svg").write_text(picture, encoding="utf-8")
