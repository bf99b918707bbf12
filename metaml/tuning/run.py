"""`tune`: a data set in, a model, a report and new experience out, within a budget that counts everything."""

import math
import os
from collections.abc import Callable, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile

from metaml.budget import Budget, in_words
from metaml.data import Dataset
from metaml.errors import BadRequest, MetamlError
from metaml.evaluation import Executor, LocalExecutor
from metaml.evaluation.best_columns import with_ranking
from metaml.experience.lesson_files import is_in_file
from metaml.model.front import Front
from metaml.report import ReportData
from metaml.report.split_wording import left_out_sentence
from metaml.report.wording import counted, listed, metric_label
from metaml.search.judging import judging
from metaml.search.settings import TuneSettings, keeping_directions, with_row_weights
from metaml.system.threads import at_most_threads
from metaml.tuning.bagging import Bagged, Bagging, can_be_repeated
from metaml.tuning.closing import refit_reserve, reserve_for
from metaml.tuning.column_choice import with_best_columns
from metaml.tuning.column_importance import column_importances
from metaml.tuning.explained.column_effects import with_effects
from metaml.tuning.final_model import finish
from metaml.tuning.finished import Finished
from metaml.tuning.front.building import build_front, front_seconds
from metaml.tuning.job_batch import Ending
from metaml.tuning.limited_model import check_possible, measuring_seconds, within_limits
from metaml.tuning.outputs import report_data, write_files
from metaml.tuning.own_test import OwnTest
from metaml.tuning.resume import UnfinishedSession, find_unfinished
from metaml.tuning.second_layer import SecondLayer, Stacking, can_have_layers, second_layer_seconds
from metaml.tuning.session import TuneSession
from metaml.tuning.split_comparison import compare_splits
from metaml.tuning.trials import FoldModels, Found, OnPhase, PredictionFiles, Trial, TuneProgress
from metaml_kb import KnowledgeBase, open_kb
from metaml_kb.errors import KBError

EARLY_SHARE = 0.5
"""A search that ended early keeps this share of the time that it took for repeats, layers and refits."""
STOP_SECONDS = 3.0
"""What may still be fitted once somebody wants to stop, in seconds."""
UNFINISHED = ".unfinished"
"""Folder for what a session needs to be resumed; it goes when the session ends."""

WAITING = "The model is in {}. Its last runs are still to be stored: {} does not answer, or another program holds it."


@dataclass(frozen=True, eq=False)
class Tuned:
    """What a call of `tune` gives back."""

    finished: Finished
    found: Found
    report: ReportData
    seconds: float
    front: Front | None = None


