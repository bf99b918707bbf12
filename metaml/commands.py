"""Python twins of the other commands: `metaml.suggest` does what `metaml suggest` does, and so on.

Where a command takes `--kb`, its twin takes `kb`: a file, a URL or an open `KnowledgeBase`, by default METAML_KB, else
the user's own.
"""

import secrets
import sys
import warnings
from collections.abc import Iterable
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from metaml.algorithms import SEARCHED
from metaml.budget import seconds_of
from metaml.cluster.choice import Scheduler, executor_for
from metaml.data import TASKS, ColumnOptions, read_frame
from metaml.data.arrow import ArrowTable, as_pandas
from metaml.data.given import dataset_in, names_in, one_or_more
from metaml.errors import BadDataset, BadRequest
from metaml.evaluation import Limits
from metaml.experience.learning import histories, learn_all, ranking_quality, requests_for
from metaml.experience.suggest import COLUMNS, request_for
from metaml.experience.suggest import suggest as suggest_for
from metaml.laboratory.compare import Study, methods_of, study
from metaml.laboratory.load import metafeatures_of, pools_of
from metaml.metafeatures import describe as describe_dataset
from metaml.metafeatures.table import as_table
from metaml.model import Model
from metaml.model import load as load_model
from metaml.model.checking import Check
from metaml.random_bot.bot import DEFAULT_LIMITS, BotSettings, run_bot
from metaml.random_bot.tally import BotReport
from metaml.records.explanation import run_facts
from metaml.records.kept_predictions import form_of
from metaml.records.reproduction import Reproduction, dataset_of
from metaml.records.reproduction import reproduce as evaluate_again
from metaml.seeds import MOST_SEED
from metaml.sources.named import named_sources
from metaml.spaces.grid import Grid
from metaml.starter import open_with_starter
from metaml_kb import KnowledgeBase, open_kb
from metaml_kb.lookup import StoredRun, find_run

Place = str | Path | KnowledgeBase | None
Data = str | Path | pd.DataFrame | ArrowTable


def suggest(
    data: Data,
    target: str | None = None,
    *,
    n: int = 10,
    task: str | None = None,
    metric: str = "auto",
    algorithms: str | Iterable[str] | None = None,
    exclude_datasets: str | Iterable[str] = (),
    kb: Place = None,
) -> pd.DataFrame:
    """Return the configurations to try first on a data set, from all past runs, without running anything.

    `data` is a csv, parquet or ARFF file or a frame, `target` a column, by default the last one. There are at most `n`
    rows. `task` is binary, multiclass or regression, by default found out. `metric` "auto" is ROC AUC, log loss or
    RMSE. `algorithms` limits the suggestions to these names. Experience with `exclude_datasets` and their
    near-duplicates is ignored. `kb` is the knowledge base to ask.

    The columns are `rank`, `algorithm`, `expected_sd` (standard deviations above the mean of a data set's scores),
    `seconds` (of one evaluation on all rows), `config`, `reasons` (sentences) and `carriers` (the past data sets that
    speak for it). There are no rows if the runs are on too few data sets to advise. Raises `BadDataset` for data that
    cannot be used and `BadRequest` for a metric, an algorithm or a data set that does not exist.

    >>> from sklearn.datasets import load_iris
    >>> suggest(load_iris(as_frame=True).frame, kb=":memory:").columns.tolist()
    ['rank', 'algorithm', 'expected_sd', 'seconds', 'config', 'reasons', 'carriers']
    """
    if n < 1:
        raise BadRequest(f"n is {n}, but at least 1 suggestion must be asked for.")
    dataset = dataset_in(data, target, task)
    request = request_for(dataset, metric=metric, algorithms=names_in(algorithms or ()))
    with _opened(kb, create=kb is None) as base:
        found = suggest_for(base, dataset, request, n=n, exclude_datasets=one_or_more(exclude_datasets))
    return pd.DataFrame(found.rows, columns=list(COLUMNS))


def why(run: str, kb: Place = None) -> dict[str, Any]:
    """Return all that is known of a run as plain JSON: who proposed it, what was predicted, and the result.

    `run` is the key of a run or its beginning, as the column `run` of `KnowledgeBase.runs` has it. The reasons and the
    past data sets that spoke for the run are in `["proposal"]["details"]`. `kb` is the knowledge base that has it.
    Raises `metaml_kb.errors.BadQuery` if no run, or more than one, has such a key.

    >>> from metaml_kb import DatasetRecord, Run
    >>> with open_kb(":memory:") as kb:
    ...     _ = kb.add_dataset(DatasetRecord("f1", "mine", task="binary"))
    ...     run = Run(dataset="f1", algorithm="svm", config={"C": 1.0}, scores={"accuracy": [0.5, 1.0]})
    ...     _ = kb.add_run(run)
    ...     facts = why(run.identity[:8], kb)
    >>> facts["algorithm"], facts["scores"]
    ('svm', {'accuracy': 0.75})
    """
    with _opened(kb) as base:
        return run_facts(find_run(base, run))


