"""metaml from Python: `tune` gives a model, a leaderboard and a report."""

import warnings
from collections.abc import Iterable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd

from metaml.algorithms import READABLE, searched
from metaml.bandits import DEFAULT_POLICY
from metaml.budget import Budget, seconds_of
from metaml.cluster.choice import Scheduler, executor_for
from metaml.data import Dataset, Names, Ordinal, ReadingLimits, column_options
from metaml.data.arrow import ArrowTable
from metaml.data.given import dataset_in, names_in, one_or_more
from metaml.errors import BadRequest
from metaml.evaluation import Limits
from metaml.evaluation.model_limits import ModelLimits
from metaml.evaluation.threads import threads_for
from metaml.experience.load_history import check_left_out
from metaml.metrics.custom import OwnFunction
from metaml.records.kept_predictions import form_of
from metaml.report.wording import counted
from metaml.search.judging import GivenCosts, judged_by
from metaml.search.objectives import objective_names
from metaml.search.presets import preset_named
from metaml.search.schedules import DEFAULT_SCHEDULE
from metaml.search.settings import DEFAULT_LIMITS, DEFAULT_METHOD, TuneSettings, chosen, for_reading
from metaml.splits import GivenFolds
from metaml.starter import open_with_starter
from metaml.system.cores import cells_of, default_workers
from metaml.system.interrupts import interrupts_of_caller
from metaml.tuning.own_test import OwnTest, own_test
from metaml.tuning.results.result import TuneResult
from metaml.tuning.run import tune as tune_dataset
from metaml.tuning.stopping.progress import display_of
from metaml_kb import KnowledgeBase

DEFAULT_BUDGET = "5m"
STOPPING = "Stopping the search with the best model so far; interrupt again to stop at once."
NO_KB = ":memory:"


