"""The tables. Their names and columns are a public interface: people write SQL against them.

What many runs share (data set, algorithm, metrics, fold plan, environment, session) is one row in a small table. A run
is one row in `run`, and one in `configuration` if that is new.

The values of a configuration, and the scores of a run, are one JSON array; their names are stored once, in
`parameter_set` and `metric_set`. Compared with a row per value, the file is half as large and twice as fast to read.

The views show them as rows: `setting` (a hyperparameter of a configuration), `score` (a metric of a run) and `result`
(a score with names instead of numbers).
"""

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    Double,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    SmallInteger,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData(
    naming_convention={
        "ix": "ix_%(table_name)s_%(column_0_N_name)s",
        "uq": "uq_%(table_name)s_%(column_0_N_name)s",
        "fk": "fk_%(table_name)s_%(column_0_name)s",
        "pk": "pk_%(table_name)s",
    }
)


def _id() -> Column[int]:
    # Python assigns row numbers under the writer's lock (see `dimensions`), so no database needs RETURNING.
    return Column("id", Integer, primary_key=True, autoincrement=False)


def _json(name: str, kind: type, *, unique: bool = False) -> Column[str]:
    """Return a column of JSON texts, each of them an object (`dict`) or an array (`list`)."""
    return Column(name, Text, nullable=False, unique=unique or None, info={"json": kind})


