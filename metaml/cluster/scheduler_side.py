"""What runs inside a Dask scheduler: it tells an executor which workers come and go, and cleans up after it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from distributed import SchedulerPlugin

if TYPE_CHECKING:
    from distributed import Scheduler


class SchedulerSide(SchedulerPlugin):  # type: ignore[misc] # distributed is untyped
    """Tells of workers under the topic of an executor. When its client is gone, the workers end its evaluators."""

    def __init__(self, session: str, client: str) -> None:
        self.name = self.session = session
        self.client = client

    def add_worker(self, scheduler: Scheduler, worker: str) -> None:
        """Tell that a worker has come."""
        scheduler.log_event(self.session, {"joined": worker})

    def remove_worker(self, scheduler: Scheduler, worker: str, *, stimulus_id: str, **_: object) -> None:
        """Tell that a worker is gone."""
        del stimulus_id
        scheduler.log_event(self.session, {"left": worker})

    def remove_client(self, scheduler: Scheduler, client: str) -> None:
        """End the evaluators of the executor on all workers, once its client is gone."""
        if client == self.client:
            scheduler.remove_plugin(self.name)
            # A request of the executor may still be on its way to a worker, which looks for this before it is done.
            scheduler.log_event(self.session, {"ended": True})
            scheduler.loop.add_callback(self._clean_up, scheduler)

    async def _clean_up(self, scheduler: Scheduler) -> None:
        await scheduler.broadcast(msg={"op": "plugin-remove", "name": self.session}, on_error="ignore")


def worker_addresses(dask_scheduler: Scheduler) -> list[str]:
    """Return the workers that a scheduler has; called by `Client.run_on_scheduler`."""
    return list(dask_scheduler.workers)
