"""The random bot: makes experience by running random configurations of many algorithms on many data sets.

Kuehn, Probst, Thomas & Bischl (2018), "Automatic Exploration of Machine Learning Experiments on OpenML". Ours takes the
pair of data set and algorithm with the fewest runs, so that experience grows evenly; runs the default configuration
first; and draws the others from a stream that belongs to the seed, the data set and the algorithm, so that the same
seed makes the same configurations in whatever order they finish, and a bot that is started again goes on.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

from metaml.algorithms import ALGORITHMS
from metaml.budget import Budget
from metaml.data import Task
from metaml.errors import BadRequest, MetamlError
from metaml.evaluation import Executor, FoldPlan, Job, LocalExecutor, Outcome, given_plan, make_plan
from metaml.metafeatures.openml import repair_openml
from metaml.random_bot.draws import DEFAULT_LIMITS, BotSettings, Draws, Prepared
from metaml.random_bot.grid import check_grid
from metaml.random_bot.learning_draws import LearningDraws
from metaml.random_bot.run_store import AT_ONCE, RunStore
from metaml.random_bot.tally import BotReport, Progress, Tally
from metaml.records.conversion import fold_plan_record, run_of, store_dataset
from metaml.records.kept_predictions import PredictionKeeper
from metaml.sources.base import Loaded, Source
from metaml.spaces.config import Config
from metaml.splits import PLAN_SEED
from metaml_kb import KnowledgeBase, Run
from metaml_kb.files import kept_safe
from metaml_kb.lookup import Claims

TICK_SECONDS = 1.0

GOALS: dict[str, type[Draws]] = {"cover": Draws, "learn": LearningDraws}
"""What chooses the next run, by the goal that a user names."""

__all__ = [
    "DEFAULT_LIMITS",
    "BotReport",
    "BotSettings",
    "Draws",
    "Prepared",
    "Progress",
    "draws_of",
    "folds_for",
    "run_bot",
]


Publish = Callable[[Loaded, Job, Outcome], int]
"""Uploads a finished run and returns its number there; MetamlError says why it was not taken."""


def run_bot(
    kb: KnowledgeBase,
    sources: Sequence[Source],
    settings: BotSettings,
    *,
    on_progress: Callable[[Progress], None] = lambda _: None,
    on_note: Callable[[str], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    publish: Publish | None = None,
    executor: Executor | None = None,
    batches: bool = False,
    registry: str = "metaml.algorithms:ALGORITHMS",
) -> BotReport:
    """Make runs until the budget is used up, each stored as it finishes; return what was done.

    With `batches`, runs are stored together, those of a moment at a time: one writer for many workers.

    Once `should_stop` says so no new evaluation begins, and those in flight are finished. `publish`, if given, is
    called with every complete run on a data set of OpenML. Without an `executor`, one is started for the call.
    """
    tally = Tally(Budget(settings.seconds))
    with (
        nullcontext(executor)
        if executor
        else LocalExecutor(settings.n_workers, registry=registry, preload=settings.algorithms) as workers,
        Claims(kb) as claims,
    ):
        prepared, originals, keeper = [], {}, PredictionKeeper(settings.keep_predictions)
        for loaded in _load(sources, tally.set_aside, on_note, should_stop):
            workers.add(loaded.dataset)
            keeper.add(loaded.dataset)
            prepared.append(_prepare(kb, loaded, settings))
            if publish is not None and loaded.origin == "openml":
                originals[loaded.dataset.fingerprint] = loaded
        if not prepared:
            reasons = "; ".join(f"{name}: {reason}" for name, reason in tally.set_aside.items())
            raise BadRequest(f"No data set can be used ({reasons or 'none was given'}). Name others.")
        check_grid(settings.grid, settings.algorithms, {item.name: item.task for item in prepared}, on_note)
        session = kb.start_session("bot", seed=settings.seed, settings=_plain(settings, prepared))
        tasks = {item.fingerprint: item.task for item in prepared}
        draws = draws_of(kb, prepared, settings, is_free=lambda *drawn: claims.take(_identity(*drawn)))
        store = RunStore(kb, claims, tally, **({} if batches else AT_ONCE))
        n_open = n_asked = 0
        while True:
            # One job waits for each worker, so that none is idle while a run is being stored.
            while n_open < 2 * workers.n_workers and _wants_more(settings, tally, n_asked, should_stop):
                drawn = kept_safe(kb, draws.next, tally.note_rescue)
                if drawn is None:
                    break
                workers.submit(_job(*drawn, settings, is_published=drawn[0].fingerprint in originals))
                n_open += 1
                n_asked += 1
            finished = workers.next(timeout=store.seconds_left(TICK_SECONDS))
            if finished is not None:
                job, outcome = finished
                n_open -= 1
                tally.count(job, outcome)
                machine, origin = store.environment_of(outcome), _origin(job, tasks[job.dataset], settings, draws)
                run = run_of(job, outcome, session=session, environment=machine, **origin)
                store.add(keeper.with_predictions(run, outcome.predictions))
                if publish is not None and job.dataset in originals and outcome.status == "ok":
                    _publish(publish, originals[job.dataset], job, outcome, on_note)
                on_progress(tally.progress(run))
            elif not n_open:
                break
            store.flush_if_due()
        store.flush()
        if keeper.note:
            on_note(keeper.note)
        kept_safe(kb, partial(kb.finish_session, session), tally.note_rescue)
        return tally.report(workers.n_workers)


def draws_of(
    kb: KnowledgeBase,
    prepared: Sequence[Prepared],
    settings: BotSettings,
    *,
    is_free: Callable[[Prepared, str, Config], bool] = lambda *_: True,
) -> Draws:
    """Return what chooses the next run for the goal of a bot."""
    return GOALS[settings.goal](kb, prepared, settings, is_free=is_free)


def _job(item: Prepared, algorithm: str, config: Config, settings: BotSettings, *, is_published: bool) -> Job:
    return Job(
        item.fingerprint,
        algorithm,
        config,
        item.plan,
        PLAN_SEED,
        settings.limits,
        keep_predictions=is_published or settings.keep_predictions is not None,
    )


def _identity(item: Prepared, algorithm: str, config: Config) -> str:
    """Return the identity of the run that a draw would make."""
    plan = item.plan.hash
    return Run(dataset=item.fingerprint, algorithm=algorithm, config=config, fold_plan=plan, seed=PLAN_SEED).identity


def _publish(publish: Publish, loaded: Loaded, job: Job, outcome: Outcome, on_note: Callable[[str], None]) -> None:
    """Publish a run; one that is not taken is said, and the bot goes on."""
    try:
        number = publish(loaded, job, outcome)
    except MetamlError as error:
        on_note(f"A run of {job.algorithm} on {loaded.dataset.name} was not published: {error}")
    else:
        on_note(f"Published {job.algorithm} on {loaded.dataset.name} as run {number}.")


def _wants_more(settings: BotSettings, tally: Tally, n_asked: int, should_stop: Callable[[], bool]) -> bool:
    is_enough = settings.n_runs is not None and n_asked >= settings.n_runs
    return not (is_enough or tally.budget.is_used_up or should_stop())


def _load(
    sources: Sequence[Source],
    set_aside: dict[str, str],
    on_note: Callable[[str], None],
    should_stop: Callable[[], bool],
) -> Iterator[Loaded]:
    """Yield the data sets that can be used; note the reason for each that cannot."""
    seen: dict[str, str] = {}
    for source in sources:
        if should_stop():
            return
        try:
            loaded = source.load()
        except MetamlError as error:
            set_aside[source.name] = str(error)
            on_note(f"{source.name} is set aside: {error}")
            continue
        twin = seen.setdefault(loaded.dataset.fingerprint, source.name)
        if twin != source.name:
            set_aside[source.name] = f"it holds the same data as {twin}"
            continue
        if loaded.dataset.target_was_guessed and loaded.origin == "file":
            on_note(f"{source.name}: predicting {loaded.dataset.target!r}, its last column ({loaded.dataset.task}).")
        yield loaded


def _prepare(kb: KnowledgeBase, loaded: Loaded, settings: BotSettings) -> Prepared:
    """Store a data set, its metafeatures and its fold plan."""
    dataset = loaded.dataset
    store_dataset(kb, dataset, loaded.origin, details=loaded.details, seconds=settings.describe_seconds)
    if loaded.qualities:
        kb.add_metafeatures(dataset.fingerprint, repair_openml(loaded.qualities), source="openml")
    plan = folds_for(loaded, settings)
    kb.add_fold_plan(fold_plan_record(plan))
    return Prepared(dataset.fingerprint, dataset.name, dataset.task, len(dataset.y), plan)


def folds_for(loaded: Loaded, settings: BotSettings) -> FoldPlan:
    """Return the folds that a data set's source prescribes, else those that all bots use."""
    if loaded.folds is not None:
        return given_plan(loaded.folds)
    return make_plan(loaded.dataset, settings.n_folds, PLAN_SEED, settings.max_rows)