def reproduce(run: str, data: Data | None = None, *, target: str | None = None, kb: Place = None) -> Reproduction:
    """Evaluate a stored run again, with the same data, folds, configuration and seed, and return the comparison.

    `run` is the key of a run or its beginning. `data` is the file or frame that the run was made on; the data sets of
    `bot(builtin=True)` need none. `target` is a column, by default the stored one. `kb` is the knowledge base that has
    the run. In the answer, `is_same` says whether all scores are the same (to 1e-9); `differences` and `versions` list
    what is not.

    Raises `BadDataset` if the data is not that of the run, `BadRequest` if the run cannot be made again, and
    `metaml_kb.errors.BadQuery` if no run, or more than one, has such a key.

    >>> reproduce("1f3a9c02", kb=":memory:")
    Traceback (most recent call last):
    metaml_kb.errors.BadQuery: ...
    """
    with _opened(kb) as base:
        stored = find_run(base, run)
    table = as_pandas(data)
    if isinstance(table, pd.DataFrame):
        return _reproduce_on_frame(stored, table, target)
    return evaluate_again(stored, dataset_of(stored, None if table is None else Path(table), target))


def _reproduce_on_frame(stored: StoredRun, frame: pd.DataFrame, target: str | None) -> Reproduction:
    known = stored.dataset
    options = ColumnOptions.from_json(known.details.get("roles"))
    task = known.task if known.task in TASKS else None
    dataset = dataset_in(frame, target or known.target, task, known.name, options=options)
    if dataset.fingerprint != known.fingerprint:
        raise BadDataset(
            f"The frame is not the data that run {stored.key[:8]} was made on: it has {len(dataset.y)} rows, "
            f"{dataset.X.shape[1]} features and fingerprint {dataset.fingerprint[:8]}, while {known.name} had "
            f"{known.n_rows} rows, {known.n_columns} features and {known.fingerprint[:8]}. "
            "Give that data, with its rows in the same order."
        )
    return evaluate_again(stored, dataset)


def explain(
    model: str | Path | Model,
    data: Data,
    *,
    label: Any = None,
    samples: int = 5,
    seed: int = 0,
) -> pd.DataFrame:
    """Return what each column adds to each prediction: `output` = `base` + the sum of `contribution of COLUMN`.

    `model` is a model or where one was saved, `data` a csv, parquet or ARFF file or a frame. The output is the
    predicted number, or the probability of the predicted class; with `label`, of that class in every row. Members that
    are not boosted trees are explained by so many pairs of `samples`, drawn by `seed`. `Model.explain` has all classes
    at once.

    Raises `BadModel` if there is no model, and `BadRequest` for a class that does not exist.

    >>> explain("nowhere", "new.csv")
    Traceback (most recent call last):
    metaml.errors.BadModel: There is no model at nowhere. ...
    """
    loaded = model if isinstance(model, Model) else load_model(model)
    found = loaded.explain(_rows_for(loaded, data), samples=samples, seed=seed)
    return found.table(label)


def check(model: str | Path | Model, data: Data, *, limit: float = 0.6) -> Check:
    """Return whether new rows are like those that a model was trained on, and what differs.

    `model` is a model or where one was saved, `data` a csv, parquet or ARFF file or a frame, with or without the
    target. `limit` is the area under the curve, 0.5 to 1, by which a classifier may tell them apart. In the answer,
    `differs` says whether they differ, `reasons` why in sentences, and `table()` has a row for each column.

    Raises `BadModel` if there is no model, and `BadDataset` for too few rows.

    >>> check("nowhere", "new.csv")
    Traceback (most recent call last):
    metaml.errors.BadModel: There is no model at nowhere. ...
    """
    loaded = model if isinstance(model, Model) else load_model(model)
    return loaded.check(_rows_for(loaded, data), limit=limit)


def _rows_for(model: Model, data: Data) -> pd.DataFrame:
    table = as_pandas(data)
    return table if isinstance(table, pd.DataFrame) else read_frame(table, like=model.schema)


def describe(
    data: Data, target: str | None = None, *, task: str | None = None, seconds: float | None = 30.0
) -> pd.DataFrame:
    """Return a data set's metafeatures by OpenML's names: columns `metafeature`, `value` and `undefined because`.

    `data` is a csv, parquet or ARFF file or a frame, `target` a column, by default the last one, and `task` binary,
    multiclass or regression, by default found out. `seconds` is the time allowance; what does not fit is NaN, with the
    reason. Raises `BadDataset` for data that cannot be used.

    >>> from sklearn.datasets import load_iris
    >>> table = describe(load_iris(as_frame=True).frame, seconds=0.5).set_index("metafeature")
    >>> float(table.loc["NumberOfInstances", "value"])
    150.0
    """
    return as_table(describe_dataset(dataset_in(data, target, task), seconds=seconds))


