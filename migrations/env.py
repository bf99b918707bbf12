"""Alembic's entry: migrates over the connection that `metaml_kb.schema` hands in, or the URL in METAML_KB."""

from alembic import context

from metaml_kb.engine import locate, make_engine
from metaml_kb.tables import metadata

given = context.config.attributes.get("connection")
if given is not None:
    context.configure(connection=given, target_metadata=metadata, render_as_batch=True)
    with context.begin_transaction():
        context.run_migrations()
else:
    engine = make_engine(locate(None))
    with engine.connect() as connection:
        context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
        with context.begin_transaction():
            context.run_migrations()
    engine.dispose()
