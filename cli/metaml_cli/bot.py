"""`metaml bot`: run random configurations on many data sets, to fill the knowledge base."""

import secrets
from contextlib import nullcontext
from typing import TYPE_CHECKING, Annotated

import typer

from metaml.seeds import MOST_SEED
from metaml_cli.cluster import address_of
from metaml_cli.kb import KB, opened
from metaml_cli.live import LiveLine, counted_interrupts
from metaml_cli.options import (
    ALGORITHMS_HELP,
    Float32,
    InsecureScheduler,
    KeepPredictions,
    Project,
    Scheduler,
    TlsCa,
    TlsCert,
    TlsKey,
    User,
    names_in,
    numbers,
    prediction_form,
)
from metaml_cli.render import Format, counted, say, show

RESCUED = 1
"""Exit code of a bot whose knowledge base was deleted or replaced."""

if TYPE_CHECKING:
    from metaml.random_bot.bot import BotSettings, Publish
    from metaml.random_bot.tally import BotReport, Progress
    from metaml.sources.base import Source


def bot(
    data: Annotated[list[str] | None, typer.Option(help="A data file or a folder of them; may be repeated.")] = None,
    builtin: Annotated[
        bool, typer.Option("--builtin", help="Use the real data sets that come with scikit-learn.")
    ] = False,
    openml_suite: Annotated[str | None, typer.Option(help="OpenML suites, comma-separated, such as 99.")] = None,
    openml_task: Annotated[str | None, typer.Option(help="OpenML tasks, comma-separated, such as 31,37.")] = None,
    offline: Annotated[bool, typer.Option("--offline", help="Read OpenML only from its cache.")] = False,
    publish: Annotated[
        bool, typer.Option("--publish", help="Upload complete runs to OpenML with your API key (OPENML_APIKEY).")
    ] = False,
    algorithms: Annotated[str | None, typer.Option("--algorithms", "--algorithm", help=ALGORITHMS_HELP)] = None,
    grid: Annotated[
        list[str] | None,
        typer.Option(help="NAME=VALUE,VALUE: run all combinations instead of random ones; may be repeated."),
    ] = None,
    goal: Annotated[
        str,
        typer.Option(help="cover: all pairs evenly; learn: what teaches a meta-learner most per second."),
    ] = "cover",
    runs: Annotated[int | None, typer.Option(min=1, help="Stop after this many runs.")] = None,
    time_budget: Annotated[str | None, typer.Option(help="Stop after this time, such as 10m or 2h.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Evaluations in parallel; default: 1; on a cluster all slots.")
    ] = None,
    folds: Annotated[int, typer.Option(min=1, help="Cross-validation folds; 1: hold out a fifth of the rows.")] = 5,
    limit_seconds: Annotated[float, typer.Option(min=0.1, help="Wall-clock limit of one evaluation.")] = 60.0,
    limit_memory: Annotated[float, typer.Option(min=10, help="Memory limit of one evaluation, in megabytes.")] = 4000.0,
    max_rows: Annotated[int | None, typer.Option(min=10, help="Use at most this many rows of a data set.")] = None,
    seed: Annotated[
        int | None, typer.Option(min=0, max=MOST_SEED, help="Seed of the configurations; default: a new one.")
    ] = None,
    keep_predictions: KeepPredictions = False,
    float32: Float32 = False,
    scheduler: Scheduler = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure_scheduler: InsecureScheduler = False,
    plan: Annotated[
        bool, typer.Option("--plan", help="Only show what would be run, and how long it would take.")
    ] = False,
    user: User = None,
    project: Project = None,
    kb: KB = None,
    form: Annotated[Format, typer.Option("--format", help="Form of the plan.")] = Format.table,
) -> None:
    """Run random configurations on many data sets and keep the runs.

    The pair of data set and algorithm with the fewest runs is next; its first run is the default configuration. A
    second call continues where the first one ended. Several bots may share one knowledge base. After Ctrl-C the bot
    finishes the evaluations that are running, then ends.

    With --grid, the bot runs all combinations of the given values of one algorithm on each data set; other
    hyperparameters keep their defaults. To see the result: metaml kb insight.

    Example: metaml bot --builtin --runs 60 --workers 2
    """
    from metaml.algorithms import SEARCHED
    from metaml.budget import seconds_of
    from metaml.cluster.choice import executor_for
    from metaml.evaluation import Limits
    from metaml.random_bot.bot import BotSettings, run_bot
    from metaml.random_bot.grid import grid_of
    from metaml.sources.named import named_sources

    chosen = names_in(algorithms) if algorithms else SEARCHED
    settings = BotSettings(
        algorithms=chosen,
        grid=grid_of(grid, chosen) if grid else {},
        keep_predictions=prediction_form(keep_predictions, float32),
        goal=goal,  # type: ignore[arg-type]
        n_runs=runs,
        seconds=None if time_budget is None else seconds_of(time_budget),
        n_workers=workers or 1,
        n_folds=folds,
        limits=Limits(limit_seconds, limit_memory),
        max_rows=max_rows,
        seed=secrets.randbelow(MOST_SEED + 1) if seed is None else seed,
        user=user,
        project=project,
    )
    sources = named_sources(
        data or [],
        is_builtin=builtin,
        tasks=numbers(openml_task),
        suites=numbers(openml_suite),
        offline=offline,
    )
    address = address_of(scheduler, tls_ca, tls_cert, tls_key, insecure_scheduler) if scheduler is not None else None
    publisher = _publisher(offline=offline) if publish else None
    if plan:
        _plan(kb, sources, settings, form)
        return
    with opened(kb, create=True) as base:
        line = LiveLine()
        say(f"Working on {counted(len(sources), 'data set')} with seed {settings.seed}; runs go to {base.name}.")
        with (
            counted_interrupts(line, "Finishing what is under way") as interrupts,
            nullcontext()
            if address is None
            else executor_for(address, workers, algorithms=settings.algorithms, on_note=line.say) as executor,
        ):
            report = run_bot(
                base,
                sources,
                settings,
                on_progress=lambda progress: line.update(_progress_text(progress, settings, len(sources))),
                on_note=line.say,
                should_stop=interrupts,
                publish=publisher,
                executor=executor,
                batches=address is not None,
            )
        line.close(_summary(report))
        say(f"See them with: metaml kb runs --kb {base.name}")
    if report.rescue:
        say(report.rescue)
        raise typer.Exit(RESCUED)
    if interrupts():
        raise typer.Exit(interrupts.exit_code)


