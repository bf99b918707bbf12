"""`metaml.open_kb`: a knowledge base that also answers what its runs teach.

`metaml_kb` stores and knows no science. So the science adds its questions here, in a subclass that holds nothing more.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

import pandas as pd

from metaml.experience.insight_runs import algorithm_runs
from metaml.experience.rerank import rerank
from metaml.insight.best_settings import SPLIT_ROWS
from metaml.insight.summary import Insight, insight
from metaml.spaces.config import Config
from metaml.starter import open_with_starter
from metaml_kb import KnowledgeBase


class InsightfulKnowledgeBase(KnowledgeBase):
    """A `metaml_kb.KnowledgeBase` that can also be asked what its runs teach; `engine` is its connection to a database.

    >>> with open_kb(":memory:") as kb:
    ...     len(kb.runs())
    0
    """

    def insight(
        self,
        algorithm: str,
        metric: str,
        *,
        rows: tuple[float, float] | None = None,
        task: str | None = None,
        split_rows: Sequence[int] = SPLIT_ROWS,
        default: Config | None = None,
    ) -> Insight:
        """Return what the runs of an `algorithm` teach: best settings by size, gain on the default, importance, ranges.

        `metric` is a stored name; `log_loss` also finds `neg_log_loss`. `rows` are the least and the largest number of
        rows of the data sets that count, `task` is binary, multiclass or regression. `split_rows` divides data sets by
        their rows. `default` replaces the default configuration that gains are compared with. Raises
        `metaml.errors.BadRequest` if there are no such runs.

        >>> from metaml.errors import BadRequest
        >>> with open_kb(":memory:") as kb:
        ...     try:
        ...         kb.insight("svm", "accuracy")
        ...     except BadRequest as error:
        ...         print("svm" in str(error))
        True
        """
        runs = algorithm_runs(self, algorithm, metric=metric, task=task, rows=rows)
        return insight(runs, split_rows=split_rows, default=default)

    def rerank(
        self,
        metric: str | None = None,
        *,
        costs: Mapping[tuple[str, str], float] | None = None,
        dataset: str | Sequence[str] | None = None,
    ) -> pd.DataFrame:
        """Return runs with stored predictions, ranked anew by a `metric` or by what errors cost.

        `costs` has what it costs to take a true class for another, by pairs of both. `dataset` names the data sets that
        count, by default all. `metaml.experience.rerank.rerank` explains the columns.

        >>> from metaml.errors import BadRequest
        >>> with open_kb(":memory:") as kb:
        ...     try:
        ...         kb.rerank("accuracy")
        ...     except BadRequest as error:
        ...         print("keep-predictions" in str(error))
        True
        """
        return rerank(self, metric=metric, costs=costs, dataset=dataset)


def open_kb(path_or_url: str | Path | None = None) -> InsightfulKnowledgeBase:
    """Return a knowledge base that is open, created with the runs that come with metaml if it is new.

    `path_or_url` is a SQLite file, a database URL, or ":memory:" for one that is gone when it is closed. Default: the
    environment variable METAML_KB, else the user's own. Raises `metaml_kb.errors.KBError` if it cannot be opened.

    >>> with open_kb(":memory:") as kb:
    ...     len(kb.runs())
    0
    """
    return InsightfulKnowledgeBase(open_with_starter(path_or_url).engine)
