"""`metaml tune`: find the best model within a time budget."""

import shlex
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from metaml_cli import tune_options as option
from metaml_cli.cluster import address_of
from metaml_cli.describe import introduce
from metaml_cli.kb import KB, opened
from metaml_cli.live import LiveLine, counted_interrupts, ticking
from metaml_cli.options import (
    Float32,
    Ignore,
    InsecureScheduler,
    KeepPredictions,
    Project,
    Scheduler,
    TlsCa,
    TlsCert,
    TlsKey,
    User,
    names_in,
    prediction_form,
)
from metaml_cli.render import counted

STOPPING = "Stopping the search and saving the best model so far"
MOST_MEMBERS = 6
INCOMPLETE = 1
"""Exit code of a search whose knowledge base took no more runs, or was deleted or replaced."""
LONGEST_START_SECONDS = 60.0

if TYPE_CHECKING:
    from metaml.tuning.run import Tuned


def tune(
    path: option.TablePath,
    target: option.Target = None,
    task: option.Task = None,
    ignore: Ignore = None,
    columns: option.Columns = None,
    categorical: option.Categorical = None,
    numeric: option.Numeric = None,
    ordinal: option.Ordinal = None,
    increasing: option.Increasing = None,
    decreasing: option.Decreasing = None,
    weight: option.Weight = None,
    folds: option.Folds = 5,
    group: option.Group = None,
    keep_group: option.KeepGroup = False,
    time_column: option.TimeColumn = None,
    test: option.Test = None,
    max_rows: option.MaxRows = None,
    metric: option.Metric = "auto",
    costs: option.Costs = None,
    objectives: option.Objectives = None,
    front_method: option.FrontMethod = "parego",
    time_budget: option.TimeBudget = None,
    iterations: option.Iterations = None,
    stop_at: option.StopAt = None,
    patience: option.Patience = None,
    workers: option.Workers = None,
    threads: option.Threads = None,
    limit_seconds: option.LimitSeconds = 120.0,
    limit_memory: option.LimitMemory = 4000.0,
    seed: option.Seed = 0,
    resume: option.Resume = False,
    algorithms: option.Algorithms = None,
    exclude: option.Exclude = None,
    readable: option.Readable = False,
    preset: option.Preset = None,
    search: option.Search = "default",
    fidelity: option.Fidelity = "rows",
    surrogate: option.Surrogate = None,
    acquisition: option.Acquisition = None,
    starts: option.Starts = None,
    batch: option.Batch = None,
    space: option.Space = None,
    bandit: option.Bandit = None,
    schedule: option.Schedule = "asynchronous",
    single: option.Single = False,
    refit: option.Refit = False,
    layers: option.Layers = None,
    repeats: option.Repeats = None,
    no_calibration: option.NoCalibration = False,
    max_predict_ms: option.MaxPredictMs = None,
    max_predict_ms_1000: option.MaxPredictMs1000 = None,
    max_model_mb: option.MaxModelMb = None,
    max_columns: option.MaxColumns = None,
    no_sample: option.NoSample = False,
    output: option.Output = Path("metaml-output"),
    predictions: option.Predictions = False,
    sign: option.Sign = None,
    kb: KB = None,
    no_kb: option.NoKb = False,
    exclude_dataset: option.ExcludeDataset = None,
    keep_predictions: KeepPredictions = False,
    float32: Float32 = False,
    user: User = None,
    project: Project = None,
    scheduler: Scheduler = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure_scheduler: InsecureScheduler = False,
) -> None:
    """Find the best model for a data set within a budget.

    Every run is kept in the knowledge base.

    Ctrl-C ends the search and saves the best model so far. After a crash, --resume continues without repeating
    anything.

    Example: metaml tune data.csv --target price --time-budget 2m --output result/
    """
    from metaml.algorithms import READABLE, searched
    from metaml.budget import Budget, seconds_alive, seconds_of
    from metaml.cluster.choice import executor_for
    from metaml.evaluation.threads import threads_for
    from metaml.model.archive import MODEL_FILE
    from metaml.model.signing import read_key
    from metaml.model.signing import sign as sign_model
    from metaml.system.cores import cells_of, default_workers

    if time_budget is None and not iterations:
        time_budget = "5m"
    seconds = None if time_budget is None else seconds_of(time_budget)
    # The time budget starts when the command is typed. A process that is older was started for something else.
    alive = seconds_alive()
    budget = Budget(seconds, used_before=alive if alive < LONGEST_START_SECONDS else 0.0)
    threads = threads_for(threads, iterations, cells_of(path))
    default = default_workers(iterations, threads)
    key = None if sign is None else read_key(sign)
    line = LiveLine(used_before=budget.used)
    line.phase("reading")
    address = address_of(scheduler, tls_ca, tls_cert, tls_key, insecure_scheduler) if scheduler is not None else None
    wanted = names_in(algorithms) if algorithms else READABLE if readable else searched(seconds)
    chosen_executor = executor_for(
        address,
        workers,
        default=default,
        n_threads=threads,
        algorithms=wanted,
        seconds=budget.left,
        on_note=line.say,
    )
    # The workers import their libraries while this process reads the data and queries the knowledge base.
    with ticking(line), chosen_executor as executor, counted_interrupts(line, STOPPING) as interrupts:
        from metaml.data import ReadingLimits, column_options, read_dataset
        from metaml.evaluation import Limits
        from metaml.evaluation.model_limits import ModelLimits
        from metaml.experience.load_history import check_left_out
        from metaml.search.judging import judged_by
        from metaml.search.objectives import objective_names
        from metaml.search.presets import preset_named, with_choices
        from metaml.search.settings import TuneSettings, chosen, for_reading
        from metaml.tuning.own_test import own_test
        from metaml.tuning.run import tune as tune_dataset
        from metaml.tuning.stopping.progress import progress_text

        options = column_options(
            group=group,
            keeps_group=keep_group,
            time=time_column,
            weight=weight,
            columns=columns or (),
            categorical=categorical or (),
            numeric=numeric or (),
            ordinal=ordinal or (),
            increasing=increasing or (),
            decreasing=decreasing or (),
        )
        limits = ReadingLimits(budget, limit_memory)
        dataset = read_dataset(path, target=target, task=task, limits=limits, ignore=ignore or (), options=options)
        test_table = None if test is None else own_test(test, dataset)
        introduce(dataset, line.say)
        line.phase("describing")
        for hint in dataset.hints:
            line.say(str(hint))
        budget.drag.note(budget.used, time.process_time())
        chosen_preset = preset_named(preset)
        settings = TuneSettings(
            **judged_by(metric, costs),
            objectives=objective_names(names_in(objectives)) if objectives else (),
            front_method=front_method,
            seconds=seconds,
            n_iterations=iterations,
            algorithms=chosen(wanted, names_in(exclude or "")),
            strategy=with_choices(
                surrogate or chosen_preset.strategy, acquisition=acquisition, starts=starts, batch=batch, space=space
            ),
            bandit=bandit or chosen_preset.bandit,
            schedule=schedule,
            search=search,
            fidelity=fidelity,
            n_workers=executor.n_workers,
            n_folds=folds,
            limits=Limits(limit_seconds, limit_memory),
            max_rows=max_rows,
            seed=seed,
            uses_memory=not no_kb,
            exclude_datasets=tuple(exclude_dataset or ()),
            refits=refit,
            n_layers=layers,
            keep_predictions=prediction_form(keep_predictions, float32),
            calibrates=not no_calibration,
            keeps_sample=not no_sample,
            n_repeats=repeats,
            stop_at=stop_at,
            patience=patience,
            user=user,
            project=project,
            model_limits=ModelLimits(max_predict_ms, max_predict_ms_1000, max_model_mb, max_columns),
        )
        if readable:
            settings = for_reading(settings)
        line.phase("opening the knowledge base")
        with opened(":memory:" if no_kb else kb, create=True) as base:
            if exclude_dataset and not no_kb:
                check_left_out(base, exclude_dataset, own=(dataset.name, dataset.fingerprint))
            tuned = tune_dataset(
                dataset,
                settings,
                kb=base,
                executor=executor,
                output=output,
                single=single or readable,
                on_progress=lambda progress: line.follow(partial(progress_text, progress)),
                on_phase=line.phase,
                on_note=line.say,
                should_stop=interrupts,
                budget=budget,
                resume=resume,
                predictions=predictions,
                test=test_table,
            )
    if key is not None:
        sign_model(output / MODEL_FILE, key)
    line.close(_summary(tuned, output))
    if exclude_dataset and not no_kb and tuned.found.experience is None:
        names = " ".join(f"--exclude-dataset {name}" for name in exclude_dataset)
        line.say(f"The search used no experience. To learn without these data sets first: metaml learn {names}")
    if tuned.found.error:
        line.say(tuned.found.error)
        raise typer.Exit(INCOMPLETE)
    if interrupts():
        raise typer.Exit(interrupts.exit_code)