def _plan(place: str | None, sources: "list[Source]", settings: "BotSettings", form: Format) -> None:
    """Show what would be run. Do not create a knowledge base for this."""
    from metaml.random_bot.forecast import plan_runs
    from metaml.starter import add_starter
    from metaml_kb.engine import locate, sqlite_path

    file = sqlite_path(locate(place))
    is_missing = file is not None and not file.exists()
    with opened(":memory:" if is_missing else place, create=True) as base:
        if is_missing:
            add_starter(base)
        frame, summary = plan_runs(base, sources, settings)
    show(frame, form)
    say(summary)


def _publisher(*, offline: bool) -> "Publish":
    """Return the function that uploads runs. Uploading needs an API key and a network connection."""
    from metaml.errors import BadRequest
    from metaml.openml_runs.publishing import Publisher, api_key
    from metaml.sources.openml import Client

    if offline:
        raise BadRequest("Nothing can be published offline. Leave out --offline or --publish.")
    return Publisher(Client(), api_key())


def _progress_text(progress: "Progress", settings: "BotSettings", n_datasets: int) -> str:
    """Return the live line: runs done and failed, runs per minute, coverage, and what is left to do."""
    from metaml.budget import in_words

    rate = 60 * progress.n_done / progress.seconds
    ends = []
    if settings.n_runs:
        ends.append((settings.n_runs - progress.n_done) * progress.seconds / progress.n_done)
    if settings.seconds:
        ends.append(settings.seconds - progress.seconds)
    left = f"   {in_words(max(min(ends), 0))} left" if ends else ""
    failed = f" ({progress.n_failed} failed)" if progress.n_failed else ""
    where = f"{progress.n_datasets}/{counted(n_datasets, 'data set')}"
    done = (
        f"{progress.n_done}/{counted(settings.n_runs, 'run')}" if settings.n_runs else counted(progress.n_done, "run")
    )
    return f"{done}{failed}   {rate:.0f} per minute   {where}{left}"


def _summary(report: "BotReport") -> str:
    """Return the number of runs, their speed, and the failures by algorithm and status."""
    from metaml.budget import in_words

    busy = report.busy_seconds / max(report.seconds * report.n_workers, 1e-9)
    lines = [
        f"{counted(report.n_done, 'run')} in {in_words(report.seconds)} "
        f"({60 * report.n_done / max(report.seconds, 1e-9):.0f} per minute, workers {busy:.0%} busy)."
    ]
    failures = [(name, status, n) for (name, status), n in sorted(report.statuses.items()) if status != "ok"]
    lines += [f"  {name}: {n} {status}" for name, status, n in failures]
    if report.set_aside:
        n = len(report.set_aside)
        lines.append(f"{counted(n, 'data set')} {'was' if n == 1 else 'were'} set aside.")
    return "\n".join(lines)
