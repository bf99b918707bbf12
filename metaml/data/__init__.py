"""Data in: reading csv, parquet and ARFF, deciding what each column is, and listing every repair.

`read_dataset(path)` and `from_frame(frame)` give a `Dataset`; its `schema` turns new rows into the same
features.
"""

from metaml.data.columns import Column, Kind, Repair
from metaml.data.content import ReadingLimits
from metaml.data.dataset import Dataset
from metaml.data.options import ColumnOptions, Names, Ordinal, column_options
from metaml.data.preparation import from_frame, read_dataset
from metaml.data.reading import read_frame
from metaml.data.schema import Applied, Schema
from metaml.data.task import TASKS, Task, task_of_numbers

__all__ = [
    "TASKS",
    "Applied",
    "Column",
    "ColumnOptions",
    "Dataset",
    "Kind",
    "Names",
    "Ordinal",
    "ReadingLimits",
    "Repair",
    "Schema",
    "Task",
    "column_options",
    "from_frame",
    "read_dataset",
    "read_frame",
    "task_of_numbers",
]
