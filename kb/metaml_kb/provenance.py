"""Which rows came with the package as a starter, and which are the user's own: made or imported here."""

from sqlalchemy import ColumnElement, Connection, Table, func, select, true

from metaml_kb import tables

STARTER = "starter"
"""The kind of the sessions in a starter file."""
SHARED = (tables.dataset, tables.configuration, tables.fold_plan, tables.environment)


def from_starter() -> ColumnElement[bool]:
    """Return the SQL condition that a run came with the starter."""
    session = tables.session
    number = func.coalesce(tables.run.c.session_id, 0)
    return number.in_(select(session.c.id).where(session.c.kind == STARTER))


def yours(table: Table) -> ColumnElement[bool]:
    """Return the SQL condition that a row is the user's own, not only the starter's.

    A row that runs share (such as a data set) is the user's own if one of the user's runs uses it.
    """
    run, session = tables.run, tables.session
    if table is run:
        return ~from_starter()
    if table is session:
        return session.c.kind != STARTER
    if table in SHARED:
        used = run.c[f"{table.name}_id"]
        by_starter = select(used).where(from_starter(), used.is_not(None))
        by_you = select(used).where(~from_starter(), used.is_not(None))
        return table.c.id.in_(by_you) | table.c.id.not_in(by_starter)
    for parent in (tables.dataset, session, run):
        column = table.c.get(f"{parent.name}_id")
        if column is not None:
            return column.in_(select(parent.c.id).where(yours(parent)))
    if table is tables.parameter_set:
        configuration = tables.configuration
        return table.c.id.in_(select(configuration.c.parameter_set_id).where(yours(configuration)))
    return true()


def counts_by_source(connection: Connection) -> dict[str, dict[str, int]]:
    """Return how many runs and data sets came with the starter, and how many are the user's own."""
    counts = {}
    for name, table in (("runs_by_source", tables.run), ("datasets_by_source", tables.dataset)):
        count = select(func.count()).select_from(table)
        total = int(connection.execute(count).scalar_one())
        own = int(connection.execute(count.where(yours(table))).scalar_one())
        counts[name] = {STARTER: total - own, "yours": own}
    return counts