def tune(
    dataset: Dataset,
    settings: TuneSettings | None = None,
    *,
    kb: KnowledgeBase | None = None,
    executor: Executor | None = None,
    output: Path | None = None,
    single: bool = False,
    on_progress: Callable[[TuneProgress], None] = lambda _: None,
    on_phase: OnPhase = lambda _: None,
    on_note: Callable[[str], None] = lambda _: None,
    should_stop: Callable[[], bool] = lambda: False,
    budget: Budget | None = None,
    resume: bool = False,
    predictions: bool = False,
    test: OwnTest | None = None,
    threads: int = 1,
) -> Tuned:
    """Find the best model for a data set and write it, with its report, into a folder if one is given.

    The walk: resume or begin -> session (search) -> bagging -> second layer -> final model -> its errors ->
    front -> importance of columns -> report and files -> close.

    Without a knowledge base the runs are kept only during the call; without an executor, one is started for the call,
    with `threads` threads for each evaluation. The budget counts from the call, or is `budget` if the caller's own work
    counts, too. With `resume`, an unfinished session on this data set continues; if there is none, a new one starts and
    `on_note` gets a sentence that says so. `test` is a table that is scored by the final model, and used for nothing
    else. `on_phase` gets the name of each phase as it begins.
    """
    on_phase("describing")
    if output is not None:
        check_output(output)
    settings = settings or TuneSettings()
    budget = budget or Budget(settings.seconds)
    with (
        judging(settings, dataset) as settings,
        nullcontext(executor) if executor else _own_executor(settings, threads) as workers,
        nullcontext(kb) if kb else open_kb(":memory:") as base,
        FoldModels() as models,
        # Two threads of ours may be at work: neither may lift the limit of the other.
        at_most_threads(1),
    ):
        # What is planned for so many workers must be what the executor has.
        settings = replace(settings, n_workers=workers.n_workers)
        dataset = _within_columns(dataset, settings, on_note)
        settings, no_directions = keeping_directions(settings, dataset)
        settings, left_out = with_row_weights(settings, dataset)
        for sentence in filter(None, (no_directions, left_out_sentence(left_out))):
            on_note(sentence)
        session = _session(dataset, settings, base, workers, budget, models, output, on_note, resume=resume)
        settings, budget, begun = session.settings, session.budget, session.budget.used
        on_phase("first fits")
        tell_progress = _after_first(lambda: on_phase("search"), on_progress)
        found = session.run(reserve=_reserve(session, models), on_progress=tell_progress, should_stop=should_stop)
        searched = budget.used - begun
        is_stopped = should_stop()
        end, final = _after_search(session, found, searched, is_stopped=is_stopped, on_note=on_note)
        bagged = Bagged() if is_stopped else _bagged(session, found, models, should_stop, on_phase)
        found = replace(found, repeated=bagged.trials, repeat_plan=bagged.plan if bagged.trials else None)
        second = None if single or is_stopped else _second_layer(session, found, models, should_stop, on_phase)
        on_phase("refit")
        ending = Ending(dataset, found, workers, final, end, models)
        finished = finish(ending, second=second, single=single, is_stopped=is_stopped)
        finished = within_limits(finished, ending, single=single)
        front = build_front(ending, single=single)
        on_phase("report")
        features = column_importances(finished, ending)
        ledger = _ledger(found, bagged, second, finished, searched, budget.used)
        tell = partial(report_data, dataset, found, finished, settings, budget.used, ledger, *features, output)
        data = tell(
            comparison=compare_splits(replace(ending, settings=settings)), own_test=test, left_out=left_out, front=front
        )
        data = with_effects(data, finished, ending)
        if output is not None:
            _write(output, dataset, found, finished, data, base, predictions=predictions, front=front)
        seconds = budget.used
        return Tuned(finished, _closed(session, found, finished, output, on_note), data, seconds, front)


def _own_executor(settings: TuneSettings, threads: int) -> LocalExecutor:
    return LocalExecutor(settings.n_workers, n_threads=threads, preload=settings.algorithms)


def _after_search(
    session: TuneSession, found: Found, searched: float, *, is_stopped: bool, on_note: Callable[[str], None]
) -> tuple[Budget, TuneSettings]:
    """Return the budget and the settings for what follows a search that took `searched` seconds."""
    if is_stopped:
        # A user who stops the search does not want to wait for what the rest of the time would allow.
        return session.budget.ending_in(STOP_SECONDS), replace(session.settings, seconds=STOP_SECONDS)
    if found.ended:
        on_note(found.ended)
        session.end_in(max(STOP_SECONDS, EARLY_SHARE * searched))
    return session.budget, session.settings


def _session(
    dataset: Dataset,
    settings: TuneSettings,
    kb: KnowledgeBase,
    executor: Executor,
    budget: Budget,
    models: FoldModels,
    output: Path | None,
    on_note: Callable[[str], None],
    *,
    resume: bool,
) -> TuneSession:
    """Return a new session or, if one is to be resumed, the unfinished one with its own settings and budget."""
    files = PredictionFiles(None if output is None else output / UNFINISHED / dataset.fingerprint)
    earlier = _unfinished(kb, dataset, files, on_note) if resume else None
    if earlier is None:
        files.clear()
    else:
        settings = earlier.resumed(settings)
        on_note(_going_on(earlier, settings))
        budget = Budget(settings.seconds, used_before=budget.used + earlier.used, drag=budget.drag)
    return TuneSession(
        dataset,
        kb,
        settings,
        executor,
        budget=budget,
        n_workers=lambda: executor.n_workers,
        resumed=earlier,
        prediction_files=files,
        models=models,
    )


