"""Which pair of data set and algorithm the bot works on next, and which configuration it runs.

The pair with the fewest runs comes next. Its configurations come from a stream that belongs to the seed, the data set
and the algorithm.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from hashlib import blake2b
from itertools import chain, count
from typing import Literal

import numpy as np

from metaml.algorithms import ALGORITHMS, SEARCHED, check_known
from metaml.data import Task
from metaml.errors import BadRequest
from metaml.evaluation import FoldPlan, Limits
from metaml.random_bot.grid import fitting_configs
from metaml.seeds import check_seed
from metaml.spaces.config import Config
from metaml.spaces.grid import Grid
from metaml_kb import KnowledgeBase, canonical_json
from metaml_kb.predictions import Form

DEFAULT_LIMITS = Limits(seconds=60.0, megabytes=4000.0)
RECOUNT_EVERY = 50
MOST_DRAWS = 1000


@dataclass(frozen=True, kw_only=True)
class BotSettings:
    """What a bot is asked to do. Without `n_runs` and `seconds` it works until it is stopped.

    Every data set gets the configurations in `first` (algorithm, configuration) after the default and before random
    ones: what was run everywhere can be compared without a model. Without `draws` there are no random ones.
    With a `grid`, every data set gets all of its configurations after the default, and no random ones.
    With the `goal` "learn", what a meta-learner would learn most from per second is run more often.
    `keep_predictions` is the form in which out-of-fold predictions are stored with the runs, None for not at all.
    """

    algorithms: tuple[str, ...] = SEARCHED
    n_runs: int | None = None
    seconds: float | None = None
    n_workers: int = 1
    n_folds: int = 5
    limits: Limits = DEFAULT_LIMITS
    max_rows: int | None = None
    seed: int = 0
    describe_seconds: float = 1.0
    first: tuple[tuple[str, Config], ...] = ()
    draws: bool = True
    user: str | None = None
    project: str | None = None
    keep_predictions: Form | None = None
    grid: Grid = field(default_factory=dict)
    goal: Literal["cover", "learn"] = "cover"

    def __post_init__(self) -> None:
        check_known((*self.algorithms, *dict(self.first)))
        check_seed(self.seed)
        if self.grid and len(self.algorithms) != 1:
            raise BadRequest("A grid is of one algorithm. Name it with --algorithm.")
        if self.goal not in ("cover", "learn"):
            raise BadRequest(f"No bot has the goal {self.goal!r}. Choose cover or learn.")
        if self.grid and self.goal == "learn":
            raise BadRequest("A grid says itself what is run. Leave out --goal learn.")


@dataclass(frozen=True, eq=False)
class Prepared:
    """A data set that is ready to be worked on, without its rows."""

    fingerprint: str
    name: str
    task: Task
    n_rows: int
    plan: FoldPlan


Pair = tuple[str, str]


class Draws:
    """Which pair comes next, and which configuration it runs."""

    def __init__(
        self,
        kb: KnowledgeBase,
        prepared: Sequence[Prepared],
        settings: BotSettings,
        *,
        is_free: Callable[[Prepared, str, Config], bool] = lambda *_: True,
    ) -> None:
        self._kb = kb
        self._prepared = {item.fingerprint: item for item in prepared}
        self._settings = settings
        self._is_free = is_free
        self._streams: dict[Pair, Iterator[Config]] = {}
        self._asked: Counter[Pair] = Counter()
        self._n_picks = 0
        pairs = [
            (item.fingerprint, name)
            for item in prepared
            for name in settings.algorithms
            if item.task in ALGORITHMS[name].tasks
        ]
        order = np.random.default_rng(settings.seed).permutation(len(pairs))
        self._pairs = [pairs[place] for place in order]
        self._counts: dict[Pair, int] = {}

    def next(self) -> tuple[Prepared, str, Config] | None:
        """Return the next thing to run: a data set, an algorithm and a configuration; None when nothing is left."""
        while self._pairs:
            if self._n_picks % RECOUNT_EVERY == 0:
                # Other bots may work on the same knowledge base.
                stored = self._kb.run_counts()
                self._counts = {pair: max(stored.get(pair, 0), self._asked[pair]) for pair in self._pairs}
            self._n_picks += 1
            pair = min(self._pairs, key=self._counts.__getitem__)
            if pair not in self._streams:
                seen = {canonical_json(config) for config in self._kb.configs(*pair)}
                self._streams[pair] = self._stream(*pair, seen=seen)
                self._asked[pair] = self._counts[pair]
            config = next(self._streams[pair], None)
            if config is None:
                # A small space can be exhausted.
                self._pairs.remove(pair)
                continue
            self._asked[pair] += 1
            self._counts[pair] += 1
            drawn = (self._prepared[pair[0]], pair[1], config)
            # Another bot may be about to run it, or has run it since this one began.
            if self._is_free(*drawn):
                return drawn
        return None

    def odds_of(self, fingerprint: str, algorithm: str, config: Config) -> float:  # noqa: ARG002
        """Return how many times more often than at random a configuration was drawn."""
        return 1.0

    def _stream(self, fingerprint: str, algorithm: str, *, seen: set[str]) -> Iterator[Config]:
        """Yield configurations that were never run here: the default, those for all data sets, then uniform draws."""
        space = ALGORITHMS[algorithm].space(self._prepared[fingerprint].task)
        content = f"{self._settings.seed}|{fingerprint}|{algorithm}".encode()
        rng = np.random.default_rng(int.from_bytes(blake2b(content, digest_size=8).digest(), "big"))
        wanted = [config for name, config in self._settings.first if name == algorithm]
        # What is meant for classes is no configuration for numbers.
        given = [space.default(), *(config for config in wanted if space.is_valid(config))]
        if self._settings.grid:
            given += fitting_configs(space, self._settings.grid)
        is_random = self._settings.draws and not self._settings.grid
        drawn = (space.sample(1, rng)[0] for _ in count()) if is_random else ()
        misses = 0
        for candidate in chain(given, drawn):
            text = canonical_json(candidate)
            if text not in seen:
                seen.add(text)
                misses = 0
                yield candidate
            elif (misses := misses + 1) >= MOST_DRAWS:
                return
