"""Which executor a command gets: that of this machine, or that of a cluster."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib.util import find_spec
from typing import TYPE_CHECKING

from metaml.cluster.address import SchedulerAddress, scheduler_address
from metaml.errors import BadRequest
from metaml.evaluation.fork_server import ALGORITHMS

if TYPE_CHECKING:
    from metaml.evaluation import Executor

Scheduler = str | SchedulerAddress | None
"""Where the scheduler of a cluster is; None is this machine without one."""

WAITING_SHARE = 0.5
"""The part of a time budget after which a cluster without workers is an error."""


def executor_for(
    scheduler: Scheduler,
    n_workers: int | None,
    *,
    default: int = 1,
    n_threads: int = 1,
    registry: str = ALGORITHMS,
    algorithms: Sequence[str] | None = None,
    seconds: float = math.inf,
    on_note: Callable[[str], None] = lambda _: None,
) -> AbstractContextManager[Executor]:
    """Return the executor for a scheduler, with all its slots or at most `n_workers`; without one, a local one.

    A local one has `n_workers`, or `default` if that is None. The workers import the libraries of `algorithms`
    beforehand, or of all in the registry. `seconds` are left of the time budget: no more than
    a part of them is spent on waiting for the first worker of a cluster.
    """
    if scheduler is None:
        from metaml.evaluation import LocalExecutor

        n_local = default if n_workers is None else n_workers
        return LocalExecutor(n_local, registry=registry, n_threads=n_threads, preload=algorithms)
    address = scheduler_address(scheduler) if isinstance(scheduler, str) else scheduler
    check_installed()
    from metaml.cluster.dask_executor import FIRST_WORKER_SECONDS, DaskExecutor

    patience = min(FIRST_WORKER_SECONDS, WAITING_SHARE * seconds)
    return DaskExecutor(
        address,
        n_workers,
        registry=registry,
        n_threads=n_threads,
        preload=algorithms,
        first_worker_seconds=patience,
        on_note=on_note,
    )


def check_installed() -> None:
    """Raise BadRequest unless Dask is installed."""
    if find_spec("distributed") is None:
        raise BadRequest("A cluster needs Dask, which is not installed. Install it with: pip install 'metaml[dask]'")