knowledge_base = Table(
    "knowledge_base",
    metadata,
    _id(),
    Column("key", Text, nullable=False),
    Column("created_at", Double, nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("salt", Text, nullable=False),
)

dataset = Table(
    "dataset",
    metadata,
    _id(),
    Column("fingerprint", Text, nullable=False, unique=True),
    Column("name", Text, nullable=False, index=True),
    Column("task", Text, nullable=False),
    Column("target", Text),
    Column("n_rows", Integer),
    Column("n_columns", Integer),
    Column("n_classes", Integer),
    Column("source", Text, nullable=False),
    _json("details", dict),
    Column("added_at", Double, nullable=False),
)

metafeature = Table(
    "metafeature",
    metadata,
    Column("dataset_id", ForeignKey("dataset.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("source", Text, primary_key=True),
    Column("value", Double),
    Column("reason", Text),
    sqlite_with_rowid=False,
)

metafeature_group = Table(
    "metafeature_group",
    metadata,
    Column("dataset_id", ForeignKey("dataset.id"), primary_key=True),
    Column("name", Text, primary_key=True),
    Column("source", Text, primary_key=True),
    Column("seconds", Double),
    Column("n_rows", Integer),
    sqlite_with_rowid=False,
)

algorithm = Table("algorithm", metadata, _id(), Column("name", Text, nullable=False, unique=True))

metric_set = Table(
    "metric_set",
    metadata,
    _id(),
    # The names of the metrics that a run was scored by, sorted, as a JSON array.
    _json("names", list, unique=True),
)

parameter_set = Table(
    "parameter_set",
    metadata,
    _id(),
    Column("algorithm_id", ForeignKey("algorithm.id"), nullable=False),
    # The names of the active hyperparameters, sorted, as a JSON array. Storing them once halves the file.
    _json("names", list),
    UniqueConstraint("algorithm_id", "names"),
)

configuration = Table(
    "configuration",
    metadata,
    _id(),
    Column("parameter_set_id", ForeignKey("parameter_set.id"), nullable=False),
    # 64 bits of a hash of the content: an index of the whole texts would double the file.
    Column("hash", BigInteger, nullable=False, index=True),
    # The values in the order of the names, as a JSON array; the view `setting` pairs them.
    _json("value_list", list),
)

fold_plan = Table(
    "fold_plan",
    metadata,
    _id(),
    Column("key", Text, nullable=False, unique=True),
    Column("strategy", Text, nullable=False),
    Column("n_folds", Integer),
    Column("seed", BigInteger),
    Column("max_rows", Integer),
    Column("assignment", LargeBinary),
)

environment = Table(
    "environment",
    metadata,
    _id(),
    Column("key", Text, nullable=False, unique=True),
    Column("host", Text, nullable=False),
    Column("platform", Text, nullable=False),
    Column("processor", Text, nullable=False),
    _json("versions", dict),
    Column("reference_seconds", Double),
)

session = Table(
    "session",
    metadata,
    _id(),
    Column("key", Text, nullable=False, unique=True),
    Column("kind", Text, nullable=False),
    Column("started_at", Double, nullable=False),
    Column("finished_at", Double),
    Column("seed", BigInteger),
    _json("settings", dict),
)

event = Table(
    "event",
    metadata,
    Column("session_id", ForeignKey("session.id"), primary_key=True),
    Column("number", Integer, primary_key=True, autoincrement=False),
    Column("at", Double, nullable=False),
    Column("kind", Text, nullable=False),
    _json("details", dict),
    sqlite_with_rowid=False,
)

run = Table(
    "run",
    metadata,
    _id(),
    Column("identity", LargeBinary(16), nullable=False, unique=True),
    Column("dataset_id", ForeignKey("dataset.id"), nullable=False),
    Column("algorithm_id", ForeignKey("algorithm.id"), nullable=False),
    Column("configuration_id", ForeignKey("configuration.id"), nullable=False),
    Column("fold_plan_id", ForeignKey("fold_plan.id"), nullable=False),
    Column("environment_id", ForeignKey("environment.id")),
    Column("session_id", ForeignKey("session.id")),
    Column("seed", BigInteger, nullable=False),
    Column("status", Text, nullable=False),
    Column("origin", Text, nullable=False),
    Column("probability", Double),
    Column("fit_seconds", Double),
    Column("predict_seconds", Double),
    Column("peak_megabytes", Double),
    Column("model_bytes", BigInteger),
    Column("row_seconds", Double),
    Column("n_columns_read", Integer),
    Column("error", Text),
    Column("finished_at", Double),
    Column("metric_set_id", ForeignKey("metric_set.id"), nullable=False),
    # The mean of each metric in the order of the set's names, as a JSON array; the view `score` pairs them.
    _json("score_list", list),
    # The same per fold: little-endian float64, a row per metric; NULL where only the means are known.
    Column("fold_scores", LargeBinary),
    Index(None, "dataset_id", "algorithm_id"),
)

proposal = Table(
    "proposal",
    metadata,
    Column("run_id", ForeignKey("run.id"), primary_key=True),
    Column("proposer", Text, nullable=False),
    Column("predicted_score", Double),
    Column("predicted_std", Double),
    Column("predicted_seconds", Double),
    Column("acquisition", Double),
    _json("details", dict),
)

prediction = Table(
    "prediction",
    metadata,
    Column("run_id", ForeignKey("run.id"), primary_key=True),
    Column("n_rows", Integer, nullable=False),
    Column("n_columns", SmallInteger, nullable=False),
    # Out-of-fold predictions in row order, packed as `metaml_kb.predictions` says; NaN where a row was in no test fold.
    Column("data", LargeBinary, nullable=False),
)

JSON_KINDS: dict[Column[Any], type] = {
    column: column.info["json"]
    for table in metadata.tables.values()
    for column in table.columns
    if "json" in column.info
}
"""What each column of JSON texts holds: objects (`dict`) or arrays (`list`)."""


RESULT = """
    SELECT run.id AS run_id, dataset.name AS dataset, algorithm.name AS algorithm, run.status AS status,
           score.metric AS metric, score.value AS value, run.fit_seconds AS fit_seconds,
           run.predict_seconds AS predict_seconds, run.configuration_id AS configuration_id
    FROM run
    JOIN dataset ON dataset.id = run.dataset_id
    JOIN algorithm ON algorithm.id = run.algorithm_id
    LEFT JOIN score ON score.run_id = run.id
"""

VIEWS = {
    "setting": {
        "sqlite": """
            SELECT configuration.id AS configuration_id, name.value AS name,
                   json_extract(value_list, '$[' || name.key || ']') AS value,
                   json_type(value_list, '$[' || name.key || ']') AS type
            FROM configuration
            JOIN parameter_set ON parameter_set.id = configuration.parameter_set_id
            JOIN json_each(parameter_set.names) AS name
        """,
        "postgresql": """
            SELECT configuration.id AS configuration_id, pair.name AS name, pair.value #>> '{}' AS value,
                   json_typeof(pair.value) AS type
            FROM configuration
            JOIN parameter_set ON parameter_set.id = configuration.parameter_set_id
            CROSS JOIN LATERAL ROWS FROM (
                json_array_elements_text(parameter_set.names::json), json_array_elements(configuration.value_list::json)
            ) AS pair(name, value)
        """,
    },
    "score": {
        "sqlite": """
            SELECT run.id AS run_id, name.value AS metric,
                   json_extract(score_list, '$[' || name.key || ']') AS value
            FROM run
            JOIN metric_set ON metric_set.id = run.metric_set_id
            JOIN json_each(metric_set.names) AS name
        """,
        "postgresql": """
            SELECT run.id AS run_id, pair.name AS metric, (pair.value #>> '{}')::double precision AS value
            FROM run
            JOIN metric_set ON metric_set.id = run.metric_set_id
            CROSS JOIN LATERAL ROWS FROM (
                json_array_elements_text(metric_set.names::json), json_array_elements(run.score_list::json)
            ) AS pair(name, value)
        """,
    },
    "result": {
        "sqlite": RESULT,
        "postgresql": RESULT,
    },
}
"""The query of each view, by kind of database. Other kinds of database have no views."""


def drop_views(connection: Connection) -> None:
    """Remove the views, so that their tables can change."""
    for name in reversed(VIEWS):
        connection.exec_driver_sql(f"DROP VIEW IF EXISTS {name}")


def create_views(connection: Connection) -> None:
    """Create the views."""
    for name, queries in VIEWS.items():
        if connection.dialect.name in queries:
            connection.exec_driver_sql(view_definition(name, connection.dialect.name))


def view_definition(name: str, database: str) -> str:
    """Return the SQL that creates a view in a kind of database."""
    return f"CREATE VIEW {name} AS {VIEWS[name][database]}"
