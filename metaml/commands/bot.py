"""`metaml.bot`: experience with many data sets."""

import secrets
import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Literal

from metaml.algorithms import SEARCHED
from metaml.budget import seconds_of
from metaml.cluster.choice import Scheduler, executor_for
from metaml.commands.places import Place, on_note_of, opened
from metaml.data.given import names_in
from metaml.errors import BadRequest
from metaml.evaluation import Limits
from metaml.random_bot.bot import DEFAULT_LIMITS, BotSettings, run_bot
from metaml.random_bot.tally import BotReport
from metaml.records.kept_predictions import form_of
from metaml.seeds import MOST_SEED
from metaml.sources.named import named_sources
from metaml.spaces.grid import Grid


def bot(
    data: str | Path | Iterable[str | Path] = (),
    *,
    builtin: bool = False,
    openml_suite: Iterable[int] = (),
    openml_task: Iterable[int] = (),
    offline: bool = False,
    algorithms: str | Iterable[str] | None = None,
    grid: Grid | None = None,
    goal: Literal["cover", "learn"] = "cover",
    runs: int | None = None,
    time_budget: str | float | None = None,
    workers: int | None = None,
    scheduler: Scheduler = None,
    folds: int = 5,
    limit_seconds: float = DEFAULT_LIMITS.seconds,
    limit_memory: float | None = DEFAULT_LIMITS.megabytes,
    max_rows: int | None = None,
    seed: int | None = None,
    keep_predictions: bool | str = False,
    kb: Place = None,
    user: str | None = None,
    project: str | None = None,
    verbose: int = 0,
) -> BotReport:
    """Run random configurations on many data sets and keep every run; return how many, and what failed.

    - `data`: files or folders. `builtin`: also use the data sets inside scikit-learn.
    - `openml_suite`, `openml_task`: numbers of suites and tasks of OpenML; with `offline`, from its cache only.
    - `algorithms`: names, by default all. `grid`: such as {"C": [0.1, 1.0]}, run all combinations of one algorithm
      instead of random configurations.
    - `goal`: "cover" runs all pairs of data set and algorithm evenly, at random; "learn" runs more often what would
      teach a meta-learner most per second.
    - `runs`: stop after so many. `time_budget`: stop after so many seconds, or a text such as "10m". With neither, the
      bot stops only when it is interrupted.
    - `workers`: evaluations at a time, by default 1. `scheduler`: the address of a Dask scheduler, or a
      `metaml.cluster.SchedulerAddress`; its workers evaluate then, by default in all their slots.
    - `folds`: of the cross-validation; 1 holds out a fifth of the rows.
    - `limit_seconds`, `limit_memory`: what one evaluation may take, in seconds and megabytes; None is no limit.
    - `max_rows`: larger data sets are subsampled to so many rows.
    - `seed`: decides the configurations, by default a new one each time.
    - `keep_predictions`: True or "float16", or "float32": store out-of-fold predictions and the target with the runs.
    - `kb`: the knowledge base to add to. `user`, `project`: words to find the session by, as `kb.sessions()` lists it.
    - `verbose`: 1 prints notes to standard error.

    Raises `BadRequest` if no data set is named or can be used.

    >>> bot(runs=60, kb=":memory:")
    Traceback (most recent call last):
    metaml.errors.BadRequest: No data set was named. Give data="folder", builtin=True or openml_task=[31].
    """
    paths = [data] if isinstance(data, str | Path) else list(data)
    tasks, suites = list(openml_task), list(openml_suite)
    if not (paths or builtin or tasks or suites):
        raise BadRequest('No data set was named. Give data="folder", builtin=True or openml_task=[31].')
    settings = BotSettings(
        algorithms=names_in(algorithms) if algorithms else SEARCHED,
        grid=grid or {},
        goal=goal,
        keep_predictions=form_of(keep_predictions),
        n_runs=runs,
        seconds=None if time_budget is None else seconds_of(str(time_budget)),
        n_workers=1 if workers is None else workers,
        n_folds=folds,
        limits=Limits(limit_seconds, limit_memory),
        max_rows=max_rows,
        seed=secrets.randbelow(MOST_SEED + 1) if seed is None else seed,
        user=user,
        project=project,
    )
    sources = named_sources(paths, is_builtin=builtin, tasks=tasks, suites=suites, offline=offline)
    on_note, is_cluster = on_note_of(verbose), scheduler is not None
    with (
        opened(kb, create=True) as base,
        executor_for(scheduler, workers, algorithms=settings.algorithms, on_note=on_note)
        if is_cluster
        else nullcontext() as executor,
    ):
        report = run_bot(base, sources, settings, on_note=on_note, executor=executor, batches=is_cluster)
    if report.rescue:
        warnings.warn(report.rescue, UserWarning, stacklevel=2)
    return report
