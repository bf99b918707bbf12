"""`metaml kb`: query, share and maintain a knowledge base."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaml_cli.options import KNOWLEDGE_BASE, PlainTyper, under
from metaml_cli.render import Format, counted, say, show, show_facts

if TYPE_CHECKING:
    import pandas as pd

    from metaml_kb import KnowledgeBase
    from metaml_kb.transfer import Merged

app = PlainTyper(
    help="Query, share and maintain a knowledge base.\n\nExample: metaml kb runs --algorithm svm --limit 5",
    no_args_is_help=True,
    rich_markup_mode=None,
)

KB = Annotated[
    str | None,
    under(KNOWLEDGE_BASE)("--kb", help="File or database URL; default: METAML_KB, else your own.", show_default=False),
]
Form = Annotated[Format, typer.Option("--format", help="csv and json write only data to standard output.")]
SHOWN_RUNS = 20


def opened(place: str | None, *, create: bool = False) -> "KnowledgeBase":
    """Return the knowledge base that --kb names; with `create`, a new file gets the runs that come with metaml."""
    if create:
        from metaml.starter import open_with_starter

        return open_with_starter(place)
    from metaml_kb import open_kb

    return open_kb(place, create=False)


@app.command()
def init(
    kb: KB = None,
    empty: Annotated[
        bool, typer.Option("--empty", help="Leave out the starter (the runs that come with metaml).")
    ] = False,
) -> None:
    """Create a knowledge base, or add the starter runs.

    The starter is the runs that come with metaml. Every command that creates a file adds them; a database on a server
    gets them only from this command. Set the variable METAML_STARTER to no to turn this off, or to the name of another
    exported file to start from that.

    Example: metaml kb init --kb team.db
    """
    from metaml_kb import open_kb

    with open_kb(kb) if empty else opened(kb, create=True) as base:
        if not empty:
            from metaml.starter import add_starter

            add_starter(base)
        facts = base.info()
        n_starter, n_yours = facts["runs_by_source"].values()
        say(
            f"{base.name} is ready, with {counted(facts['runs'], 'run')} on {counted(facts['datasets'], 'data set')} "
            f"({counted(n_starter, 'run')} of the starter, {n_yours:,} of yours)."
        )


@app.command()
def info(
    kb: KB = None,
    schema: Annotated[bool, typer.Option("--schema", help="List tables and columns instead.")] = False,
    form: Form = Format.table,
) -> None:
    """Show how many runs there are, and where from.

    The runs that came with metaml are the starter.

    Example: metaml kb info --format json
    """
    with opened(kb) as base:
        if schema:
            show(base.schema(), form)
        else:
            show_facts(base.info(), form)


@app.command()
def datasets(kb: KB = None, form: Form = Format.table) -> None:
    """List the data sets and how many runs each has.

    Example: metaml kb datasets
    """
    with opened(kb) as base:
        show(base.datasets(), form)


@app.command()
def runs(
    dataset: Annotated[list[str] | None, typer.Option(help="Name or fingerprint; may be repeated.")] = None,
    algorithm: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    status: Annotated[list[str] | None, typer.Option(help="ok, partial, timeout, memory, crashed, failed.")] = None,
    origin: Annotated[
        list[str] | None, typer.Option(help="default, random, warm start, surrogate, repeat, imported, grid.")
    ] = None,
    session: Annotated[
        list[str] | None, typer.Option(help="Session key or its beginning, or bot, tune, import.")
    ] = None,
    since: Annotated[str | None, typer.Option(help="A date such as 2026-11-16, or an age such as 2h, 7d.")] = None,
    limit: Annotated[
        int | None, typer.Option(min=1, help="Only the newest runs; default: 20 in a table, else all.")
    ] = None,
    source: Annotated[str | None, typer.Option(help="mine, or starter: the runs that came with metaml.")] = None,
    user: Annotated[str | None, typer.Option(help="Only sessions of this user.")] = None,
    project: Annotated[str | None, typer.Option(help="Only sessions of this project.")] = None,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Show runs with their scores and seconds, newest last.

    Hyperparameters are shown, too.

    Example: metaml kb runs --algorithm xgboost --since 7d --format csv > runs.csv
    """
    with opened(kb) as base:
        if limit is None and form is Format.table:
            limit = SHOWN_RUNS
        frame = base.runs(
            dataset=dataset,
            algorithm=algorithm,
            status=status,
            origin=origin,
            session=session,
            since=since,
            limit=limit,
            source=source,
            user=user,
            project=project,
        )
        show(_arranged(frame) if form is Format.table else frame, form)
        if form is Format.table and len(frame) == limit:
            say(f"These are the newest {limit}. See more with --limit, all with --format csv.")


