"""Import third-party tables of evaluated configurations.

A table is read twice. The first pass checks every cell and finds the type of every column, so nothing is stored of a
table with an error in it. The second pass stores the runs, a chunk at a time.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from metaml_kb.dimensions import UNKNOWN
from metaml_kb.errors import BadTable
from metaml_kb.records import DatasetRecord, EnvironmentRecord, ProposalRecord, Run, Value
from metaml_kb.sql import KnowledgeBase
from metaml_kb.table_import.cells import (
    DEFAULT_WORD,
    MISSING,
    ColumnReader,
    ConfigReader,
    parse_config,
    read_cell,
    read_name,
    read_number,
)
from metaml_kb.table_import.file import BadCell, RowChunk, TableFile, open_table
from metaml_kb.table_import.layout import AppliedLayout, TableLayout, assign_roles

# Scores that agree in nine digits are the same measurement, as in the test for clashes in `writing`.
SAME_SCORE = ".9g"
LARGEST_SEED = 2**63


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """What happened to the rows of a table.

    - `n_rows`: rows of the table.
    - `n_new`, `n_known`: runs that were stored, and runs that the knowledge base already had.
    - `n_clashes`: known runs with another score in the table; the stored score stays.
    - `n_failed`: rows that were stored as failed, without scores.
    - `n_duplicates`: rows that are equal to an earlier row; they are skipped.
    - `n_repetitions`: rows that measure an earlier configuration again; they are stored.
    - `datasets`, `algorithms`: the names in the table. `notes`: sentences on how the table was read.

    For a table of metafeatures, `n_new`, `n_known` and `n_clashes` count values.
    """

    n_rows: int
    n_new: int
    n_known: int
    n_failed: int = 0
    n_duplicates: int = 0
    n_repetitions: int = 0
    n_clashes: int = 0
    datasets: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Facts:
    """The cells of a chunk that are not hyperparameters; lists are parallel, one entry per row."""

    datasets: list[str]
    algorithms: list[str]
    scores: dict[str, list[float | None]]
    seconds: list[float | None]
    seeds: list[int]
    speeds: list[str | None]
    proposers: list[str | None]


@dataclass(slots=True)
class _Survey:
    """What the first pass found."""

    columns: dict[str, ColumnReader]
    configs: ConfigReader = field(default_factory=ConfigReader)
    n_rows: int = 0
    datasets: dict[str, None] = field(default_factory=dict)
    algorithms: dict[str, None] = field(default_factory=dict)
    speeds: dict[str, None] = field(default_factory=dict)


@dataclass(slots=True)
class _Tally:
    """What the second pass counted, and the hashes of the configurations and scores it has seen.

    Each row takes about 170 bytes.
    """

    n_failed: int = 0
    n_duplicates: int = 0
    first: dict[int, int] = field(default_factory=dict)
    later: dict[int, list[int]] = field(default_factory=dict)

    @property
    def n_again(self) -> int:
        """How many rows measure an earlier configuration again, with other scores."""
        return sum(map(len, self.later.values()))

    def count(self, key: int, scores: int) -> int | None:
        """Return how often this configuration was measured before; None if it was with the same scores."""
        if key not in self.first:
            self.first[key] = scores
            return 0
        if scores == self.first[key] or scores in self.later.get(key, ()):
            self.n_duplicates += 1
            return None
        self.later.setdefault(key, []).append(scores)
        return len(self.later[key])


def import_table(kb: KnowledgeBase, path: Path, layout: TableLayout) -> ImportReport:
    """Store the runs of a table and return what happened to its rows. Importing it again adds nothing.

    - A row with the data set, algorithm, configuration and scores of an earlier row is a duplicate and is skipped.
    - The same configuration with other scores is a repetition. It is stored with the next seed.
    - If the table has a seed column and the seed is the same too, it is a clash: the earlier row stays.

    Raises `BadTable` if the table or the layout has an error; then nothing is stored.
    """
    table = open_table(path, layout.separator)
    roles = assign_roles(layout, table)
    survey = _survey(table, layout, roles)
    session = kb.start_session("import", settings={"file": path.name, **layout.settings()})
    for name in survey.datasets:
        kb.add_dataset(DatasetRecord(f"name:{name}", name, task=layout.task, source="import"))
    environments: dict[str | None, str | None] = {None: None}
    for speed in survey.speeds:
        environments[speed] = kb.add_environment(EnvironmentRecord({}, processor=speed))
    tally = _Tally()
    added = kb.add_runs(_runs(table, layout, roles, survey, tally, session, environments))
    kb.finish_session(session)
    n_clashes = len({clash.run for clash in added.clashes})
    return ImportReport(
        n_rows=survey.n_rows,
        n_new=added.n_new,
        n_known=added.n_known,
        n_failed=tally.n_failed,
        n_duplicates=tally.n_duplicates,
        n_repetitions=0 if layout.seed_column else tally.n_again,
        n_clashes=n_clashes,
        datasets=tuple(survey.datasets),
        algorithms=tuple(survey.algorithms),
        notes=tuple(_notes(table, layout, roles, survey, tally, n_clashes)),
    )


def _survey(table: TableFile, layout: TableLayout, roles: AppliedLayout) -> _Survey:
    """Read the whole table once, check every cell, and return what its columns hold."""
    survey = _Survey(
        {
            name: ColumnReader(
                name,
                is_words=name in layout.word_columns,
                is_decimal=name in layout.decimal_columns,
                default=layout.defaults.get(name),
                empty_is_default=layout.empty_means == "default",
            )
            for name in roles.hyperparameters
        }
    )
    for chunk in table.chunks():
        facts = _facts(chunk, layout, roles)
        survey.n_rows += len(chunk.lines)
        survey.datasets.update(dict.fromkeys(facts.datasets))
        survey.algorithms.update(dict.fromkeys(facts.algorithms))
        survey.speeds.update(dict.fromkeys(speed for speed in facts.speeds if speed is not None))
        for name, column in survey.columns.items():
            column.look(chunk.cells[name])
        for algorithm, parsed in zip(facts.algorithms, _parsed(chunk, layout), strict=True):
            survey.configs.look(algorithm, parsed)
    if not survey.n_rows:
        raise BadTable(f"{table.path.name} has a header but no rows. Give a table with runs in it.")
    for name, column in survey.columns.items():
        if name in survey.configs.names:
            raise BadTable(
                f"{name!r} is a column and also a name in {layout.config_column!r}. Leave one out with --ignore-column."
            )
        if column.confuses_default:
            raise BadTable(
                f"The column {name!r} has empty cells and the word {DEFAULT_WORD!r}, which would become the same. "
                f"Say what an empty cell means with --default {name}=VALUE."
            )
    return survey


def _facts(chunk: RowChunk, layout: TableLayout, roles: AppliedLayout) -> _Facts:
    """Return the cells of a chunk that are not hyperparameters."""
    n = len(chunk.lines)
    names = chunk.read(layout.dataset_column, read_name)
    return _Facts(
        datasets=[layout.dataset_prefix + name for name in names],
        algorithms=chunk.read(layout.algorithm_column, read_name)
        if layout.algorithm_column is not None
        else [str(layout.algorithm)] * n,
        scores={column: chunk.read(column, read_number) for column in roles.metrics},
        seconds=chunk.read(layout.seconds_column, read_number) if layout.seconds_column else [None] * n,
        seeds=chunk.read(layout.seed_column, _seed) if layout.seed_column else [0] * n,
        speeds=chunk.read(layout.speed_column, lambda text: _speed(str(layout.speed_column), text))
        if layout.speed_column
        else [None] * n,
        proposers=chunk.read(layout.proposer_column, lambda text: text or None)
        if layout.proposer_column
        else [None] * n,
    )


def _seed(text: str) -> int:
    seed = read_cell(text)
    if type(seed) is not int or not -LARGEST_SEED <= seed < LARGEST_SEED:
        raise BadCell("expected a whole number of at most 64 bits")
    return seed


def _speed(column: str, text: str) -> str | None:
    """Return a name for the processor of a host from its speed. Two digits keep the number of names small."""
    speed = read_number(text)
    return None if speed is None else f"{column} {float(f'{speed:.2g}'):.12g}"


def _parsed(chunk: RowChunk, layout: TableLayout) -> Iterable[Mapping[str, Any]]:
    if layout.config_column is None:
        return [{}] * len(chunk.lines)
    return chunk.read(layout.config_column, parse_config)


def _configs(
    chunk: RowChunk, layout: TableLayout, survey: _Survey, algorithms: list[str]
) -> Iterator[dict[str, Value]]:
    """Yield the configuration of each row; a hyperparameter without a value is left out."""
    columns = [chunk.read(name, reader.read) for name, reader in survey.columns.items()]
    rows = zip(*columns, strict=True) if columns else iter([()] * len(chunk.lines))
    for values, algorithm, parsed in zip(rows, algorithms, _parsed(chunk, layout), strict=True):
        config = survey.configs.read(algorithm, parsed)
        for name, value in zip(survey.columns, values, strict=True):
            if value is not MISSING:
                config[name] = value
        yield config


def _runs(
    table: TableFile,
    layout: TableLayout,
    roles: AppliedLayout,
    survey: _Survey,
    tally: _Tally,
    session: str,
    environments: Mapping[str | None, str | None],
) -> Iterator[Run]:
    """Yield the run of each row that is not a duplicate, in the order of the file."""
    has_seed = layout.seed_column is not None
    for chunk in table.chunks():
        facts = _facts(chunk, layout, roles)
        for row, config in enumerate(_configs(chunk, layout, survey, facts.algorithms)):
            given = {column: values[row] for column, values in facts.scores.items()}
            error = _failure(given, layout.failed_score)
            scores = {}
            if error is None:
                scores = {roles.metrics[c]: roles.signs[c] * v for c, v in given.items() if v is not None}
            tally.n_failed += error is not None
            dataset, algorithm, seed = facts.datasets[row], facts.algorithms[row], facts.seeds[row]
            # The key includes the types because Python considers 1, 1.0 and True equal.
            types = tuple(map(type, config.values()))
            key = hash((dataset, algorithm, seed, error is None, types, *config.items()))
            again = tally.count(key, hash(tuple(f"{metric} {v:{SAME_SCORE}}" for metric, v in scores.items())))
            if again is None:
                continue
            proposer = facts.proposers[row]
            yield Run(
                dataset=f"name:{dataset}",
                algorithm=algorithm,
                config=config,
                scores=scores,
                fold_plan=layout.fold_plan,
                seed=seed if has_seed else again,
                status="ok" if error is None else "failed",
                fit_seconds=facts.seconds[row],
                error=error,
                origin="imported",
                session=session,
                environment=environments[facts.speeds[row]],
                proposal=None if proposer is None else ProposalRecord(proposer),
            )


def _failure(given: Mapping[str, float | None], failed_score: float | None) -> str | None:
    """Return why a row counts as failed; None for one that has a result."""
    values = [value for value in given.values() if value is not None]
    if not values:
        return "The table gives no score."
    if failed_score is not None and all(value == failed_score for value in values):
        return f"The table marks a failure by the score {failed_score:g}."
    return None


def _notes(
    table: TableFile, layout: TableLayout, roles: AppliedLayout, survey: _Survey, tally: _Tally, n_clashes: int
) -> Iterator[str]:
    """Yield the sentences that tell the user how the table was read."""
    names = [*roles.hyperparameters, *survey.configs.names]
    yield f"Hyperparameters: {', '.join(names) or 'none'}."
    if layout.task == UNKNOWN:
        yield (
            "The task of these data sets is unknown, so metaml learn cannot learn from them alone. "
            "Import the table again with --task binary, --task multiclass or --task regression."
        )
    if "" in table.columns:
        yield "A column without a name was taken for row numbers and left out."
    empty = [c.name for c in survey.columns.values() if (c.n_empty or c.drops) and c.default is None]
    if empty:
        meaning = "left at its default" if layout.empty_means == "default" else "inactive"
        yield f"An empty cell was read as {meaning} in: {', '.join(empty)}."
    for column in survey.columns.values():
        if column.drops:
            yield f"In {column.name}, which holds no other words, {', '.join(column.drops)} was read as an empty cell."
    if survey.configs.nested:
        yield f"Lists and dicts were kept as their text in: {', '.join(survey.configs.nested)}."
    if tally.n_failed:
        yield f"{tally.n_failed:,} rows are failures and were stored without scores."
    if tally.n_duplicates:
        yield f"{tally.n_duplicates:,} rows repeat an earlier row with the same scores and were skipped."
    if tally.later and layout.seed_column is None:
        yield (
            f"{tally.n_again:,} rows measure an earlier configuration again with other scores; they were kept as "
            f"repetitions (seeds up to {max(map(len, tally.later.values()))})."
        )
    if n_clashes:
        yield (
            f"{n_clashes:,} runs are known with other scores, which were kept. If this table was measured in another "
            "way, give it a name of its own with --fold-plan."
        )