def tune(
    data: str | Path | pd.DataFrame | ArrowTable,
    target: str | None = None,
    *,
    task: str | None = None,
    metric: str | OwnFunction = "auto",
    costs: GivenCosts | None = None,
    objectives: str | Iterable[str] = (),
    front_method: str = DEFAULT_METHOD,
    time_budget: str | float | None = None,
    iterations: int | None = None,
    output: str | Path | None = None,
    algorithms: str | Iterable[str] | None = None,
    exclude: str | Iterable[str] = (),
    preset: str | None = None,
    surrogate: str = "default",
    bandit: str = DEFAULT_POLICY,
    schedule: str = DEFAULT_SCHEDULE,
    search: str = "default",
    fidelity: str = "rows",
    single: bool = False,
    readable: bool = False,
    refit: bool = False,
    layers: int | None = None,
    calibration: bool = True,
    sample: bool = True,
    repeats: int | None = None,
    workers: int | None = None,
    threads: int | None = None,
    stop_at: float | None = None,
    patience: int | None = None,
    max_predict_ms: float | None = None,
    max_predict_ms_1000: float | None = None,
    max_model_mb: float | None = None,
    max_columns: int | None = None,
    scheduler: Scheduler = None,
    folds: int = 5,
    limit_seconds: float = DEFAULT_LIMITS.seconds,
    limit_memory: float | None = DEFAULT_LIMITS.megabytes,
    max_rows: int | None = None,
    seed: int = 0,
    resume: bool = False,
    predictions: bool = False,
    keep_predictions: bool | str = False,
    exclude_datasets: str | Iterable[str] = (),
    group: str | None = None,
    keep_group: bool = False,
    time: str | None = None,
    weight: str | None = None,
    columns: Names = (),
    categorical: Names = (),
    numeric: Names = (),
    ordinal: Ordinal = (),
    increasing: Names = (),
    decreasing: Names = (),
    test: str | Path | pd.DataFrame | ArrowTable | None = None,
    cv: Any = None,
    kb: str | Path | KnowledgeBase | None = None,
    name: str | None = None,
    ignore: str | Iterable[str] = (),
    user: str | None = None,
    project: str | None = None,
    verbose: int | None = None,
) -> TuneResult:
    """Return the best model that the budget allows for a csv, parquet or ARFF file, or for a frame.

    - `data`, `target`: the file or frame, and the column to predict, by default the last one.
    - `task`: binary, multiclass or regression, by default found out.
    - `metric`: what to optimise, such as "f1"; "auto" is ROC AUC, log loss or RMSE. It may be a function
      `metric(y_true, prediction)`, higher is better, or a scorer of scikit-learn.
    - `costs`: what errors cost, as {("bad", "good"): 10} or "bad:good=10,good:bad=1", by true class and decision.
      Another error costs 1. The mean cost of a row is what is optimised then.
    - `objectives`: two or three to search the Pareto front of, by `front_method`, such as "roc_auc,predict_seconds".
    - `time_budget`: seconds, or a text such as "10m", counted from the call. Without it, the number of `iterations`
      (evaluations) is the limit; without both, five minutes are.
    - `output`: a folder for the model, the report and the tables; None writes nothing.
    - `algorithms`, `exclude`: names of algorithms to use, by default all, and to leave out.
    - `preset`: a whole way to search, "default" or "thesis". `surrogate`, `bandit`: what proposes configurations, such
      as "gbqr" or "gbqr+delta+confidence_bound:2", and what chooses the algorithm; they replace those of the preset.
      `schedule`: how several workers share the search, "asynchronous" or "rambo" (batches packed by predicted seconds).
    - `search`: "hyperband", "bohb", "halving" or "look" tries with less `fidelity` ("rows", "folds" or "trees") first.
    - `single`: one model instead of an ensemble. `refit`: fit the final model to all rows.
    - `readable`: search only models that a person can read, and take one; the report shows all of it.
    - `layers`: of the ensemble, 1 or 2; None builds a second one if the time budget allows.
    - `calibration`: calibrate class probabilities if that helps; False leaves them as the members give them.
    - `sample`: keep some training rows in the model, with which it explains predictions and checks new rows.
    - `repeats`: how often candidates of the ensemble are evaluated again on other folds; None is as the time allows.
    - `workers`: evaluations at a time, by default as many as the cores allow, but one with `iterations`; `threads`: of
      each, by default one, and up to four if there are more than ten million cells and cores enough.
    - `stop_at`, `patience`: end early, at this score (a loss is positive) or after so many evaluations without a gain.
    - `folds`: of the cross-validation; 1 holds out a fifth of the rows.
    - `max_predict_ms` (one row), `max_predict_ms_1000` (1,000 rows), `max_model_mb`, `max_columns`: what the saved
      model may take, as measured in a fresh process on this machine.
    - `scheduler`: address of a Dask scheduler, whose workers then evaluate, by default in all their slots.
    - `limit_seconds`, `limit_memory`: what one evaluation may take, in seconds and megabytes; None is no limit.
    - `max_rows`: the most rows to cross-validate; None decides by the time budget.
    - `seed`: the same one and `iterations` give the same runs.
    - `resume`: go on with the search on this data set that was cut short.
    - `predictions`: also write the out-of-fold predictions into `output`. `keep_predictions`: store those of each run
      in the knowledge base, as float16, or as "float32".
    - `exclude_datasets`: names or fingerprints of data sets whose experience is ignored.
    - `kb`: a file, a URL or a `KnowledgeBase` to learn from and to add to, by default METAML_KB, else the user's own;
      ":memory:" neither uses nor adds experience.
    - `columns`: the only columns that may be features; `categorical`, `numeric`: columns to read as categories, or as
      numbers, whatever they look like; `ordinal`: levels in their order, as {"size": ["S", "M", "L"]}.
    - `increasing`, `decreasing`: columns with which the prediction (the probability of the second of two classes) may
      only rise, or only fall.
    - `ignore`: columns to leave out. A column that alone nearly determines the target is a `UserWarning`.
    - `name`: what the data set is called, by default the name of its file, or of the variable that holds the frame.
    - `user`, `project`: words of your choice to find the session by: `kb.sessions()` lists them, `kb.runs()` selects.
    - `verbose`: 1 shows progress in the notebook or on standard error, 0 is silent; None is 1 in a notebook, else 0.

    `group` is a column whose values are never both trained on and tested; it is no feature unless `keep_group`. `time`
    is a column of dates or numbers: models are tested on later rows than they were trained on. `weight` is a
    column that says how much each row counts, in learning and in every score; it is no feature. `test` is a file or a
    frame that the model is scored on, and that is used for nothing else. `cv` is a number of folds, a splitter of
    scikit-learn, or pairs of training and test rows; each row may be tested once.

    Ctrl-C, or the stop button of a notebook, ends the search with the best model so far and a `UserWarning`; a second
    one raises KeyboardInterrupt. Raises `BadDataset` for data that cannot be used and `BadRequest` for options that
    make no sense.

    >>> from sklearn.datasets import load_iris
    >>> frame = load_iris(as_frame=True).frame
    >>> tune(frame, iterations=1, algorithms="decision_tree", folds=2, kb=":memory:").best_algorithm
    'decision_tree'
    """
    threads = threads_for(threads, iterations, cells_of(data))
    settings = settings_of(
        **judged_by(metric, costs),
        objectives=objective_names(names_in(objectives)) if objectives else (),
        front_method=front_method,
        time_budget=time_budget,
        iterations=iterations,
        algorithms=algorithms,
        exclude=exclude,
        strategy=preset_named(preset).strategy if surrogate == "default" else surrogate,
        bandit=preset_named(preset).bandit if bandit == DEFAULT_POLICY else bandit,
        schedule=schedule,
        search=search,
        fidelity=fidelity,
        n_workers=default_workers(iterations, threads) if workers is None else workers,
        n_folds=cv if isinstance(cv, int) else folds,
        splitter=None if cv is None or isinstance(cv, int) else GivenFolds(cv),
        limits=Limits(limit_seconds, limit_memory),
        max_rows=max_rows,
        seed=seed,
        exclude_datasets=one_or_more(exclude_datasets),
        readable=readable,
        refits=refit,
        n_layers=layers,
        keep_predictions=form_of(keep_predictions),
        calibrates=calibration,
        keeps_sample=sample,
        n_repeats=repeats,
        stop_at=stop_at,
        patience=patience,
        user=user,
        project=project,
        model_limits=ModelLimits(max_predict_ms, max_predict_ms_1000, max_model_mb, max_columns),
    )
    budget = Budget(settings.seconds)
    options = column_options(
        group=group,
        keeps_group=keep_group,
        time=time,
        weight=weight,
        columns=columns,
        categorical=categorical,
        numeric=numeric,
        ordinal=ordinal,
        increasing=increasing,
        decreasing=decreasing,
    )
    dataset = dataset_in(data, target, task, name, ReadingLimits(budget, limit_memory), ignore, options)
    for warning in dataset.warnings:
        warnings.warn(warning, UserWarning, stacklevel=2)
    return result_of(
        dataset,
        settings,
        budget=budget,
        kb=kb,
        output=output,
        single=single or readable,
        verbose=verbose,
        resume=resume,
        predictions=predictions,
        test=None if test is None else own_test(test, dataset),
        scheduler=scheduler,
        workers=workers,
        threads=threads,
    )