def learn(
    *,
    metric: str = "auto",
    exclude_datasets: str | Iterable[str] = (),
    evaluate: bool = False,
    algorithms: str | Iterable[str] | None = None,
    kb: Place = None,
    verbose: int = 0,
) -> pd.DataFrame:
    """Learn from all runs which configurations to try first on a new data set; return what was learnt from.

    `metric` "auto" means those that `tune` uses by default. Experience with `exclude_datasets` and their
    near-duplicates is left out. `kb` is the knowledge base to learn from; the lessons are kept beside it. The table
    has a row for each kind of task, with its numbers of algorithms, data sets and runs, and the seconds that it took.

    With `evaluate`, nothing is kept. The table then has Kendall's tau-b (-1 to 1, higher is better) between predicted
    and true order of configurations on data sets that were left out, for these `algorithms` (by default all).
    `verbose` = 1 prints progress to standard error. Raises `BadRequest` if there is nothing to learn from.

    >>> learn(kb=":memory:")
    Traceback (most recent call last):
    metaml.errors.BadRequest: the knowledge base in memory holds no data set to learn from. ...
    """
    on_note = _note if verbose else _silent
    with _opened(kb) as base:
        requests = requests_for(base, metric=metric, exclude_datasets=one_or_more(exclude_datasets))
        if not evaluate:
            return learn_all(base, requests, on_note=on_note)
        known = histories(base, requests, algorithms=names_in(algorithms or ()), on_note=on_note)
        return pd.DataFrame([row for found in known for row in ranking_quality(found)])


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
    on_note, is_cluster = _note if verbose else _silent, scheduler is not None
    with (
        _opened(kb, create=True) as base,
        executor_for(scheduler, workers, on_note=on_note) if is_cluster else nullcontext() as executor,
    ):
        report = run_bot(base, sources, settings, on_note=on_note, executor=executor, batches=is_cluster)
    if report.rescue:
        warnings.warn(report.rescue, UserWarning, stacklevel=2)
    return report


def replay(
    *,
    metric: str = "accuracy",
    optimisers: str | Iterable[str] = ("default", "gbqr", "forest", "random"),
    policies: str | Iterable[str] = (),
    algorithms: str | Iterable[str] | None = None,
    datasets: str | Iterable[str] | None = None,
    seeds: int = 3,
    evaluations: int = 100,
    most: int = 500,
    workers: int = 1,
    kb: Place = None,
) -> Study:
    """Return which optimiser would have been best on recorded runs, by look-up: nothing is trained.

    Each of the `optimisers` is simulated `seeds` times, for so many `evaluations`, on every data set with at least 20
    configurations of an algorithm; at most `most` of them are used. Runs are compared by `metric`. `policies` are
    bandits over the algorithms. `algorithms` and `datasets` choose among the runs of the knowledge base `kb`. `workers`
    is the number of simulations at a time.

    In the answer, `regret` has a row for each algorithm and optimiser, in percent of the range of a data set's scores,
    lower is better; differences are to the last optimiser. `curves` has the same by evaluations and by seconds,
    `policies` the gap of each bandit. Raises `BadRequest` for an optimiser that does not exist, or for too few runs.

    >>> replay(optimisers="guessing", kb=":memory:")
    Traceback (most recent call last):
    metaml.errors.BadRequest: There is no optimiser 'guessing'. Choose among: ...
    """
    methods = methods_of(names_in(optimisers))
    with _opened(kb) as base:
        pools = pools_of(
            base,
            metric=metric,
            algorithms=None if algorithms is None else names_in(algorithms),
            datasets=None if datasets is None else one_or_more(datasets),
            most=most,
        )
        described = metafeatures_of(base)
    return study(
        pools,
        methods,
        policies=names_in(policies),
        n_seeds=seeds,
        n=evaluations,
        n_workers=workers,
        metafeatures=described,
    )


def _opened(kb: Place, *, create: bool = False) -> AbstractContextManager[KnowledgeBase]:
    """Return a knowledge base to use in a `with` block; one that was open already stays open."""
    if isinstance(kb, KnowledgeBase):
        return nullcontext(kb)
    if create:
        return open_with_starter(kb)
    return open_kb(kb, create=kb == ":memory:")


def _note(text: str) -> None:
    print(text, file=sys.stderr)


def _silent(_: str) -> None:
    pass
