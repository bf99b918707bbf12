"""`metaml tune`: find the best model within a time budget."""

import shlex
import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaml.seeds import MOST_SEED
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
    path: Annotated[Path, typer.Argument(help="A csv, parquet or ARFF file.")],
    target: Annotated[str | None, typer.Option(help="Column to predict; default: the last one.")] = None,
    task: Annotated[str | None, typer.Option(help="binary, multiclass or regression; default: detected.")] = None,
    ignore: Ignore = None,
    columns: Annotated[
        list[str] | None, typer.Option(help="Columns to use, comma-separated; default: all but the target.")
    ] = None,
    categorical: Annotated[
        list[str] | None, typer.Option(help="Columns to read as categories, comma-separated.")
    ] = None,
    numeric: Annotated[list[str] | None, typer.Option(help="Columns to read as numbers, comma-separated.")] = None,
    ordinal: Annotated[
        list[str] | None, typer.Option(help="Levels of a column in their order: 'size:S<M<L'; may be repeated.")
    ] = None,
    increasing: Annotated[
        list[str] | None,
        typer.Option(
            help="Columns with which the prediction may only rise, comma-separated; of two classes, that of the second."
        ),
    ] = None,
    decreasing: Annotated[
        list[str] | None, typer.Option(help="Columns with which the prediction may only fall, comma-separated.")
    ] = None,
    metric: Annotated[
        str, typer.Option(help="Score to optimise: f1, accuracy, r2 …; auto: ROC AUC, log loss or RMSE.")
    ] = "auto",
    objectives: Annotated[
        str | None,
        typer.Option(help="Two or three to search the Pareto front of, such as roc_auc,predict_seconds; see docs."),
    ] = None,
    front_method: Annotated[
        str, typer.Option(help="How a front is searched: parego, sms_ego, latin_hypercube or random.")
    ] = "parego",
    costs: Annotated[
        list[str] | None,
        typer.Option(help="What errors cost, as 'bad:good=10,good:bad=1' (true class, decision); others cost 1."),
    ] = None,
    time_budget: Annotated[str | None, typer.Option(help="Total time, such as 10m; default: 5m.")] = None,
    iterations: Annotated[
        int | None, typer.Option(min=1, help="End after this many evaluations, or when the time is up.")
    ] = None,
    output: Annotated[Path, typer.Option(help="Folder for model, report and tables.")] = Path("metaml-output"),
    algorithms: Annotated[str | None, typer.Option(help="Comma-separated; default: all.")] = None,
    exclude: Annotated[str | None, typer.Option(help="Algorithms to leave out, comma-separated.")] = None,
    preset: Annotated[
        str | None,
        typer.Option(help="A whole way to search: default, or thesis (the method of van Hoof 2018)."),
    ] = None,
    surrogate: Annotated[
        str | None,
        typer.Option(
            help="default, gbqr, gaussian_process, forest, random …; choices may follow: gbqr+focus+interleaved."
        ),
    ] = None,
    acquisition: Annotated[
        str | None, typer.Option(help="What makes a candidate worth trying: upper_bound, confidence_bound:2 …")
    ] = None,
    starts: Annotated[
        str | None,
        typer.Option(help="The first configurations: portfolio, delta, best, knn or design; delta:5 takes five."),
    ] = None,
    batch: Annotated[
        str | None, typer.Option(help="How running evaluations count: believer, constant_liar or qlcb.")
    ] = None,
    space: Annotated[
        str | None, typer.Option(help="joint: one model over all algorithms instead of a bandit over them.")
    ] = None,
    bandit: Annotated[str | None, typer.Option(help="How algorithms share the budget: thompson, ucb1 …")] = None,
    schedule: Annotated[
        str, typer.Option(help="How workers share the search: asynchronous, or rambo (batches packed by seconds).")
    ] = "asynchronous",
    search: Annotated[
        str, typer.Option(help="hyperband, bohb, halving or look: try on few rows first, promote the best.")
    ] = "default",
    fidelity: Annotated[str, typer.Option(help="With --search: fewer rows, folds or trees at first.")] = "rows",
    single: Annotated[bool, typer.Option("--single", help="One model instead of an ensemble.")] = False,
    readable: Annotated[
        bool, typer.Option("--readable", help="Only models that a person can read; the report shows the whole model.")
    ] = False,
    refit: Annotated[
        bool, typer.Option("--refit", help="Fit the model to all rows: it is smaller and predicts faster.")
    ] = False,
    layers: Annotated[
        int | None,
        typer.Option(min=1, max=2, help="Layers of the ensemble; default: 2 if time allows, 1 with --iterations."),
    ] = None,
    no_calibration: Annotated[
        bool, typer.Option("--no-calibration", help="Leave class probabilities as the members give them.")
    ] = False,
    repeats: Annotated[
        int | None,
        typer.Option(
            min=0, help="Evaluate the best runs this often on new folds to choose the ensemble; default: up to 2."
        ),
    ] = None,
    no_sample: Annotated[
        bool, typer.Option("--no-sample", help="Keep no training rows in the model file; explain and check need them.")
    ] = False,
    max_predict_ms: Annotated[
        float | None,
        typer.Option(min=0, help="Most milliseconds that the saved model may take for one row, on this machine."),
    ] = None,
    max_predict_ms_1000: Annotated[
        float | None, typer.Option(min=0, help="Most milliseconds that it may take for 1,000 rows, on this machine.")
    ] = None,
    max_model_mb: Annotated[
        float | None, typer.Option(min=0, help="Largest size of the model file, in megabytes.")
    ] = None,
    max_columns: Annotated[int | None, typer.Option(min=1, help="Most columns that the model may read.")] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            min=1,
            help="Evaluations in parallel; default: all cores, up to 8; 1 with --iterations; on a cluster all slots.",
        ),
    ] = None,
    threads: Annotated[
        int, typer.Option(min=1, help="Threads per evaluation; with more threads, fewer evaluations run in parallel.")
    ] = 1,
    stop_at: Annotated[
        float | None,
        typer.Option(help="End when an evaluation reaches this score, such as 0.95; for a loss, this or less."),
    ] = None,
    patience: Annotated[
        int | None, typer.Option(min=1, help="End after this many evaluations without a better score.")
    ] = None,
    folds: Annotated[
        int,
        typer.Option(min=1, help="Cross-validation folds; 1: hold out a fifth, as metaml does for large data."),
    ] = 5,
    limit_seconds: Annotated[float, typer.Option(min=0.1, help="Wall-clock limit of one evaluation.")] = 120.0,
    limit_memory: Annotated[float, typer.Option(min=10, help="Memory limit of one evaluation, in megabytes.")] = 4000.0,
    max_rows: Annotated[
        int | None, typer.Option(min=10, help="Most rows to cross-validate; default: chosen by the time budget.")
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, max=MOST_SEED, help="The same seed and --iterations give the same runs.")
    ] = 0,
    group: Annotated[
        str | None,
        typer.Option(help="Column of groups, such as customers: no group is in both training and test rows."),
    ] = None,
    keep_group: Annotated[bool, typer.Option("--keep-group", help="Use the group column as a feature, too.")] = False,
    time_column: Annotated[
        str | None,
        typer.Option("--time", help="Column of dates or numbers: train on earlier rows, test on later ones."),
    ] = None,
    weight: Annotated[
        str | None, typer.Option(help="Column that says how much each row counts, in learning and in every score.")
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(help="A second table with the same columns. It is used only to score the final model."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Continue an interrupted search with the rest of its budget.")
    ] = False,
    predictions: Annotated[bool, typer.Option("--predictions", help="Also write out-of-fold predictions.")] = False,
    keep_predictions: KeepPredictions = False,
    float32: Float32 = False,
    exclude_dataset: Annotated[
        list[str] | None,
        typer.Option(help="Ignore experience with this data set and its near-duplicates; may be repeated."),
    ] = None,
    sign: Annotated[
        Path | None, typer.Option(metavar="KEY", help="Sign the model with the secret key in this file.")
    ] = None,
    scheduler: Scheduler = None,
    tls_ca: TlsCa = None,
    tls_cert: TlsCert = None,
    tls_key: TlsKey = None,
    insecure_scheduler: InsecureScheduler = False,
    no_kb: Annotated[bool, typer.Option("--no-kb", help="Neither use nor change a knowledge base.")] = False,
    user: User = None,
    project: Project = None,
    kb: KB = None,
) -> None:
    """Find the best model for a data set within a budget, and keep every run.

    Ctrl-C ends the search and saves the best model so far. After a crash, --resume continues without repeating
    anything.

    Example: metaml tune data.csv --target price --time-budget 2m --output result/
    """
    from metaml.budget import Budget, seconds_alive, seconds_of
    from metaml.cluster.choice import executor_for
    from metaml.model.archive import MODEL_FILE
    from metaml.model.signing import read_key
    from metaml.model.signing import sign as sign_model
    from metaml.system.cores import default_workers

    if time_budget is None and not iterations:
        time_budget = "5m"
    seconds = None if time_budget is None else seconds_of(time_budget)
    # The time budget starts when the command is typed. A process that is older was started for something else.
    alive = seconds_alive()
    budget = Budget(seconds, used_before=alive if alive < LONGEST_START_SECONDS else 0.0)
    default = default_workers(iterations, threads)
    key = None if sign is None else read_key(sign)
    line = LiveLine(used_before=budget.used)
    line.phase("reading")
    address = address_of(scheduler, tls_ca, tls_cert, tls_key, insecure_scheduler) if scheduler is not None else None
    chosen_executor = executor_for(
        address, workers, default=default, n_threads=threads, seconds=budget.left, on_note=line.say
    )
    # The workers import their libraries while this process reads the data and queries the knowledge base.
    with ticking(line), chosen_executor as executor, counted_interrupts(line, STOPPING) as interrupts:
        from metaml.algorithms import READABLE, SEARCHED
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
        wanted = names_in(algorithms) if algorithms else READABLE if readable else SEARCHED
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
