"""Export to one portable file and import it again: a zip of Parquet tables, or a SQLite file."""

from metaml_kb.exchange.exporting import export
from metaml_kb.exchange.importing import check_import, create_from, import_file, n_runs_in

__all__ = ["check_import", "create_from", "export", "import_file", "n_runs_in"]
