"""Ask for the next configuration of one algorithm, tell how it did: Bayesian optimisation over a space or a
pool.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from metaml.acquisition.candidates import Candidate, Candidates, SpaceCandidates, Wish
from metaml.acquisition.committee import Committee, Expert
from metaml.acquisition.spread_committee import SpreadCommittee
from metaml.encoding import Facts
from metaml.search.batches import BATCHES, MEAN_WIDTH, USUAL_BATCH, drawn_width
from metaml.search.strategy import strategy_named
from metaml.spaces import Space
from metaml.spaces.config import Config
from metaml.surrogates.duration import Duration

Array = NDArray[np.float64]

FEW_ERRORS = 10
"""Predictions that must have come true or not before their errors alone say how sure the next one is."""


@dataclass(frozen=True)
class Proposal:
    """A configuration to evaluate, and what was expected of it when it was proposed.

    `proposer` is `start`, `random` or a strategy's name. `index` is the position in the pool, if there is
    one.
    """

    config: Config
    proposer: str
    score: float | None = None
    std: float | None = None
    seconds: float | None = None
    value: float | None = None
    index: int | None = None


class Observed(Protocol):
    """What `tell` reads of an outcome."""

    @property
    def status(self) -> str:
        """Return `ok`, or what went wrong."""
        ...

    @property
    def scores(self) -> Mapping[str, Sequence[float]]:
        """Return each metric's score on each fold."""
        ...

    @property
    def seconds(self) -> float:
        """Return the wall time."""
        ...

    @property
    def expected_seconds(self) -> float:
        """Return what all folds would have taken, as far as that is known to be more."""
        ...


@dataclass(frozen=True, eq=False)
class Option:
    """A proposal that is not open yet, with its row, its predicted seconds, and the weight `width` of uncertainty.

    The smaller the weight, the surer the optimizer is that it is good.
    """

    algorithm: str
    proposal: Proposal
    row: Array
    width: float
    seconds: float | None


@dataclass(frozen=True)
class Seen:
    """A configuration and its outcome. The score is None if it failed; a partial one had too few folds to be best."""

    config: Config
    score: float | None
    seconds: float | None
    is_partial: bool = False