def _origin(job: Job, task: Task, settings: BotSettings, draws: Draws) -> dict[str, Any]:
    """Return where the configuration came from, and how probable the draw was."""
    space = ALGORITHMS[job.algorithm].space(task)
    if job.config == space.default():
        return {"origin": "default"}
    if settings.grid:
        return {"origin": "grid"}
    return {
        "origin": "random",
        "probability": space.density(job.config) * draws.odds_of(job.dataset, job.algorithm, job.config),
    }


def _plain(settings: BotSettings, prepared: Sequence[Prepared]) -> dict[str, object]:
    labels = {"user": settings.user, "project": settings.project}
    return {
        **{name: word for name, word in labels.items() if word},
        "algorithms": list(settings.algorithms),
        "n_runs": settings.n_runs,
        "seconds": settings.seconds,
        "n_workers": settings.n_workers,
        "n_folds": settings.n_folds,
        "limit_seconds": settings.limits.seconds,
        "limit_megabytes": settings.limits.megabytes,
        "max_rows": settings.max_rows,
        "n_datasets": len(prepared),
        **({"grid": dict(settings.grid)} if settings.grid else {}),
        **({"goal": settings.goal} if settings.goal != "cover" else {}),
        **({"keep_predictions": settings.keep_predictions} if settings.keep_predictions else {}),
    }
