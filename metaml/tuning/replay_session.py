"""A tuning session proposed again from its event log: the same sequence, if nothing but the log decided."""

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from metaml.acquisition.candidates import key_of
from metaml.errors import BadRequest
from metaml.experience.experience import Experience
from metaml.experience.lesson_files import LessonRequest, lessons_of_revision
from metaml.experience.load_history import to_leave_out
from metaml.records.session_keys import ends_initial_design, stored_plan
from metaml.search.bandit_search import NextTrial
from metaml.search.plan import SearchPlan, build_search
from metaml.search.schedules import Turn, schedule_named
from metaml.spaces.config import Config
from metaml.tuning.resume import trials_of
from metaml.tuning.trials import PredictionFiles, Trial
from metaml_kb import KnowledgeBase


@dataclass(frozen=True)
class ReplayedStep:
    """What a session evaluated, and what is proposed at that place now."""

    number: int
    algorithm: str
    config: Config
    proposed_algorithm: str
    proposed: Config
    proposer: str
    share: float = 1.0
    proposed_share: float = 1.0

    @property
    def is_same(self) -> bool:
        """Return whether the same is proposed."""
        evaluated = (self.algorithm, key_of(self.config), self.share)
        return evaluated == (self.proposed_algorithm, key_of(self.proposed), self.proposed_share)


def replay_session(kb: KnowledgeBase, beginning: str) -> list[ReplayedStep]:
    """Return the steps of the session whose key has this beginning, each with what is proposed at its place now."""
    key, settings, stored = _session(kb, beginning)
    plan = SearchPlan.from_json(stored)
    search = build_search(plan, _experience_of(kb, settings, plan))
    trials = {trial.run.identity: trial for trial in trials_of(kb, key, plan.metric, PredictionFiles(None))}
    steps: list[ReplayedStep] = []
    finished: list[Trial] = []
    under_way: dict[tuple[str, str], tuple[str, Config, float]] = {}
    batch: deque[NextTrial] = deque()
    for kind, details in kb.events(key):
        if ends_initial_design(kind):
            search.end_initial_design()
        elif kind in ("experience joined", "resumed"):
            plan = SearchPlan.from_json(stored_plan(details) or {})
            search = build_search(plan, _experience_of(kb, {**settings, **details}, plan))
            for trial in finished:
                outcome = trial.outcome_by(plan.metric, plan.objectives)
                search.resume(trial.run.algorithm, trial.config, outcome, share=trial.share)
            if kind == "resumed":
                # What was under way when the session was cut short never came.
                under_way.clear()
            for algorithm, config, share in under_way.values():
                search.reopen(algorithm, config, share=share)
        elif kind == "asked":
            if "turn" in details:
                batch.extend(schedule_named(plan.schedule).ask(search, Turn(**details["turn"])))
            choice = batch.popleft() if batch else search.ask(details["rounds_left"])
            proposal, share = choice.proposal, details.get("share", 1.0)
            steps.append(
                ReplayedStep(
                    len(steps) + 1,
                    details["algorithm"],
                    details["config"],
                    choice.algorithm,
                    proposal.config,
                    proposal.proposer,
                    share,
                    choice.share,
                )
            )
            name, config = details["algorithm"], details["config"]
            under_way[name, key_of(config)] = (name, config, share)
            if not steps[-1].is_same:
                # What follows builds on this evaluation: from here on nothing can be compared.
                break
        elif kind == "finished":
            trial = trials[details["run"]]
            finished.append(trial)
            under_way.pop((trial.run.algorithm, key_of(trial.config)), None)
            search.tell(trial.run.algorithm, trial.config, trial.outcome_by(plan.metric, plan.objectives))
        elif kind == "killed":
            under_way.pop((details["algorithm"], key_of(details["config"])), None)
            search.drop(details["algorithm"], details["config"])
    return steps


def _session(kb: KnowledgeBase, beginning: str) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the key of a session, its settings and the search plan in them."""
    found = kb.sessions("tune")
    found = found[found["key"].str.startswith(beginning.strip().lower())]
    if len(found) != 1:
        how_many = "No tuning session has" if not len(found) else f"{len(found)} tuning sessions have"
        raise BadRequest(
            f"{how_many} a key that begins with {beginning!r}. metaml show DIR names the session of a result."
        )
    settings: dict[str, Any] = found["settings"].iloc[0]
    plan = stored_plan(settings)
    if plan is None:
        raise BadRequest(f"Session {beginning} was made by an older metaml, which stored no plan. Replay a newer one.")
    return str(found["key"].iloc[0]), settings, plan


def _experience_of(kb: KnowledgeBase, settings: Mapping[str, Any], plan: SearchPlan) -> Experience | None:
    revision = settings["lessons"]
    if revision is None:
        return None
    left_out = to_leave_out(kb, settings["left_out"]) if settings["left_out"] else ()
    request = LessonRequest(plan.metric, plan.task, plan.algorithms, left_out)
    lessons = lessons_of_revision(kb, request, revision)
    if lessons is None:
        raise BadRequest(
            "The lessons that this session used were learnt anew since, so that it cannot be proposed again. "
            "Replay a session that is newer than the last metaml learn."
        )
    values = {name: float(value) for name, value in settings["metafeatures"].items()}
    return Experience(lessons, values, plan.task)
