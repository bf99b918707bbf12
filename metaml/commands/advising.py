"""`metaml.suggest`, `learn` and `describe`: what experience advises, what it learns, and how it sees a data set."""

from collections.abc import Iterable

import pandas as pd

from metaml.commands.places import Data, Place, on_note_of, opened
from metaml.data.given import dataset_in, names_in, one_or_more
from metaml.errors import BadRequest
from metaml.experience.learning import histories, learn_all, ranking_quality, requests_for
from metaml.experience.suggest import COLUMNS, request_for
from metaml.experience.suggest import suggest as suggest_for
from metaml.metafeatures import describe as describe_dataset
from metaml.metafeatures.table import as_table


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
    with opened(kb, create=kb is None) as base:
        found = suggest_for(base, dataset, request, n=n, exclude_datasets=one_or_more(exclude_datasets))
    return pd.DataFrame(found.rows, columns=list(COLUMNS))


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
    on_note = on_note_of(verbose)
    with opened(kb) as base:
        requests = requests_for(base, metric=metric, exclude_datasets=one_or_more(exclude_datasets))
        if not evaluate:
            return learn_all(base, requests, on_note=on_note)
        known = histories(base, requests, algorithms=names_in(algorithms or ()), on_note=on_note)
        return pd.DataFrame([row for found in known for row in ranking_quality(found)])


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
