"""How a session is stored: its runs and its event log, written in the background and in order."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from metaml.budget import Budget
from metaml.data import Dataset
from metaml.evaluation import FoldPlan, Outcome
from metaml.records.conversion import dataset_record, environment_record, fold_plan_record
from metaml.system.background_writer import BackgroundWriter
from metaml_kb import KnowledgeBase, Run
from metaml_kb.files import kept_safe

MOMENT_SECONDS = 2.0


class SessionLog:
    """Writes what a session does to the knowledge base, and waits for it only while there is time.

    Events are stored with the next run, in one transaction: before anything depends on them. `rescue` says where
    everything is if another program deleted or replaced the file of the knowledge base; else it is empty.
    """

    def __init__(self, kb: KnowledgeBase) -> None:
        self.kb = kb
        self.key = ""
        self.environment = ""
        self.rescue = ""
        self.is_late: Callable[[], bool] = lambda: False
        self._events: list[tuple[str, Mapping[str, object]]] = []
        self._environments: set[str] = set()
        self._plans: set[str] = set()
        self._writer = BackgroundWriter()

    def store_dataset(self, dataset: Dataset, plan: FoldPlan) -> bool:
        """Store the data set, its fold plan and this machine; return whether the data set is new."""
        is_new = self.kb.add_dataset(dataset_record(dataset, "file", {}))
        self.store_plan(plan)
        self.environment = self.kb.add_environment(environment_record())
        return is_new

    def store_plan(self, plan: FoldPlan) -> None:
        """Store a fold plan, if it was not stored before: no run is stored without it."""
        if plan.hash not in self._plans:
            self.kb.add_fold_plan(fold_plan_record(plan))
            self._plans.add(plan.hash)

    def environment_of(self, outcome: Outcome) -> str:
        """Return the key of the machine that made an outcome; a new one is stored."""
        if outcome.environment is None:
            return self.environment
        record = environment_record(outcome.environment)
        if record.key not in self._environments:
            self._environments.add(record.key)
            self._write(partial(self.kb.add_environment, record), is_late=self.is_late)
        return record.key

    def start(self, *, seed: int, settings: Mapping[str, Any]) -> None:
        """Open a new session."""
        self.key = self.kb.start_session("tune", seed=seed, settings=settings)

    def note(self, kind: str, details: Mapping[str, object]) -> None:
        """Add an event; it is stored with the next run."""
        self._events.append((kind, details))

    def store(self, run: Run) -> None:
        """Store a run and the events before it."""
        events, self._events = self._events, []
        self._write(partial(self.kb.add_run, run, events=events), is_late=self.is_late)

    def flush(self) -> None:
        """Store the events since the last run."""
        events, self._events = self._events, []
        self._write(partial(self.kb.add_events, self.key, events), is_late=self.is_late)

    def close(self, *, final: Mapping[str, Any] | None = None, on_wait: Callable[[], None]) -> None:
        """Store that the session ended and what its `final` model scores.

        If that takes more than a moment, call `on_wait` and wait for it.
        """
        moment = Budget(MOMENT_SECONDS)
        end = partial(self.kb.finish_session, self.key, final=final)
        if not self._write(end, is_late=lambda: moment.is_used_up):
            on_wait()
            self._writer.wait()

    def _write(self, act: Callable[[], object], *, is_late: Callable[[], bool]) -> bool:
        """Write in the background, as `BackgroundWriter.write` does, to a rescued copy if the file is gone."""
        return self._writer.write(partial(kept_safe, self.kb, act, self._note_rescue), is_late=is_late)

    def _note_rescue(self, sentence: str) -> None:
        self.rescue = sentence
