"""What a knowledge base contributes to one tuning session."""

import threading
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd

from metaml.acquisition.committee import Expert
from metaml.acquisition.starts import STARTS
from metaml.algorithms import ALGORITHMS
from metaml.data import Task
from metaml.encoding import Facts
from metaml.experience.lesson_files import (
    LessonRequest,
    kept_lessons,
    learn,
    learning_seconds,
    place_of,
    shipped_lessons,
    stand_in_lessons,
)
from metaml.experience.starting import known_candidates
from metaml.metafeatures.similarity import nearest
from metaml.metalearning.blending import BlendedCommittee
from metaml.metalearning.committee import ExperienceCandidates, ExperienceCommittee
from metaml.metalearning.explain import explain
from metaml.metalearning.fidelity import fingerprint_of, n_distinct
from metaml.metalearning.history import LEAST_DATASETS, facts_of
from metaml.metalearning.lessons import Lessons
from metaml.metalearning.meta_learner import MetaLearner
from metaml.metalearning.prior import Prior
from metaml.report import ExperienceFacts
from metaml.spaces import Space
from metaml.spaces.config import Config
from metaml_kb import KnowledgeBase

GROWTH = 1.1
"""Lessons are used until the knowledge base has a tenth more runs than it had then."""
MOST_SHARE, MOST_SHARE_WITHOUT = 0.05, 0.1
"""The part of a session's time that learning may take, and where there is nothing else to go by."""
MOST_UNASKED = 20_000
"""Runs up to which a session without a time limit learns before it starts."""
N_REASONS, N_CARRIERS, MOST_INPUTS = 3, 5, 1000


