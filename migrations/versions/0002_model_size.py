"""The size of a run's model, and the seconds it takes for one row.

Revision ID: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the columns; earlier runs do not know them."""
    with op.batch_alter_table("run") as table:
        table.add_column(sa.Column("model_bytes", sa.BigInteger(), nullable=True))
        table.add_column(sa.Column("row_seconds", sa.Double(), nullable=True))
