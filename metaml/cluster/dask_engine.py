"""The connection of an executor to a Dask cluster: which workers there are, attempts to them, answers from them.

Everything here runs in one event loop, in a thread of the executor. If the connection to the scheduler breaks, it is
made anew as soon as the scheduler answers; the jobs are the dispatcher's and wait there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
import uuid
from collections import Counter
from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError
from typing import TYPE_CHECKING, Any

from distributed import Client, KilledWorker
from distributed.comm import CommClosedError

from metaml.cluster import worker_side
from metaml.cluster.dispatcher import Attempt, ClusterWorker, Dispatcher
from metaml.cluster.scheduler_side import SchedulerSide, worker_addresses
from metaml.cluster.versions import host_facts, mismatch, scale
from metaml.errors import BadRequest, MetamlError

if TYPE_CHECKING:
    from metaml.cluster.address import SchedulerAddress
    from metaml.cluster.worker_side import Reply, SideSettings

CONNECT_SECONDS, RETRY_SECONDS = 10.0, 0.5
MOST_RETRY_SECONDS = 30.0
MOST_GREETINGS = 16
"""With more conversations at a time, the scheduler would open a connection to each of hundreds of workers at once."""
TICK_SECONDS = 0.2
INSTALL_SECONDS = 60.0
CLOSE_SECONDS = 3.0
BYTES_PER_SECOND = 1e6
"""The slowest network that a data set is still sent over."""

# Our notes and errors say what matters of what Dask would print.
for _name in ("distributed", "distributed.client"):
    logging.getLogger(_name).setLevel(logging.CRITICAL)


class _Unfit(MetamlError):
    """A worker can never take jobs of this executor."""


class DaskEngine:
    """Carries attempts to the workers of a Dask cluster; an `Engine`."""

    dispatcher: Dispatcher

    def __init__(
        self,
        address: SchedulerAddress,
        settings: SideSettings,
        *,
        on_note: Callable[[str], None],
        on_error: Callable[[Attempt, Exception], None],
        on_folds: Callable[[int, tuple[Any, ...]], None],
    ) -> None:
        self.address, self.settings = address, settings
        self.refused: dict[str, str] = {}
        self.n_transfers: Counter[tuple[str, str]] = Counter()
        self._on_note, self._on_error, self._on_folds = on_note, on_error, on_folds
        self._contents: dict[str, bytes] = {}
        self._session = ""
        self._client: Client | None = None
        self._stream: Any = None
        self._ours: dict[str, Any] = {}
        self._transfers: dict[tuple[str, str], asyncio.Task[None]] = {}
        self._under_way: dict[int, asyncio.Task[None]] = {}
        self._greetings: dict[str, asyncio.Task[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._watcher: asyncio.Task[None] | None = None
        self._few_at_a_time = asyncio.Semaphore(MOST_GREETINGS)

    @property
    def has_only_refused(self) -> bool:
        """Return whether there are workers, and all of them were looked at and refused."""
        return bool(self.refused) and not self._greetings and not self.dispatcher.workers

    # The connection

    async def connect(self) -> None:
        """Connect for the first time; BadRequest if there is no scheduler, or it does not trust us."""
        self._ours = await asyncio.to_thread(host_facts)
        try:
            await self._connect(CONNECT_SECONDS)
        except (OSError, TimeoutError, ImportError) as error:
            why = str(error.__cause__ or error).strip().splitlines() or [type(error).__name__]
            raise BadRequest(
                f"There is no scheduler to work with at {self.address.text} ({why[0][:200]}). Start one with `metaml "
                "cluster` or `dask scheduler`, and check its address and certificates."
            ) from None

    async def watch(self) -> None:
        """Keep deadlines and the connection until the task is cancelled."""
        self._watcher = asyncio.current_task()
        while True:
            await asyncio.sleep(TICK_SECONDS)
            if not self._is_connected:
                await self._reconnect()
            self.dispatcher.tick(time.monotonic())
            for name in self.dispatcher.silent:
                self._greet(name, self._ask_whether_alive(name))

    @property
    def _is_connected(self) -> bool:
        """Return whether the connection is still the one that was made for this session.

        Dask makes another one by itself if it breaks. By then the scheduler has seen this client go: the workers have
        ended its evaluators, so the session must begin anew. `test_dask_engine` pins the name `scheduler_comm`.
        """
        client = self._client
        return client is not None and client.status == "running" and client.scheduler_comm is self._stream

    async def close(self) -> None:
        """End what the workers do for this executor, and the connection."""
        ending = [*self._tasks, *([] if self._watcher is None else [self._watcher])]
        for task in ending:
            task.cancel()
        client, self._client = self._client, None
        if client is not None:
            # The scheduler sees the client go, and has the workers clean up.
            with contextlib.suppress(Exception):
                await asyncio.wait_for(client.close(timeout=CLOSE_SECONDS), CLOSE_SECONDS + 1)
        if ending:
            await asyncio.wait(ending, timeout=CLOSE_SECONDS)

    async def _connect(self, timeout: float) -> None:
        # The rest of an earlier connection has another name, so that its cleanup does not touch the new one.
        self._session = f"metaml-{uuid.uuid4().hex}"
        client = Client(
            self.address.url,
            security=self.address.security,
            asynchronous=True,
            set_as_default=False,
            timeout=timeout,
            name="metaml",
        )
        try:
            await client
            client.subscribe_topic(self._session, self._hear)
            await client.register_plugin(SchedulerSide(self._session, client.id), name=self._session)
            addresses = await client.run_on_scheduler(worker_addresses)
        except BaseException:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(client.close(timeout=1), 2)
            raise
        self._client, self._stream = client, client.scheduler_comm
        for name in addresses:
            self._greet(name, self._welcome(name))

    async def _reconnect(self) -> None:
        self._on_note(f"The connection to the scheduler at {self.address.text} broke. Waiting for it; no run is lost.")
        self.dispatcher.reset(time.monotonic())
        for task in [*self._tasks]:
            task.cancel()
        self._transfers.clear()
        self._greetings.clear()
        await self._close_client()
        while self._client is None:
            try:
                await self._connect(CONNECT_SECONDS)
            except (OSError, TimeoutError, ImportError, BadRequest):
                await asyncio.sleep(RETRY_SECONDS)
        self._on_note("The scheduler answers again.")

    async def _close_client(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            with contextlib.suppress(Exception):
                await asyncio.wait_for(client.close(timeout=1), 2)

    # Workers

    def _hear(self, event: tuple[float, dict[str, Any]]) -> None:
        """Take what scheduler and workers tell under the topic of this executor."""
        message, now = event[1], time.monotonic()
        if "begun" in message:
            self.dispatcher.begun(int(message["begun"]), now)
        elif "left" in message:
            self._forget(str(message["left"]))
            self.dispatcher.leave(str(message["left"]), now)
        elif "joined" in message:
            self._forget(str(message["joined"]))
            self._greet(str(message["joined"]), self._welcome(str(message["joined"])))

    def _forget(self, name: str) -> None:
        greeting = self._greetings.pop(name, None)
        if greeting is not None:
            greeting.cancel()
        for key in [key for key in self._transfers if key[0] == name]:
            self._transfers.pop(key).cancel()

    def _greet(self, name: str, coroutine: Coroutine[Any, Any, None]) -> None:
        """Begin one conversation with a worker, unless one is under way."""
        if name in self._greetings:
            coroutine.close()
        else:
            greeting = self._greetings[name] = self._begin(coroutine)
            greeting.add_done_callback(lambda _: self._greetings.get(name) is greeting and self._greetings.pop(name))

    async def _welcome(self, name: str) -> None:
        """Let a worker take jobs if it would score as this machine does. One that does not answer is asked again."""
        pause = RETRY_SECONDS
        while True:
            try:
                async with self._few_at_a_time:
                    theirs = await self._look_at(name)
                break
            except _Unfit as error:
                self._refuse(name, str(error))
                return
            except (TimeoutError, MetamlError) as error:
                if not self._is_connected:
                    # All workers are welcomed anew once the connection is back.
                    return
                self._refuse(name, f"{str(error) or 'it does not answer'}; it will be asked again")
                await asyncio.sleep(pause)
                pause = min(2 * pause, MOST_RETRY_SECONDS)
        self.refused.pop(name, None)
        facts = {key: theirs[key] for key in self._ours if key != "megabytes"}
        self.dispatcher.join(
            ClusterWorker(
                name, theirs["host"], theirs["n_slots"], theirs["megabytes"], facts, scale(self._ours, theirs)
            ),
            time.monotonic(),
        )

    async def _look_at(self, name: str) -> dict[str, Any]:
        """Return what a worker is, once it has the evaluators of this executor; _Unfit if it may not have them."""
        theirs: dict[str, Any] = await self._call(name, INSTALL_SECONDS, worker_side.describe)
        if why := mismatch(self._ours, theirs):
            raise _Unfit(why)
        await self._call(name, INSTALL_SECONDS, worker_side.install, self._session, self.settings)
        return theirs

    def _refuse(self, name: str, why: str) -> None:
        """Say why a worker gets no jobs, once."""
        if self.refused.get(name) != why:
            self._on_note(f"The worker {name} gets no jobs: {why}.")
        self.refused[name] = why

    def _begin_anew(self, name: str) -> None:
        """Take the jobs of a worker away that cannot take them, and look at it again."""
        self._forget(name)
        self.dispatcher.leave(name, time.monotonic(), is_blamed=False)
        self._greet(name, self._welcome(name))

    async def _ask_whether_alive(self, name: str) -> None:
        with contextlib.suppress(TimeoutError, MetamlError):
            await self._call(name, INSTALL_SECONDS, worker_side.ping)
            self.dispatcher.heard_of(name, time.monotonic())

    async def _call(self, name: str, seconds: float, function: Callable[..., Any], *arguments: Any) -> Any:
        """Return what a function returns in the event loop of a worker; MetamlError says why it does not."""
        if self._client is None:
            raise MetamlError("there is no connection")
        try:
            found = await asyncio.wait_for(
                self._client.run(function, *arguments, workers=[name], on_error="return"), seconds
            )
        except (OSError, KeyError, ValueError, RuntimeError, AttributeError) as error:
            raise MetamlError(f"it cannot be reached ({type(error).__name__})") from error
        answer = found.get(name, KeyError(name))
        if isinstance(answer, ImportError | AttributeError):
            raise _Unfit(f"it has no metaml, or another one ({answer})")
        if isinstance(answer, Exception):
            raise MetamlError(f"it answers {type(answer).__name__}: {answer}")
        return answer

    # Attempts

    def add(self, fingerprint: str, content: bytes) -> None:
        """Keep a data set for the workers that will need it."""
        self._contents.setdefault(fingerprint, content)

    def send(self, attempt: Attempt) -> None:
        """Begin an attempt on its worker."""
        task = self._under_way[attempt.number] = self._begin(self._attempt(attempt))
        task.add_done_callback(lambda _: self._under_way.pop(attempt.number, None))

    def withdraw(self, attempt: Attempt) -> None:
        """Cancel an attempt; its worker kills the evaluation."""
        task = self._under_way.pop(attempt.number, None)
        if task is not None:
            task.cancel()

    async def folds_so_far(self, attempt: Attempt, seconds: float) -> None:
        """Fetch the folds that an attempt under way has reported, if its worker answers in time."""
        with contextlib.suppress(TimeoutError, MetamlError):
            folds = await self._call(attempt.worker, seconds, worker_side.folds_so_far, self._session, attempt.number)
            self._on_folds(attempt.ticket, folds)

    async def _attempt(self, attempt: Attempt) -> None:
        try:
            await self._transfer(attempt.worker, attempt.job.dataset)
        except (TimeoutError, MetamlError):
            self._begin_anew(attempt.worker)
            return
        client = self._client
        if client is None:
            return
        self.dispatcher.arrived(attempt.number, time.monotonic())
        key = f"{self._session}-{attempt.number}"
        future = client.submit(
            worker_side.run_attempt,
            self._session,
            attempt.number,
            key,
            attempt.job,
            key=key,
            workers=[attempt.worker],
            pure=False,
        )
        try:
            answer: Reply = await future
        except asyncio.CancelledError:
            with contextlib.suppress(Exception):
                await asyncio.shield(client.cancel([future], force=True))
            raise
        except MetamlError as error:
            self._on_error(attempt, error)
        except worker_side.NotInstalled:
            self._begin_anew(attempt.worker)
        except (KilledWorker, CommClosedError, CancelledError):
            # The worker or the connection was lost; the dispatcher decides whether the job is tried again.
            self.dispatcher.lose(attempt.number, time.monotonic())
        except Exception:
            # The evaluator itself has failed. Four times are enough.
            self.dispatcher.lose(attempt.number, time.monotonic(), is_blamed=True)
        else:
            folds = answer.folds or (answer.outcome.told_folds() if attempt.job.tells_folds else ())
            if folds:
                self._on_folds(attempt.ticket, folds)
            self.dispatcher.answer(attempt.number, answer.outcome, time.monotonic())

    async def _transfer(self, name: str, fingerprint: str) -> None:
        """Send a data set to a worker, once; later attempts wait for the same transfer."""
        key = (name, fingerprint)
        if key not in self._transfers:
            content = self._contents[fingerprint]
            seconds = INSTALL_SECONDS + len(content) / BYTES_PER_SECOND
            self.n_transfers[key] += 1
            self._transfers[key] = self._begin(
                self._call(name, seconds, worker_side.put_dataset, self._session, fingerprint, content)
            )
        transfer = self._transfers[key]
        try:
            await asyncio.shield(transfer)
        except (TimeoutError, MetamlError):
            self._transfers.pop(key, None)
            raise

    def _begin(self, coroutine: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            # The code that waits for the task handled an error.
            task.exception()