class Experience:
    """What past data sets say about one data set before anything was run on it."""

    def __init__(self, lessons: Lessons, metafeatures: Mapping[str, float], task: Task, *, notes: Sequence[str] = ()):
        self.lessons = lessons
        self.metafeatures = dict(metafeatures)
        self.notes = list(notes)
        self._spaces = {name: ALGORITHMS[name].space(task) for name in lessons.trained if name in ALGORITHMS}
        self._priors: dict[str, Prior] = {}
        self._alike: dict[str, list[tuple[str, float]]] = {}
        self._committees: dict[str, ExperienceCommittee | BlendedCommittee] = {}

    @property
    def known(self) -> dict[str, float]:
        """Return the metafeatures that have a value."""
        return {name: value for name, value in self.metafeatures.items() if np.isfinite(value)}

    @property
    def similar(self) -> list[tuple[str, float]]:
        """Return the names of the known data sets that are most like this one, with their distances."""
        found = _nearest_datasets(self.metafeatures, self.lessons.metafeatures)
        return [(self.lessons.names.get(name, name), distance) for name, distance in found]

    def knows(self, algorithm: str) -> bool:
        """Return whether there is enough experience with an algorithm to lean on."""
        trained = self.lessons.trained.get(algorithm)
        return (
            trained is not None
            and n_distinct(trained.landscape.datasets) >= LEAST_DATASETS
            and algorithm in self._spaces
        )

    def order(self, algorithms: Iterable[str]) -> list[str]:
        """Return the algorithms by the expected score of their best configuration; those without experience last."""
        expected = [item.algorithm for item in self.lessons.prior.expect(self.metafeatures)]
        names = list(algorithms)
        return [name for name in expected if name in names] + [name for name in names if name not in expected]

    def prepare(self, algorithms: Iterable[str]) -> None:
        """Compute in advance everything that takes more than a moment."""
        for name in algorithms:
            if self.knows(name):
                self.prior(name).points(self.lessons.trained[name].landscape.grid[:1])

    def prior(self, algorithm: str) -> Prior:
        """Return what is believed of an algorithm's configurations here."""
        if algorithm not in self._priors:
            trained = self.lessons.trained[algorithm]
            self._priors[algorithm] = Prior(trained.learner, trained.landscape, self.metafeatures)
        return self._priors[algorithm]

    def committee(
        self, algorithm: str, experts: tuple[Expert, ...], *, use: str, metric: str, cost: str | None, rule: str
    ) -> ExperienceCommittee | BlendedCommittee:
        """Return the committee that judges an algorithm's candidates. If experience misleads, the experts take over.

        `use` is `process`, with experience as the prior of a Gaussian process, or `blended`, with a vote of the
        meta-learner. `rule` is the acquisition that was chosen, empty for the usual ones.
        """
        if use == "blended":
            rank = partial(self.lessons.trained[algorithm].learner.predict_rows, metafeatures=self.metafeatures)
            committee: ExperienceCommittee | BlendedCommittee = BlendedCommittee(rank, experts, cost=cost)
        else:
            committee = ExperienceCommittee(self.prior(algorithm), experts, metric=metric, cost=cost, rule=rule)
        self._committees[algorithm] = committee
        return committee

    def starts(self, algorithm: str, space: Space, *, rule: str, n: int) -> list[Config]:
        """Return the configurations of an algorithm to try first on this data set by a rule for starts."""
        known = known_candidates(self.lessons, algorithm, space, self.metafeatures)
        return [known.configs[place] for place in STARTS[rule](known, n)]

    def candidates(
        self, algorithm: str, space: Space, facts: Facts, *, search: str, inert: Collection[str]
    ) -> ExperienceCandidates:
        """Return the points of an algorithm's space, as the committee reads them, looked for in this way."""
        encoder = self.lessons.trained[algorithm].learner.encoder_
        return ExperienceCandidates(space, encoder, facts=facts, search=search, inert=inert)

    def seconds(self, algorithm: str, config: Config, *, reference_seconds: float | None) -> float:
        """Return what a configuration should take here, on all rows; NaN if nobody knows."""
        if algorithm not in self.lessons.runtimes:
            return np.nan
        model = self.lessons.runtimes[algorithm]
        return float(model.predict([config], self.metafeatures, reference_seconds=reference_seconds)[0])

    def reasons(self, algorithm: str, config: Config, *, in_detail: bool = True) -> dict[str, Any]:
        """Return why a configuration is expected to do well here: by how it did on similar data sets, and in words.

        The words are what takes long; they can be left out.
        """
        if not self.knows(algorithm):
            return {}
        trained = self.lessons.trained[algorithm]
        rows = trained.learner.encoder_.transform([config], facts_of(self.metafeatures))
        levels = trained.landscape.levels_at(rows)[:, 0]
        standing = dict(zip(trained.landscape.datasets, levels, strict=True))
        if algorithm not in self._alike:
            self._alike[algorithm] = _nearest_datasets(self.metafeatures, trained.landscape.metafeatures)
        said = {"reasons": self._in_words(trained.learner, config)} if in_detail else {}
        return {
            "expected": round(float(trained.learner.predict_rows(rows, self.metafeatures)[0]), 3),
            **said,
            "carriers": [
                {
                    "dataset": self.lessons.names.get(fingerprint, fingerprint),
                    "standing": round(float(standing[fingerprint]), 2),
                    "distance": round(distance, 3),
                }
                for fingerprint, distance in self._alike[algorithm]
            ],
        }

    def _in_words(self, learner: MetaLearner, config: Config) -> list[str]:
        """Return which hyperparameters speak most for or against a configuration."""
        explained = explain(learner, config, self.metafeatures, n_contributions=MOST_INPUTS)
        # What the data set is like speaks for or against all configurations alike.
        described = {name for member in learner.members_ for name in member.metafeatures}
        return [str(item) for item in explained.contributions if item.name not in described][:N_REASONS]

    def contribution(self, n_warm_starts: int) -> ExperienceFacts:
        """Return what the report says of the knowledge base."""
        offs = {
            name: committee.guard.verdicts
            for name, committee in self._committees.items()
            if committee.guard.verdicts and not committee.guard.is_trusted
        }
        said = [*self.notes, *(f"{name}: {verdicts[-1]}" for name, verdicts in offs.items())]
        return ExperienceFacts(
            n_datasets=self.lessons.n_datasets,
            n_runs=self.lessons.n_runs,
            similar=self.similar,
            n_warm_starts=n_warm_starts,
            is_judged=any(committee.guard.tau is not None for committee in self._committees.values()),
            guard_off={name: verdicts[-1].n_evaluations for name, verdicts in offs.items()},
            text=" ".join(said),
        )


