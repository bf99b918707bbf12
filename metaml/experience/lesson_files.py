"""What a knowledge base teaches: learnt once for many sessions, and where that is kept between them.

Lessons are kept beside the knowledge base and used until it has clearly grown. Those of the starter experience come
with metaml.
"""

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from pathlib import Path

from metaml.algorithms import ALGORITHMS, SEARCHED
from metaml.data import Task
from metaml.errors import BadRequest
from metaml.evaluation import default_metric
from metaml.experience.load_history import TASK_FAMILIES, run_history
from metaml.metalearning.lessons import Lessons, load_lessons, load_portfolio, save_lessons, taught_by, teach
from metaml.metalearning.portfolio import Portfolio
from metaml_kb import KnowledgeBase

SECONDS_PER_ALGORITHM, SECONDS_PER_RUN = 0.35, 0.0005
SHIPPED = Path(__file__).parents[1] / "starter" / "lessons"
"""Lessons of the starter experience, learnt when it was made."""


@dataclass(frozen=True)
class LessonRequest:
    """Which lessons are asked for. `left_out` are fingerprints whose experience must not count."""

    metric: str
    task: Task
    algorithms: tuple[str, ...] = SEARCHED
    left_out: tuple[str, ...] = field(default=())

    @property
    def family(self) -> str:
        """Return classification or regression."""
        return TASK_FAMILIES[self.task]

    @property
    def file_name(self) -> str:
        """Return the name of the file that such lessons are kept in."""
        gone = "|".join(sorted(self.left_out))
        suffix = "-without-" + blake2b(gone.encode(), digest_size=6).hexdigest() if gone else ""
        return f"{self.metric}-{self.family}{suffix}.lessons"


def learn(kb: KnowledgeBase, request: LessonRequest, *, n_threads: int = 1) -> Lessons:
    """Return what the knowledge base teaches now, and keep it beside the knowledge base."""
    begun = time.perf_counter()
    experiences = {
        name: run_history(
            kb,
            name,
            metric=request.metric,
            task=request.task,
            space=ALGORITHMS[name].space(request.task),
            leave_out=request.left_out,
        )
        for name in ALGORITHMS
    }
    lessons = teach(experiences, family=request.family, n_known=kb.n_runs(), n_threads=n_threads)
    lessons = replace(lessons, seconds=time.perf_counter() - begun)
    place = place_of(kb)
    if place is None:
        return lessons
    try:
        save_lessons(lessons, place / request.file_name)
    except OSError:
        # What was learnt serves this session even if there is no room to keep it.
        return lessons
    # As they were written, to the last digit: a session must find the same lessons when it is replayed.
    return load_lessons(place / request.file_name)


def portfolio_at_hand(kb: KnowledgeBase, request: LessonRequest) -> Portfolio | None:
    """Return the portfolio that is stored already, which takes no time to learn; None if there is none."""
    for path in _paths(kb, request):
        found = load_portfolio(path)
        if found is not None and not (request.left_out and _is_taught_by_any(path, request.left_out)):
            return found
    return None


def shipped_portfolio(request: LessonRequest) -> Portfolio | None:
    """Return the portfolio that comes with metaml, also without a knowledge base; None if data sets are left out."""
    paths = (SHIPPED / LessonRequest(item.metric, item.task).file_name for item in (request, _usual(request)))
    return None if request.left_out else next(filter(None, map(load_portfolio, paths)), None)


def _paths(kb: KnowledgeBase, request: LessonRequest) -> Iterator[Path]:
    """Yield where lessons for such a session may be, the most fitting first."""
    place, is_started = place_of(kb), has_starter(kb)
    for item in dict.fromkeys((request, _usual(request))):
        if place is not None:
            yield kept_at(place, item)
        if is_started:
            yield SHIPPED / LessonRequest(item.metric, item.task).file_name


def has_starter(kb: KnowledgeBase) -> bool:
    """Return whether a knowledge base holds the experience that comes with metaml."""
    return kb.has_session("starter")


