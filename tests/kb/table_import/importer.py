"""Imports tables that tests write."""

import gzip
import json
from pathlib import Path
from typing import Any

from metaml_kb import KnowledgeBase
from metaml_kb.table_import.runs import ImportReport, TableLayout, import_table

FOREST = TableLayout(
    dataset_column="task_id", dataset_prefix="openml-task:", algorithm="forest", score_columns=("accuracy",)
)


class Importer:
    """Writes a text to a file and imports it."""

    def __init__(self, kb: KnowledgeBase, folder: Path) -> None:
        self.kb, self.folder = kb, folder

    def __call__(self, text: str, layout: TableLayout = FOREST, *, name: str = "runs.csv") -> ImportReport:
        path = self.folder / name
        data = text.encode()
        path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
        return import_table(self.kb, path, layout)

    def configs(self) -> list[dict[str, Any]]:
        """Return the stored configurations in the order of the rows."""
        stored = self.kb.sql(
            "SELECT names, value_list FROM run JOIN configuration ON configuration.id = configuration_id "
            "JOIN parameter_set ON parameter_set.id = parameter_set_id ORDER BY run.id"
        )
        pairs = zip(map(json.loads, stored["names"]), map(json.loads, stored["value_list"]), strict=True)
        return [dict(zip(names, values, strict=True)) for names, values in pairs]


def is_same(left: object, right: object) -> bool:
    """Return whether two values are equal and of the same types throughout: 1, 1.0 and True differ."""
    return json.dumps(left, sort_keys=True) == json.dumps(right, sort_keys=True)