def _nearest_datasets(metafeatures: Mapping[str, float], table: pd.DataFrame) -> list[tuple[str, float]]:
    """Return the most similar data sets with their distances; of several samples of one, only the most similar."""
    found: dict[str, tuple[str, float]] = {}
    for name, distance in nearest(metafeatures, table, n=len(table)):
        found.setdefault(fingerprint_of(name), (name, distance))
    return list(found.values())[:N_CARRIERS]


Answer = TypeVar("Answer")


class BackgroundTask(Generic[Answer]):
    """A function that runs in a thread after `begin`, or when its answer is waited for.

    An error in it does not end a search, which goes on without experience; `error` says what happened.
    """

    def __init__(self, compute: Callable[[], Answer | None]) -> None:
        self._compute = compute
        self._thread: threading.Thread | None = None
        self._found: Answer | None = None
        self.error = ""
        self.is_done = False

    def begin(self) -> None:
        """Run in the background."""
        self._thread = threading.Thread(target=self._work, name="metaml-memory", daemon=True)
        self._thread.start()

    def wait(self) -> Answer | None:
        """Return the answer when it is there; None if there is none."""
        if self._thread is not None:
            self._thread.join()
        elif not self.is_done:
            self._work()
        return self._found

    def _work(self) -> None:
        try:
            self._found = self._compute()
        except Exception as error:
            self.error = f"Experience could not be used ({type(error).__name__}: {error})."
        self.is_done = True


def recall_experience(
    kb: KnowledgeBase,
    request: LessonRequest,
    metafeatures: Mapping[str, float],
    *,
    seconds: float | None = None,
) -> Experience | None:
    """Return the experience for a data set with these metafeatures; None if the knowledge base knows nothing useful.

    A session of so many `seconds` gives a small part of them to learning. Where evaluations are counted instead,
    lessons that are there are used as they are: the same session then makes the same choices.
    """
    n_known = kb.n_runs()
    if n_known == 0:
        return None
    place = place_of(kb)
    kept = kept_lessons(place, request)
    if kept is not None and n_known <= GROWTH * kept.n_known:
        return _experience_of(kept, metafeatures, request, ())
    shipped = shipped_lessons(kb, request)
    if kept is None and shipped is not None and n_known <= GROWTH * shipped.n_known:
        return _experience_of(shipped, metafeatures, request, ())
    if seconds is None:
        is_time_to_learn = kept is None and shipped is None and n_known <= MOST_UNASKED
    else:
        most = (MOST_SHARE if kept or shipped else MOST_SHARE_WITHOUT) * seconds
        is_time_to_learn = learning_seconds(n_known, request, kept) <= most
    if is_time_to_learn:
        return _experience_of(learn(kb, request), metafeatures, request, ())
    older = kept or shipped or stand_in_lessons(kb, request, place)
    if older is None:
        return None
    more = n_known - older.n_known
    note = f"Its lessons are those of {older.n_known} runs ({more} fewer than it has now); metaml learn renews them."
    return _experience_of(older, metafeatures, request, (note,) if more > 0 else ())


def _experience_of(
    lessons: Lessons, metafeatures: Mapping[str, float], request: LessonRequest, notes: Sequence[str]
) -> Experience | None:
    experience = Experience(lessons, metafeatures, request.task, notes=notes)
    return experience if any(experience.knows(name) for name in request.algorithms) else None