class Optimizer:
    """Proposes configurations of one algorithm on one data set.

    The next proposal depends only on the seed, the finished runs (in their order) and the open proposals. To resume a
    search, tell the earlier runs to a new optimizer.

    `space` is a space, or any other source of candidates, such as a pool of recorded configurations. The
    first proposals are `starts`, then random ones until `n_random` runs are known, then those of the
    `strategy`; with `random_every` = k, each k-th is random again. A `cost` rule weighs promise against
    expected seconds. A committee may be given in place of a strategy; it has its own rule. `batch` says how an open
    proposal counts, usually as if it had its predicted score. A failed run counts as if it had the worst score of those
    that worked. A strategy may name all of these, as `gbqr+interleaved+constant_liar`; its starts and its use of
    experience are up to the caller.
    """

    def __init__(
        self,
        space: Space | Candidates,
        *,
        facts: Facts | None = None,
        strategy: str | Sequence[Expert] | Committee = "default",
        cost: str | None = None,
        search: str = "neighbours",
        starts: Sequence[Config] = (),
        n_random: int = 3,
        random_every: int = 0,
        batch: str = "",
        metric: str | None = None,
        seed: int = 0,
    ) -> None:
        named = strategy_named(strategy) if isinstance(strategy, str) else None
        if named is not None:
            search = named.candidates or search
            random_every, batch = named.random_every or random_every, named.batch or batch
        self.name, self._committee = _judge(strategy, cost)
        self.starts = tuple(starts)
        self.n_random = n_random
        self.random_every = random_every
        self._batch = BATCHES[batch or USUAL_BATCH]
        self.metric = metric
        self.seed = seed
        self._candidates: Candidates = (
            SpaceCandidates(space, facts=facts, search=search) if isinstance(space, Space) else space
        )
        self._seen: list[Seen] = []
        self._rows: list[Array] = []
        self._keys: set[str] = set()
        self._open: dict[str, tuple[Proposal, Array]] = {}
        self._errors: list[float] = []

    @property
    def seen(self) -> tuple[Seen, ...]:
        """Return the runs that `tell` has received, in order."""
        return tuple(self._seen)

    @property
    def best(self) -> Seen | None:
        """Return the best run so far, the first of equals; None if nothing worked yet."""
        return next((seen for seen in self._ranked() if not seen.is_partial), None)

    def ask(self) -> Proposal:
        """Return the next proposal, with its `config`; it stays open until `tell` or `drop`."""
        n = len(self._seen) + len(self._open)
        proposal, row = self._next_start() or self._propose(n, np.random.default_rng((self.seed, n)))
        self._open[self._candidates.key(proposal.config)] = (proposal, row)
        return proposal

    def ask_for(self, config: Config) -> Proposal:
        """Return a configuration that the caller chose as a proposal; it stays open like any other."""
        proposal = Proposal(dict(config), "start", index=self._candidates.index(config))
        self._open[self._candidates.key(config)] = (proposal, self._candidates.row(config))
        return proposal

    def options(self, n: int, *, algorithm: str = "", most_seconds: float = math.inf) -> list[Option]:
        """Return up to `n` different proposals of one fitted model; none is open until it is taken.

        Each comes from a confidence bound with a weight on uncertainty of its own, drawn from an exponential
        distribution of mean 2 (qLCB). Those that are expected to take longer than `most_seconds` are left out.
        """
        n_asked = len(self._seen) + len(self._open)
        rng = np.random.default_rng((self.seed, n_asked, n))
        widths = np.sort(rng.exponential(MEAN_WIDTH, n)).tolist()
        start, ranked = self._next_start(), self._ranked()
        if start is not None:
            return [Option(algorithm, *start, 0.0, None)]
        if self._committee is None or n_asked < self.n_random or not ranked:
            drawn = {}
            for width in widths:
                candidate = self._candidates.random(lambda key: key in drawn or self._is_taken(key), rng)
                drawn[self._candidates.key(candidate.config)] = (width, candidate)
            found = [(width, *self._proposal(candidate, "random")) for width, candidate in drawn.values()]
            return [Option(algorithm, proposal, row, width, None) for width, proposal, row in found]
        self._fit(self._committee, rng)
        duration = self._duration()
        wish = Wish(widths, lambda rows: duration.predict(rows) <= most_seconds)
        known = [seen.config for seen in ranked]
        several = self._candidates.several(self._committee, known, self._is_taken, rng, wish)
        options = []
        for width, candidate in several:
            proposal, row = self._proposal(candidate, self.name, self._committee)
            seconds = float(duration.predict(row[np.newaxis])[0])
            options.append(Option(algorithm, replace(proposal, seconds=seconds), row, width, seconds))
        return options

    def take(self, option: Option) -> Proposal:
        """Return the proposal of an option; it stays open as any other."""
        self._open[self._candidates.key(option.proposal.config)] = (option.proposal, option.row)
        return option.proposal

    def _duration(self) -> Duration:
        """Return a model of the seconds of the runs so far; without any, all take the same."""
        known = [place for place, seen in enumerate(self._seen) if seen.seconds is not None]
        if not known:
            return Duration().fit(np.zeros((1, 1)), np.ones(1))
        seconds = np.array([self._seen[place].seconds for place in known], dtype=np.float64)
        return Duration(seed=self.seed).fit(np.stack([self._rows[place] for place in known]), seconds)

    def is_taken(self, config: Config) -> bool:
        """Return whether a configuration is open or was evaluated."""
        return self._is_taken(self._candidates.key(config))

    def tell(self, config: Config, outcome: Observed) -> None:
        """Learn the outcome of an evaluation: the mean over folds of this optimizer's metric, or of the first
        one.
        """
        scores = outcome.scores
        folds = scores.get(self.metric, ()) if self.metric is not None else next(iter(scores.values()), ())
        defined = [value for value in folds if np.isfinite(value)]
        is_partial = outcome.status == "partial"
        worked = outcome.status == "ok" or is_partial
        score = float(np.mean(defined)) if worked and defined else None
        self.observe(config, score, max(outcome.seconds, outcome.expected_seconds), is_partial=is_partial)

    def observe(
        self, config: Config, score: float | None, seconds: float | None = None, *, is_partial: bool = False
    ) -> None:
        """Learn a score (higher is better) and the seconds it took; None or NaN is a failure or a time-out."""
        key = self._candidates.key(config)
        proposal, row = self._open.pop(key, (None, None))
        worked = score is not None and np.isfinite(score)
        known = float(score) if score is not None and worked else None
        if known is not None and proposal is not None and proposal.score is not None:
            self._errors.append(abs(known - proposal.score))
        self._seen.append(Seen(dict(config), known, seconds, is_partial))
        self._rows.append(self._candidates.row(config) if row is None else row)
        self._keys.add(key)

    def resume(self, runs: Iterable[tuple[Config, float | None, float | None]]) -> None:
        """Learn earlier runs, as (configuration, score, seconds), in the order they were made."""
        for config, score, seconds in runs:
            self.observe(config, score, seconds)

    def rescore(self, scores: Sequence[float | None], seconds: Sequence[float] | None = None) -> None:
        """Replace the scores of the runs that `tell` has received, and their seconds if given, in the same order.

        A search for several objectives, or with low fidelities, does that.
        """
        self._seen = [replace(seen, score=score) for seen, score in zip(self._seen, scores, strict=True)]
        if seconds is not None:
            self._seen = [replace(seen, seconds=each) for seen, each in zip(self._seen, seconds, strict=True)]

    def drop(self, config: Config) -> None:
        """Forget a proposal that will not be evaluated."""
        self._open.pop(self._candidates.key(config), None)

    def _is_taken(self, key: str) -> bool:
        return key in self._keys or key in self._open

    def _ranked(self) -> list[Seen]:
        worked = [seen for seen in self._seen if seen.score is not None]
        return sorted(worked, key=lambda seen: -(seen.score or 0.0))

    def _next_start(self) -> tuple[Proposal, Array] | None:
        for config in self.starts:
            if not self._is_taken(self._candidates.key(config)):
                proposal = Proposal(dict(config), "start", index=self._candidates.index(config))
                return proposal, self._candidates.row(config)
        return None

    def _propose(self, n: int, rng: np.random.Generator) -> tuple[Proposal, Array]:
        ranked = self._ranked()
        is_random_turn = self.random_every > 0 and n % self.random_every == self.random_every - 1
        if self._committee is None or n < self.n_random or not ranked or is_random_turn:
            return self._proposal(self._candidates.random(self._is_taken, rng), "random")
        self._fit(self._committee, rng)
        return self._proposal(self._best(self._committee, ranked, rng), self.name, self._committee)

    def _best(self, committee: Committee, ranked: Sequence[Seen], rng: np.random.Generator) -> Candidate:
        known = [seen.config for seen in ranked]
        if self._batch.draws_width and self._open:
            wish = Wish([drawn_width(rng)], lambda rows: np.ones(len(rows), dtype=np.bool_))
            several = self._candidates.several(committee, known, self._is_taken, rng, wish)
            return several[0][1] if several else self._candidates.random(self._is_taken, rng)
        if self._batch.spreads and self._open:
            committee = SpreadCommittee(committee, [row for _, row in self._open.values()], rng)
        return self._candidates.best(committee, known, self._is_taken, rng)

    def _proposal(
        self, candidate: Candidate, proposer: str, committee: Committee | None = None
    ) -> tuple[Proposal, Array]:
        belief = None if committee is None else committee.believe(candidate.row)
        proposal = Proposal(
            candidate.config,
            proposer,
            score=None if belief is None else belief.score,
            std=None if belief is None or belief.std is None else self._honest(belief.std) or None,
            seconds=None if belief is None else belief.seconds,
            value=candidate.value,
            index=candidate.index,
        )
        return proposal, candidate.row

    def _honest(self, std: float) -> float:
        """Return a deviation that takes into account how far off the predictions of this search were so far.

        A surrogate that has seen neighbours of a candidate believes to know its score; the folds are noisier than that.
        Two thirds of the errors so far lie within it, and 95 % within twice of it. As long as there are few, it is at
        least half the spread of the scores. 0 says that nothing is known about it: all scores so far are the same.
        """
        usual = 0.0
        if self._errors:
            usual = max(float(np.quantile(self._errors, 0.68)), float(np.quantile(self._errors, 0.95)) / 2)
        if len(self._errors) < FEW_ERRORS:
            usual = max(usual, float(np.std([seen.score for seen in self._seen if seen.score is not None])) / 2)
        return math.hypot(std, usual)

    def _fit(self, committee: Committee, rng: np.random.Generator) -> None:
        scores = np.array([np.nan if seen.score is None else seen.score for seen in self._seen])
        middle = float(np.nanmedian(scores))
        # A failure as the worst score that was seen: 0, as in the thesis (section 4.1.3), would dwarf all
        # differences.
        y = np.where(np.isnan(scores), np.nanmin(scores), scores)
        seconds = np.array([np.nan if seen.seconds is None else seen.seconds for seen in self._seen])
        rows, known = list(self._rows), y
        for proposal, row in self._open.values() if self._batch.is_in_model else ():
            rows.append(row)
            y = np.append(y, self._batch.score(known, middle if proposal.score is None else proposal.score))
            seconds = np.append(seconds, np.nan)
        committee.fit(np.stack(rows), y, seconds, int(rng.integers(2**31)))


def _judge(strategy: str | Sequence[Expert] | Committee, cost: str | None) -> tuple[str, Committee | None]:
    """Return a strategy's name and the committee that it is; None for random search."""
    if isinstance(strategy, Committee):
        return strategy.name, strategy
    if isinstance(strategy, str):
        named = strategy_named(strategy)
        return named.surrogate, Committee(named.experts, cost=named.cost or cost) if named.experts else None
    return "+".join(expert.surrogate for expert in strategy), Committee(tuple(strategy), cost=cost)