def _summary(tuned: "Tuned", output: Path) -> str:
    """Return what was found, in a few lines."""
    from metaml.budget import in_words
    from metaml.report.found import shipped_sentence
    from metaml.report.split_wording import own_test_sentence
    from metaml.report.wording import basis, metric_label, score_text
    from metaml.tuning.stopping.progress import advice

    finished = tuned.finished
    lines = [f"{counted(len(tuned.found.trials), 'evaluation')} in {in_words(tuned.seconds)}."]
    if finished.kind == "fallback":
        lines.append(f"Only a fallback could be fitted: {finished.why}.")
    else:
        how = "Held-out" if tuned.found.plan.n_folds == 1 else "Cross-validated"
        label = metric_label(tuned.found.metric) + basis(tuned.report)
        value = score_text(tuned.found.metric, finished.score)
        weighted = sorted((member for member in finished.chosen if member.weight), key=lambda member: -member.weight)
        n, n_layers = len(weighted), finished.model.n_layers
        kind = "single model" if n == n_layers == 1 else f"{finished.kind} of {n}"
        lines.append(f"{how} {label}: {value} ({kind}{', two layers' if n_layers > 1 else ''}).")
        for member in weighted[:MOST_MEMBERS]:
            where = f", layer {member.trial.layer}" if n_layers > 1 else ""
            lines.append(f"  {member.weight:5.0%}  {member.trial.run.algorithm}{where}")
        lines += [f"  … and {n - MOST_MEMBERS} more"] if n > MOST_MEMBERS else []
        lines += [saved] if (saved := shipped_sentence(finished.shipped, finished.why_shipped)) else []
    lines += [sentence] if (sentence := own_test_sentence(tuned.report)) else []
    lines += [] if tuned.report.own_test is None else tuned.report.own_test.notes
    lines += [told] if (told := advice(tuned.found.forecast)) else []
    if tuned.front is not None:
        lines.append(
            f"Front: {counted(len(tuned.front), 'model')}. Show: metaml show {shlex.quote(str(output))} --front"
        )
    if finished.measured is not None:
        lines.append(f"In a fresh process: {finished.measured}.")
    lines.append(f"Report: {output / 'report.html'}")
    lines.append(f"Predict: metaml predict {shlex.quote(str(output))} NEW.csv -o out.csv")
    return "\n".join(lines)