def _arranged(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return runs for a table on screen: names, scores, seconds, and the configuration in one column."""
    from metaml_kb.frames import hyperparameter_columns

    metrics = [name for name in frame.attrs.get("metrics", []) if frame[name].notna().any()]
    arranged = frame[["dataset", "algorithm", "status"]].copy()
    arranged.insert(0, "run", frame["run"].str[:8])
    arranged[metrics] = frame[metrics]
    arranged["seconds"] = frame["fit_seconds"].fillna(0) + frame["predict_seconds"].fillna(0)
    arranged["error"] = frame["error"]
    arranged["configuration"] = [
        ", ".join(f"{name}={value}" for name, value in row.items() if value is None or value == value)
        for row in frame[hyperparameter_columns(frame)].astype(object).to_dict("records")
    ]
    return arranged


@app.command()
def sessions(
    kind: Annotated[str | None, typer.Option(help="bot, tune, import or starter.")] = None,
    unfinished: Annotated[
        bool, typer.Option("--unfinished", help="Only sessions that are running or were interrupted.")
    ] = False,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """List the sessions, newest first.

    Each has its user, its project and the score of its final model.

    Example: metaml kb sessions --kind tune
    """
    import pandas as pd

    with opened(kb) as base:
        frame = base.sessions(kind, unfinished=unfinished)
    if form is not Format.table:
        show(frame, form)
        return
    started = pd.to_datetime(frame["started_at"], unit="s", utc=True).dt.strftime("%Y-%m-%d %H:%M")
    names = ["key", "kind", "started_at", "user", "project", "n_runs", "metric", "score"]
    show(frame.assign(key=frame["key"].str[:8], started_at=started)[names], form)


@app.command()
def compare(
    a: Annotated[str, typer.Argument(help="Key of a session, or its beginning.")],
    b: Annotated[str, typer.Argument(help="Key of another session.")],
    metric: Annotated[str | None, typer.Option(help="Metric to compare; default: that of the final models.")] = None,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Show two sessions side by side.

    These are the best score of each algorithm and the scores of the final models.

    Example: metaml kb compare 1f3a9c02 77d0e4b1
    """
    with opened(kb) as base:
        frame = base.compare(a, b, metric=metric)
    show(frame.assign(fold_plan=frame["fold_plan"].str[:8]) if form is Format.table else frame, form)


@app.command()
def best(
    dataset: Annotated[str, typer.Argument(help="Name or fingerprint of a data set.")],
    metric: Annotated[str, typer.Argument(help="Such as accuracy, roc_auc, log_loss, rmse.")],
    n: Annotated[int, typer.Option("-n", min=1, help="How many.")] = 10,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Show the best complete runs on a data set.

    Example: metaml kb best iris accuracy -n 5
    """
    with opened(kb) as base:
        frame = base.best(dataset, metric, n)
        show(_best_first(frame, metric) if form is Format.table else frame, form)


def _best_first(frame: "pd.DataFrame", metric: str) -> "pd.DataFrame":
    """Return the best runs with the score first, without the columns that are the same for all."""
    name = metric if metric in frame else f"neg_{metric}"
    arranged = _arranged(frame).drop(columns=["dataset", "status"])
    return arranged[[name, *(column for column in arranged.columns if column != name)]]


@app.command()
def sql(
    query: Annotated[str, typer.Argument(help="One SELECT. Tables: metaml kb info --schema")],
    timeout: Annotated[str, typer.Option(help="Stop after this time, such as 30s or 10m.")] = "1m",
    limit_memory: Annotated[float, typer.Option(min=1, help="Stop above this memory, in megabytes.")] = 1000.0,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Run a SELECT statement. It can only read.

    Example: metaml kb sql "SELECT dataset, max(value) FROM result WHERE metric = 'accuracy' GROUP BY dataset"
    """
    from metaml.budget import seconds_of

    seconds = seconds_of(timeout)
    with opened(kb) as base:
        show(base.sql(query, timeout=seconds, limit_memory=limit_memory), form)


@app.command("export")
def export_(
    path: Annotated[Path, typer.Argument(help="File to write, such as team.metaml; .db gives SQLite.")],
    private: Annotated[
        bool, typer.Option("--private", help="Leave out names, settings, predictions and times of day; salt the keys.")
    ] = False,
    with_starter: Annotated[
        bool, typer.Option("--with-starter", help="Also export the runs that came with metaml, which every user has.")
    ] = False,
    kb: KB = None,
) -> None:
    """Write your runs into one portable file.

    The runs that came with metaml are left out.

    Example: metaml kb export share.metaml --private
    """
    from metaml.experience.vocabulary import PUBLIC_WORDS
    from metaml_kb.exchange import export

    with opened(kb) as base:
        n_runs = export(base, path, private=private, public_words=PUBLIC_WORDS, with_starter=with_starter)
        say(f"{path} holds {counted(n_runs, 'run')} ({path.stat().st_size / 1e6:.1f} MB).")


@app.command("import")
def import_(
    path: Annotated[Path, typer.Argument(help="A file written by export, or another SQLite knowledge base.")],
    kb: KB = None,
) -> None:
    """Add the content of an exported file.

    Example: metaml kb import share.metaml
    """
    from metaml_kb.exchange import check_import, import_file

    check_import(path)
    with opened(kb, create=True) as base:
        _say_merged(path.name, base.name, import_file(base, path))


@app.command()
def merge(
    target: Annotated[str, typer.Argument(help="File or URL to add to; created if missing.")],
    sources: Annotated[list[str], typer.Argument(help="Files or URLs to add; they are not changed.")],
) -> None:
    """Add all runs of other knowledge bases to one. Clashes are reported; nothing is overwritten.

    Example: metaml kb merge team.db alice.db bob.db
    """
    from metaml_kb.transfer import merge as merge_kb

    from_all = [opened(source) for source in sources]
    with opened(target, create=True) as base:
        for source in from_all:
            with source:
                _say_merged(source.name, base.name, merge_kb(base, source))


def _say_merged(source: str, target: str, merged: "Merged") -> None:
    new = f"{counted(merged.n_runs, 'new run')} and {counted(merged.n_datasets, 'new data set')}"
    say(f"{source}: {new}, {merged.n_known:,} known.")
    for clash in merged.clashes[:10]:
        both = f"{clash.stored} here and {clash.offered} there"
        say(f"  clash: run {clash.run[:8]} has {clash.metric} {both}; ours is kept.")
    if len(merged.clashes) > 10:
        say(f"  and {len(merged.clashes) - 10} more clashes; nothing in {target} was overwritten.")


@app.command()
def diff(
    mine: Annotated[str, typer.Argument(help="File or URL.")],
    other: Annotated[str, typer.Argument(help="File or URL.")],
    form: Form = Format.table,
) -> None:
    """Show the runs that only another knowledge base has.

    Example: metaml kb diff mine.db team.db
    """
    from metaml_kb.transfer import difference

    with opened(mine) as here, opened(other) as there:
        frame = difference(here, there)
        show(frame, form)
        say(f"{there.name} has {counted(int(frame['new_runs'].sum()), 'run')} that {here.name} does not have.")


@app.command()
def upgrade(
    place: Annotated[
        str | None,
        typer.Argument(metavar="PLACE", help="File or URL; default: METAML_KB, else your own.", show_default=False),
    ] = None,
    kb: KB = None,
) -> None:
    """Upgrade an old knowledge base, after a backup.

    It gets the newest schema.

    Example: metaml kb upgrade old.db
    """
    from metaml_kb.engine import display_name, locate, make_engine
    from metaml_kb.schema import check_file
    from metaml_kb.schema import upgrade as upgrade_schema

    url = locate(place or kb)
    check_file(url, create=False)
    engine = make_engine(url)
    try:
        backup = upgrade_schema(engine)
    finally:
        engine.dispose()
    if backup is None:
        say(f"{display_name(url)} has the newest schema already.")
    else:
        say(f"{display_name(url)} was upgraded. The backup is {backup}.")


@app.command()
def doctor(
    fix: Annotated[bool, typer.Option("--fix", help="Remove rows that no run refers to.")] = False,
    kb: KB = None,
    form: Form = Format.table,
) -> None:
    """Find damage, contradictions and near-duplicates.

    It also finds orphans and old library versions. Only --fix changes anything.

    Example: metaml kb doctor --fix
    """
    from metaml.experience.vocabulary import EXPECTATIONS
    from metaml_kb.doctor import check_up, report
    from metaml_kb.engine import display_name, locate

    found = check_up(kb, fix=fix, expectations=EXPECTATIONS)
    findings = found.findings
    if form is not Format.table:
        show(report(findings), form)
    for finding in findings if form is Format.table else []:
        remedy = f" (--fix would {finding.fix})" if finding.fix else ""
        typer.echo(f"{'error' if finding.is_error else 'note'}: {finding.text}{remedy}")
    if found.n_left_out:
        say(f"Not listed: {found.n_left_out} pairs of near-duplicate data sets that both came with metaml.")
    say(f"{display_name(locate(kb))}: {len(findings) or 'no'} finding{'s' * (len(findings) != 1)}.")
    if any(finding.is_error for finding in findings):
        raise typer.Exit(1)