def _reserve(session: TuneSession, models: FoldModels) -> Callable[[Sequence[Trial]], float]:
    """Return the function that says how many seconds to keep for the end, given the trials so far."""
    dataset, settings, budget = session.dataset, session.settings, session.budget
    measuring = measuring_seconds(settings, budget) + front_seconds(settings)
    return lambda trials: reserve_for(dataset, settings, trials, session, models, budget) + measuring


def _after_first(act: Callable[[], None], tell: Callable[[TuneProgress], None]) -> Callable[[TuneProgress], None]:
    """Return a callback that calls `act` once, before it first reports progress with `tell`."""
    is_first = True

    def report(progress: TuneProgress) -> None:
        nonlocal is_first
        if is_first:
            act()
        is_first = False
        tell(progress)

    return report


def _bagged(
    session: TuneSession, found: Found, models: FoldModels, should_stop: Callable[[], bool], on_phase: OnPhase
) -> Bagged:
    """Return the candidates of a session as evaluated on other folds; none if there is no time or no place for them."""
    dataset, settings, budget = session.dataset, session.settings, session.budget
    # Models of other folds, or a second layer, are what a limit would take away first; a front has no place for them.
    is_small = settings.model_limits.needs_measuring or bool(settings.objectives)
    if found.error or is_small or not can_be_repeated(found.plan, settings):
        return Bagged()
    n_classes = 0 if dataset.labels is None else len(dataset.labels)
    closing = refit_reserve(settings, found.trials, found, models, budget)
    if can_have_layers(dataset, found.plan, settings):
        closing += second_layer_seconds(found.trials, n_classes, settings)
    bagging = Bagging(
        dataset,
        found,
        session.executor,
        settings,
        budget,
        models,
        session.log,
        closing=closing,
        should_stop=should_stop,
    )
    on_phase("repeats")
    try:
        return bagging.run()
    except KBError:
        # Runs that cannot be stored must not decide. The end of the session reports the error.
        return Bagged()


def _within_columns(dataset: Dataset, settings: TuneSettings, on_note: Callable[[str], None]) -> Dataset:
    """Return the data set with as many columns as the model may read, and say which; refuse impossible limits."""
    most = settings.model_limits.n_columns
    reduced = dataset if most is None else with_best_columns(dataset, most, seed=settings.seed)
    check_possible(reduced, settings)
    if most is not None and reduced is not dataset:
        kept = list(dict.fromkeys(feature.source for feature in reduced.schema.features))
        on_note(f"The model may read {counted(most, 'column')}: {listed(kept)}.")
    return with_ranking(reduced) if "n_columns" in settings.objectives else reduced


def _second_layer(
    session: TuneSession, found: Found, models: FoldModels, should_stop: Callable[[], bool], on_phase: OnPhase
) -> SecondLayer | None:
    """Return the second layer on what a session found; None if there can be none, or nothing more can be stored."""
    dataset, settings, budget = session.dataset, session.settings, session.budget
    is_small = settings.model_limits.needs_measuring or bool(settings.objectives)
    if found.error or is_small or not can_have_layers(dataset, found.plan, settings):
        return None
    stacking = Stacking(
        dataset,
        found,
        session.executor,
        settings,
        budget,
        models,
        closing=refit_reserve(settings, found.trials, found, models, budget),
        note=session.log.note,
        should_stop=should_stop,
    )
    on_phase("second layer")
    try:
        return stacking.run()
    except BadRequest:
        # Its data are new to the workers: there may be no space for them. The first layer makes a model without.
        return SecondLayer(why_not="the workers could not get its data")
    finally:
        # If nothing can be stored any more, the end of the session reports it.
        with suppress(KBError):
            session.log.flush()


