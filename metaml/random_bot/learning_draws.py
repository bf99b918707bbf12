"""Which run comes next if the meta-learner is to learn: data set, algorithm and configuration by what they teach.

Of some candidates that are drawn at random, one is run with a probability in proportion to what it would teach per
second; a fixed share of the draws is at random. The sampling probability is stored with the run, so that what is learnt
from such runs can be weighted.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.arrays import Floats
from metaml.data import Task
from metaml.experience.load_history import run_history
from metaml.metalearning.history import RunHistory
from metaml.random_bot.draws import BotSettings, Draws, Prepared
from metaml.random_bot.information import InformationRate, novelty, odds
from metaml.spaces.config import Config
from metaml_kb import KnowledgeBase, canonical_json

N_CANDIDATES = 64
RANDOM_SHARE = 0.25
"""The share of the draws that is at random, whatever the models say."""
REFIT_EVERY = 100
LEAST_RUNS = 40
"""With fewer runs of an algorithm, nothing can be said of what another one would teach."""
MOST_PER_DATASET = 100
METRICS: dict[Task, str] = {"binary": "neg_log_loss", "multiclass": "neg_log_loss", "regression": "neg_rmse"}


Drawn = tuple[Prepared, str, Config]


@dataclass(frozen=True, eq=False)
class _Learnt:
    """The runs of an algorithm on data sets of one kind of task, and what was learnt from them."""

    history: RunHistory
    rate: InformationRate

    def rates(self, candidates: Sequence[tuple[str, Config]]) -> Floats:
        """Return what each configuration would teach per second on its data set (fingerprint)."""
        history = self.history
        own = history.encode([config for _, config in candidates])
        groups = [history.datasets.index(name) if name in history.datasets else -1 for name, _ in candidates]
        unknown = np.full(history.metafeatures.shape[1], np.nan)
        described = np.stack([unknown if group < 0 else _described(history)[group] for group in groups])
        known = [history.rows[history.groups == group] for group in groups]
        novelties = np.array([novelty(row, runs) for row, runs in zip(own, known, strict=True)])
        return self.rate.predict(np.hstack([own, described]), novelties)


class LearningDraws(Draws):
    """Draws what teaches most per second, once every pair has its default and an algorithm has enough runs.

    Another bot may work on the same knowledge base: what it has run counts from the next fit on.
    """

    def __init__(
        self,
        kb: KnowledgeBase,
        prepared: Sequence[Prepared],
        settings: BotSettings,
        *,
        is_free: Callable[[Prepared, str, Config], bool] = lambda *_: True,
    ) -> None:
        super().__init__(kb, prepared, settings, is_free=is_free)
        self._learnt: dict[tuple[str, Task], _Learnt | None] = {}
        self._seen: dict[tuple[str, str], set[str]] = {}
        self._odds: dict[tuple[str, str, str], float] = {}
        self._bare: set[tuple[str, str]] = set()
        self._n_draws = 0

    def next(self) -> Drawn | None:
        """Return the next thing to run: a data set, an algorithm and a configuration; None when nothing is left."""
        self._n_draws += 1
        if self._n_draws % REFIT_EVERY == 1:
            self._learnt, stored = {}, self._kb.run_counts()
            self._bare = {pair for pair in self._pairs if not stored.get(pair)}
        found = None if self._bare or not self._pairs else self._drawn()
        if found is None and (found := super().next()) is not None:
            self._bare.discard((found[0].fingerprint, found[1]))
        return found

    def odds_of(self, fingerprint: str, algorithm: str, config: Config) -> float:
        """Return how many times more often than at random a configuration was drawn."""
        return self._odds.get((fingerprint, algorithm, canonical_json(config)), 1.0)

    def _drawn(self) -> Drawn | None:
        """Return one of the candidates; None if too little is known, or another bot has taken it."""
        content = f"{self._settings.seed}|learn|{self._n_draws}".encode()
        rng = np.random.default_rng(int.from_bytes(blake2b(content, digest_size=8).digest(), "big"))
        pairs = [self._pairs[place] for place in rng.integers(len(self._pairs), size=N_CANDIDATES)]
        candidates = []
        for fingerprint, algorithm in pairs:
            item = self._prepared[fingerprint]
            config = ALGORITHMS[algorithm].space(item.task).sample(1, rng)[0]
            is_new = canonical_json(config) not in self._known(fingerprint, algorithm)
            if is_new and self._learnt_of(algorithm, item.task) is not None:
                candidates.append((item, algorithm, config))
        if not candidates:
            return None
        weights = odds(self._rates(candidates), RANDOM_SHARE)
        place = int(rng.choice(len(candidates), p=weights / weights.sum()))
        item, algorithm, config = candidates[place]
        self._known(item.fingerprint, algorithm).add(canonical_json(config))
        self._odds[item.fingerprint, algorithm, canonical_json(config)] = float(weights[place])
        return candidates[place] if self._is_free(*candidates[place]) else None

    def _known(self, fingerprint: str, algorithm: str) -> set[str]:
        """Return the configurations that were run or drawn for a pair."""
        pair = (fingerprint, algorithm)
        if pair not in self._seen:
            self._seen[pair] = {canonical_json(config) for config in self._kb.configs(*pair)}
        return self._seen[pair]

    def _learnt_of(self, algorithm: str, task: Task) -> _Learnt | None:
        key = (algorithm, task)
        if key not in self._learnt:
            history = run_history(
                self._kb,
                algorithm,
                metric=METRICS[task],
                task=task,
                space=ALGORITHMS[algorithm].space(task),
                most_per_dataset=MOST_PER_DATASET,
            )
            self._learnt[key] = None if len(history.scores) < LEAST_RUNS else _Learnt(history, _fitted(history))
        return self._learnt[key]

    def _rates(self, candidates: Sequence[Drawn]) -> Floats:
        """Return what each candidate would teach per second."""
        rates = np.zeros(len(candidates))
        kinds = [(algorithm, item.task) for item, algorithm, _ in candidates]
        for kind in set(kinds):
            learnt = self._learnt_of(*kind)
            assert learnt is not None  # noqa: S101 - for the type checker: others are no candidates
            places = [place for place, other in enumerate(kinds) if other == kind]
            rates[places] = learnt.rates([(candidates[place][0].fingerprint, candidates[place][2]) for place in places])
        return rates


def _described(history: RunHistory) -> Floats:
    return history.metafeatures.to_numpy(np.float64)


def _fitted(history: RunHistory) -> InformationRate:
    """Return what was learnt from a history."""
    rows = np.hstack([history.rows, _described(history)[history.groups]])
    return InformationRate().fit(rows, history.normal, history.seconds)
