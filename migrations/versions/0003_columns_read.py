"""The number of raw columns that a run's model reads.

Revision ID: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Add the column; earlier runs do not know it."""
    with op.batch_alter_table("run") as table:
        table.add_column(sa.Column("n_columns_read", sa.Integer(), nullable=True))