def lessons_of_revision(kb: KnowledgeBase, request: LessonRequest, revision: str) -> Lessons | None:
    """Return the lessons of just this revision, if they are still kept."""
    place = place_of(kb)
    usual = _usual(request)
    for found in (
        kept_lessons(place, request),
        shipped_lessons(kb, request),
        kept_lessons(place, usual),
        shipped_lessons(kb, usual),
    ):
        if found is not None and found.revision == revision:
            return found
    return None


def count_datasets(kb: KnowledgeBase, request: LessonRequest) -> int:
    """Return the number of data sets of the request kind that have complete runs."""
    tasks = [task for task, family in TASK_FAMILIES.items() if family == request.family]
    frame = kb.datasets()
    return int(((frame["n_runs"] > 0) & frame["task"].isin(tasks)).sum())


def is_in_file(kb: KnowledgeBase) -> bool:
    """Return whether several threads can read at the same time; a knowledge base in memory has only one connection."""
    return kb.engine.dialect.name != "sqlite" or place_of(kb) is not None


def place_of(kb: KnowledgeBase) -> Path | None:
    """Return the folder for the lessons of a knowledge base: beside its file; None if it is in memory.

    It has the key of the knowledge base, so that what another one taught is never taken for this one's.
    """
    if kb.engine.dialect.name != "sqlite":
        from platformdirs import user_cache_path

        return user_cache_path("metaml") / kb.key()
    file = kb.engine.url.database
    return None if file in (None, "", ":memory:") else Path(f"{file}.lessons") / kb.key()


def learning_seconds(n_known: int, request: LessonRequest, earlier: Lessons | None) -> float:
    """Return how long learning is expected to take: as long as the last time here, or a rule of thumb."""
    if earlier is not None and earlier.n_known:
        return earlier.seconds * n_known / earlier.n_known
    return SECONDS_PER_ALGORITHM * len(request.algorithms) + SECONDS_PER_RUN * n_known if n_known > 0 else 0.0


def kept_at(place: Path, request: LessonRequest) -> Path:
    """Return the file of such lessons in a folder.

    If data sets are to be left out, any lessons that were learnt without them will do: the ones of most data sets.
    """
    path = place / request.file_name
    if path.exists() or not request.left_out:
        return path
    others = place.glob(f"{request.metric}-{request.family}*.lessons")
    taught = {other: datasets for other in sorted(others) if (datasets := taught_by(other)) is not None}
    fitting = [other for other, datasets in taught.items() if not datasets & set(request.left_out)]
    return max(fitting, key=lambda other: len(taught[other]), default=path)


def kept_lessons(place: Path | None, request: LessonRequest) -> Lessons | None:
    """Return the lessons that a folder holds for such a session; None if there are none, or they cannot be read."""
    return None if place is None else _readable(kept_at(place, request))


def _readable(path: Path) -> Lessons | None:
    try:
        return load_lessons(path) if path.exists() else None
    except BadRequest:
        return None


def _is_taught_by_any(path: Path, fingerprints: Iterable[str]) -> bool:
    return bool((taught_by(path) or frozenset()) & set(fingerprints))


def shipped_lessons(kb: KnowledgeBase, request: LessonRequest) -> Lessons | None:
    """Return the lessons that came with metaml, if the knowledge base holds the starter experience they are of."""
    if not has_starter(kb):
        return None
    path = SHIPPED / LessonRequest(request.metric, request.task).file_name
    return None if _is_taught_by_any(path, request.left_out) else _readable(path)


def stand_in_lessons(kb: KnowledgeBase, request: LessonRequest, place: Path | None) -> Lessons | None:
    """Return the lessons by the metric that is usual for the task: what does well by one does well by most."""
    usual = _usual(request)
    if usual == request:
        return None
    return kept_lessons(place, usual) or shipped_lessons(kb, usual)


def _usual(request: LessonRequest) -> LessonRequest:
    return replace(request, metric=default_metric(request.task))