def _unfinished(
    kb: KnowledgeBase, dataset: Dataset, files: PredictionFiles, on_note: Callable[[str], None]
) -> UnfinishedSession | None:
    """Return the unfinished session on a data set, or say that there is none."""
    earlier = find_unfinished(kb, dataset.fingerprint, files)
    if earlier is None:
        on_note(f"Nothing to resume, as no search on {dataset.name} was cut short: a new search begins.")
    return earlier


def _write(
    output: Path,
    dataset: Dataset,
    found: Found,
    finished: Finished,
    data: ReportData,
    kb: KnowledgeBase,
    *,
    predictions: bool,
    front: Front | None,
) -> None:
    """Write the files of a session; if that fails, say how to get them."""
    try:
        write_files(output, dataset, found, finished, data, predictions=predictions, front=front)
    except MetamlError as error:
        rescue = " With --resume, all is written that was found." if is_in_file(kb) else ""
        raise BadRequest(f"{error}{rescue}") from None


def _closed(
    session: TuneSession, found: Found, finished: Finished, output: Path | None, on_note: Callable[[str], None]
) -> Found:
    """Close the session, unless an error ended it and it can be resumed; return what was found, with that error."""
    if found.error:
        return replace(found, error=f"The search ended early. {found.error} Then --resume goes on with it.")
    members = [(member.trial.run.identity, member.weight) for member in finished.chosen if member.trial.layer == 1]
    final = {"metric": found.metric, "score": finished.score, "kind": finished.kind, "members": members}
    try:
        if session.keeper.note:
            on_note(session.keeper.note)
        session.close(
            final=final if math.isfinite(finished.score) else None,
            on_wait=lambda: on_note(WAITING.format(output or "memory", session.kb.name)),
        )
    except KBError as error:
        # The model and the runs are safe; only the end of the session is not stored.
        return replace(found, error=f"The end of the search could not be stored. {error}")
    return replace(found, error=session.log.rescue)


def _going_on(earlier: UnfinishedSession, settings: TuneSettings) -> str:
    """Return which search is resumed: the newest that was cut short may not be the one that is meant."""
    of = f" of {in_words(settings.seconds)}" if settings.seconds else ""
    n_done, most = len(earlier.trials), settings.n_iterations
    done = f"{n_done} of {counted(most, 'evaluation')}" if most else counted(n_done, "evaluation")
    which = f"a search by {metric_label(settings.metric)} that was cut short"
    return f"Going on with {which}: {done} in {in_words(earlier.used)}{of}."


def check_output(folder: Path) -> None:
    """Raise BadRequest now if nothing could be written into a folder when the time is used up; leave it as it was."""
    places = [folder, *folder.absolute().parents]
    missing = [place for place in places if not os.path.exists(place)]  # noqa: PTH110 - Path.exists may raise
    there = places[len(missing)]
    if not there.is_dir():
        raise BadRequest(f"The output {folder} cannot be a folder: {there} is a file. Give another --output.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        why = (error.strerror or str(error)).lower()
        raise BadRequest(f"Nothing can be written into the output {folder}: {why}. Give another --output.") from None
    finally:
        # A search that is refused for another reason leaves no folder behind.
        for place in missing:
            with suppress(OSError):
                place.rmdir()


def _ledger(
    found: Found, bagged: Bagged, second: SecondLayer | None, finished: Finished, searched: float, used: float
) -> dict[str, float]:
    """Return where the seconds went; they add up to `used`."""
    ledger = dict(found.ledger)
    # Planning while the workers were busy cost no extra time.
    busy = ledger["evaluations"] + ledger["killed"]
    for purpose in ("optimiser", "memory", "metafeatures"):
        ledger[purpose] = min(ledger[purpose], max(searched - busy, 0.0))
        busy += ledger[purpose]
    ledger["idle"] = max(searched - busy, 0.0)
    ledger["repeats"] = bagged.seconds
    ledger["second layer"] = 0.0 if second is None else second.seconds
    ledger["refit"] = finished.refit_seconds
    ledger["start and closing"] = max(used - sum(ledger.values()), 0.0)
    return ledger
