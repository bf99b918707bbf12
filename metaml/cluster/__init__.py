"""Evaluating on many machines: an executor over a Dask cluster. Names are loaded when first used."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from metaml.cluster.address import SchedulerAddress, scheduler_address
    from metaml.cluster.dask_executor import DaskExecutor

_HOMES = {"DaskExecutor": ".dask_executor", "SchedulerAddress": ".address", "scheduler_address": ".address"}

__all__ = ["DaskExecutor", "SchedulerAddress", "scheduler_address"]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_HOMES[name], __name__), name)
