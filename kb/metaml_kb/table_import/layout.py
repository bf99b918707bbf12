"""The meaning of the columns of a third-party table of evaluated configurations."""

from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from metaml_kb.dimensions import UNKNOWN
from metaml_kb.errors import BadTable
from metaml_kb.records import TASKS
from metaml_kb.table_import.file import TableFile

NEGATED = "neg_"


@dataclass(frozen=True, slots=True, kw_only=True)
class TableLayout:
    """The role of each column of a table. A column without a role is a hyperparameter.

    - `dataset_column`: names the data set; it is stored as `dataset_prefix` + the cell.
    - `task`: the task of all data sets, if it is known and the same.
    - `algorithm` for all rows, or `algorithm_column`.
    - `score_columns`: stored under the names in `metrics` (default: the column's name). Higher is better. Those in
      `lower_is_better` are negated, and their name gets the prefix `neg_`.
    - `seconds_column`: the seconds of an evaluation, stored as `fit_seconds`.
    - `speed_column`: the speed of the host, such as `scimark`. It is rounded to two digits and stored as the processor
      of the run's environment (`scimark 1700`). It is not stored as `reference_seconds`, which is another workload.
    - `proposer_column`: who proposed the configuration, stored as the run's proposal.
    - `seed_column`: the seed. Without it, a configuration that occurs again with another score is a repetition and gets
      the next seed: 0, 1, 2 … in the order of the file.
    - `config_column`: hyperparameters as a Python literal or a JSON dict. It is parsed, never evaluated.
    - `ignore_columns`: left out.
    - `word_columns`: every cell is a word, even `None` or a number.
    - `decimal_columns`: every number is a decimal, even if this file has only integers.
    - `defaults`: the text that an empty cell of a column means, such as `{"replace": "TRUE"}`.
    - `empty_means`: what any other empty cell means. "inactive" leaves the hyperparameter out. "default" stores the
      word `default`, because the table does not give the value.
    - `failed_score`: a row whose scores all equal it is stored as failed, without scores. So is a row without scores.
    - `fold_plan`: a name for the way the scores were measured. Tables that were measured differently need different
      names.
    - `separator`: default: detected from the first line.

    `metaml_kb.table_import.cells` explains how a cell is read.
    """

    dataset_column: str
    score_columns: tuple[str, ...]
    dataset_prefix: str = ""
    algorithm: str | None = None
    algorithm_column: str | None = None
    metrics: tuple[str, ...] = ()
    lower_is_better: tuple[str, ...] = ()
    seconds_column: str | None = None
    speed_column: str | None = None
    proposer_column: str | None = None
    seed_column: str | None = None
    config_column: str | None = None
    ignore_columns: tuple[str, ...] = ()
    word_columns: tuple[str, ...] = ()
    decimal_columns: tuple[str, ...] = ()
    defaults: Mapping[str, str] = field(default_factory=dict)
    empty_means: Literal["inactive", "default"] = "inactive"
    failed_score: float | None = None
    task: str = "unknown"
    fold_plan: str = "imported"
    separator: str | None = None

    def settings(self) -> dict[str, Any]:
        """Return the fields that are set, for the settings of the import session."""
        return {name: value for name, value in asdict(self).items() if value not in (None, "", (), {})}


@dataclass(frozen=True, slots=True)
class AppliedLayout:
    """A layout applied to the header of a table: the metric and sign of each score column, and the hyperparameters."""

    metrics: Mapping[str, str]
    signs: Mapping[str, float]
    hyperparameters: tuple[str, ...]


def assign_roles(layout: TableLayout, table: TableFile) -> AppliedLayout:
    """Return the role of each column. Raises `BadTable` at the first contradiction between layout and header."""
    if (layout.algorithm is None) == (layout.algorithm_column is None):
        raise BadTable("Either one algorithm or a column of algorithms is needed: --algorithm or --algorithm-column.")
    if not layout.score_columns:
        raise BadTable(f"No score column was named for {table.path.name}. Choose one or more with --score-column.")
    if layout.task not in (*TASKS, UNKNOWN):
        raise BadTable(
            f"There is no task {layout.task!r}. Choose --task binary, multiclass or regression, or leave it out."
        )
    used: dict[str, str] = {}
    for option, column in _named(layout):
        table.require(column, option)
        if column in used:
            raise BadTable(f"The column {column!r} was named with {used[column]} and with {option}. Keep one of them.")
        used[column] = option
    hyperparameters = tuple(name for name in table.columns if name and name not in used)
    for option, columns in (
        ("--word-column", layout.word_columns),
        ("--decimal-column", layout.decimal_columns),
        ("--default", layout.defaults),
    ):
        for column in columns:
            table.require(column, option)
            if column not in hyperparameters:
                raise BadTable(f"The column {column!r} is not a hyperparameter ({used[column]}). Leave out {option}.")
    metrics = _metrics(layout)
    signs = {column: -1.0 if column in layout.lower_is_better else 1.0 for column in metrics}
    return AppliedLayout(metrics, signs, hyperparameters)


def _named(layout: TableLayout) -> Iterator[tuple[str, str]]:
    """Yield each column that has a role, after the option that gives it this role."""
    for name in ("dataset", "algorithm", "seconds", "speed", "proposer", "seed", "config"):
        column = getattr(layout, f"{name}_column")
        if column is not None:
            yield f"--{name}-column", column
    for column in layout.score_columns:
        yield "--score-column", column
    for column in layout.ignore_columns:
        yield "--ignore-column", column


def _metrics(layout: TableLayout) -> dict[str, str]:
    """Return the name under which each score column is stored."""
    names = layout.metrics or layout.score_columns
    if len(names) != len(layout.score_columns):
        raise BadTable(
            f"There are {len(layout.score_columns)} score columns and {len(names)} metrics. "
            "Give one --metric for each --score-column, in the same order."
        )
    for column in layout.lower_is_better:
        if column not in layout.score_columns:
            raise BadTable(
                f"The column {column!r} is lower-is-better but no score. Score columns: "
                f"{', '.join(layout.score_columns)}. Name it with --score-column too."
            )
    metrics = {}
    for column, name in zip(layout.score_columns, names, strict=True):
        needs_prefix = column in layout.lower_is_better and not name.startswith(NEGATED)
        metrics[column] = NEGATED + name if needs_prefix else name
    if len(set(metrics.values())) < len(metrics):
        raise BadTable(f"Two score columns share a metric: {', '.join(metrics.values())}. Give each its own --metric.")
    return metrics