def settings_of(
    *,
    time_budget: str | float | None,
    iterations: int | None,
    algorithms: str | Iterable[str] | None,
    exclude: str | Iterable[str],
    readable: bool = False,
    **others: Any,
) -> TuneSettings:
    """Return the settings for a budget and algorithms as people give them."""
    if iterations is not None and iterations < 1:
        raise BadRequest(f"{iterations} iterations find nothing. Give at least 1, or none and a time budget.")
    seconds = _seconds_in(time_budget, iterations)
    wanted = (READABLE if readable else searched(seconds)) if algorithms is None else names_in(algorithms)
    settings = TuneSettings(
        seconds=seconds,
        n_iterations=iterations,
        algorithms=chosen(wanted, names_in(exclude)),
        **others,
    )
    return for_reading(settings) if readable else settings


def result_of(
    dataset: Dataset,
    settings: TuneSettings,
    *,
    budget: Budget,
    kb: str | Path | KnowledgeBase | None,
    output: str | Path | None,
    single: bool,
    verbose: int | None,
    resume: bool = False,
    predictions: bool = False,
    test: OwnTest | None = None,
    scheduler: Scheduler = None,
    workers: int | None = None,
    threads: int = 1,
) -> TuneResult:
    """Return what tuning finds for a data set that is prepared."""
    display = display_of(verbose, lambda: budget.used)
    if settings.splitter is None:
        for hint in dataset.hints:
            display.say(str(hint))
    folder = None if output is None else Path(output)
    if kb == NO_KB:
        settings = replace(settings, uses_memory=False)
    display.phase("opening the knowledge base")
    with (
        display,
        nullcontext(kb) if isinstance(kb, KnowledgeBase) else open_with_starter(kb) as base,
        nullcontext()
        if scheduler is None
        else executor_for(
            scheduler,
            workers,
            n_threads=threads,
            algorithms=settings.algorithms,
            seconds=budget.left,
            on_note=display.say,
        ) as executor,
        interrupts_of_caller(lambda _: display.say(STOPPING)) as interrupts,
    ):
        if settings.uses_memory and settings.exclude_datasets:
            check_left_out(base, settings.exclude_datasets, own=(dataset.name, dataset.fingerprint))
        tuned = tune_dataset(
            dataset,
            settings,
            kb=base,
            executor=executor,
            output=folder,
            single=single,
            threads=threads,
            on_progress=display.progress,
            on_phase=display.phase,
            on_note=display.say,
            should_stop=interrupts,
            budget=budget,
            resume=resume,
            predictions=predictions,
            test=test,
        )
    if tuned.found.error:
        warnings.warn(tuned.found.error, UserWarning, stacklevel=3)
    if interrupts():
        told = f"the model is the best after {counted(len(tuned.found.trials), 'evaluation')}"
        if tuned.finished.kind == "fallback":
            told = "no evaluation was complete, so the model is a fallback"
        warnings.warn(f"The search was interrupted: {told}.", UserWarning, stacklevel=3)
    return TuneResult(tuned.finished.model, tuned.report, folder, tuned.front)


def _seconds_in(time_budget: str | float | None, iterations: int | None) -> float | None:
    if time_budget is None:
        return seconds_of(DEFAULT_BUDGET) if iterations is None else None
    return seconds_of(time_budget if isinstance(time_budget, str) else str(float(time_budget)))
