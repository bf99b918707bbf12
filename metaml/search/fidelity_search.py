"""A search that looks at configurations at a low fidelity first, and promotes the best of them.

What is proposed comes from the optimizers and the bandit of `Search`. How far each proposal gets is decided by
`brackets`, from what has finished and nothing else, so that a session resumes and replays.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from metaml.acquisition.candidates import key_of
from metaml.arrays import Floats
from metaml.bandits import Policy
from metaml.errors import BadRequest
from metaml.search.bandit_search import NextTrial, Search
from metaml.search.brackets import ETA, Entrant, next_start, promoted
from metaml.search.fidelity import halved_shares, look_shares
from metaml.search.optimizer import Observed, Optimizer, Proposal
from metaml.search.strategy import strategy_named
from metaml.spaces import Config
from metaml.splits import FoldPlan

DEFAULT_SEARCH = "default"
PROMOTION = "promotion"
"""Who proposes a configuration that was looked at before."""


@dataclass(frozen=True)
class Method:
    """A way to search: at which shares of an evaluation configurations compete, and who proposes them.

    `hedges`: configurations begin at every share, as in Hyperband; else all begin at the lowest. `strategy` and
    `bandit` replace the usual ones; None keeps them. Of the proposals, each `random_every`-th is random.
    """

    shares: Callable[[str, FoldPlan], tuple[float, ...]]
    hedges: bool = False
    strategy: str | None = None
    bandit: str | None = None
    random_every: int = 0


def _halved(fidelity: str, plan: FoldPlan) -> tuple[float, ...]:
    return halved_shares(fidelity, plan, ETA)


METHODS: dict[str, Method] = {
    "hyperband": Method(_halved, hedges=True, strategy="random", bandit="uniform"),
    "bohb": Method(_halved, hedges=True, random_every=3),
    "halving": Method(_halved, strategy="random", bandit="round_robin"),
    "look": Method(look_shares),
}
"""Every search with low fidelities, by the name a user gives."""
SEARCHES = (DEFAULT_SEARCH, *METHODS)


def check_search(name: str, *, strategy: str, schedule: str) -> None:
    """Raise BadRequest for a search that does not exist, or that does not go with the other choices."""
    if name not in SEARCHES:
        raise BadRequest(f"No search is named {name!r}. Choose one of {', '.join(SEARCHES)}.")
    if name == DEFAULT_SEARCH:
        return
    if schedule != "asynchronous":
        raise BadRequest(f"The search {name} does not work in batches. Leave out --schedule {schedule}.")
    if strategy_named(strategy).space:
        raise BadRequest(f"The search {name} has an optimizer per algorithm. Leave out joint.")
    if METHODS[name].strategy is not None and strategy not in ("default", METHODS[name].strategy):
        raise BadRequest(f"The search {name} draws at random. For the surrogate {strategy}, choose bohb or look.")


def shares_of(search: str, fidelity: str, plan: FoldPlan) -> tuple[float, ...]:
    """Return the shares of an evaluation at which a search evaluates on these folds; the last one is the whole."""
    return METHODS[search].shares(fidelity, plan) if search in METHODS else (1.0,)


@dataclass
class _Seen:
    """A configuration under way: what it scored and took at each rung from its first on (NaN if it failed)."""

    algorithm: str
    config: Config
    start: int
    scores: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    is_open: bool = False

    def as_entrant(self) -> Entrant:
        return Entrant(self.start, tuple(self.scores), self.is_open)


class FidelitySearch(Search):
    """A policy that shares evaluations between optimizers, whose proposals compete at rising shares of an evaluation.

    What was seen at a low share counts for surrogates and bandit with the score, and the seconds, that it should have
    as a whole: plus the median gain from share to share of those that were promoted. The `initial_design` comes first;
    of it, what is in `at_once` is evaluated as a whole.
    """

    def __init__(
        self,
        optimizers: Mapping[str, Optimizer],
        policy: str | Policy,
        *,
        method: Method,
        shares: Sequence[float],
        at_once: Sequence[tuple[str, Config]] = (),
        initial_design: Sequence[tuple[str, Config]] = (),
        joins: Mapping[str, int] | None = None,
        seed: int = 0,
        is_timed: bool = True,
    ) -> None:
        super().__init__(optimizers, policy, initial_design=initial_design, joins=joins, seed=seed, is_timed=is_timed)
        self._method, self._shares = method, tuple(shares)
        self._at_once = {(name, key_of(config)) for name, config in at_once}
        self._seen: dict[tuple[str, str], _Seen] = {}
        self._told: dict[str, list[_Seen]] = {name: [] for name in optimizers}
        self._is_revised = True

    def ask(self, rounds_left: int | None = None) -> NextTrial:
        """Return what to evaluate next, and which share of it; it stays open until `tell` or `drop`."""
        place = promoted([seen.as_entrant() for seen in self._seen.values()], len(self._shares))
        if place is not None:
            return self._promote(list(self._seen.values())[place])
        self._revise()
        choice = super().ask(rounds_left)
        start = self._start_of(choice)
        self._enter(choice.algorithm, choice.proposal.config, start)
        return replace(choice, share=self._shares[start])

    def _promote(self, seen: _Seen) -> NextTrial:
        """Return the next evaluation of a configuration, at the next share."""
        seen.is_open = True
        rung = seen.start + len(seen.scores)
        expected = self._as_whole(seen, *self._gains())[0] if rung == len(self._shares) - 1 else None
        return NextTrial(seen.algorithm, Proposal(seen.config, PROMOTION, score=expected), self._shares[rung])

    def tell(self, algorithm: str, config: Config, outcome: Observed) -> None:
        """Learn the outcome of an evaluation, at the share of it that was asked for."""
        seen = self._seen[algorithm, key_of(config)]
        if not seen.scores:
            super().tell(algorithm, config, outcome)
            self._told[algorithm].append(seen)
        is_whole = seen.start + len(seen.scores) == len(self._shares) - 1
        # A whole evaluation that lost its race has no score that compares, a look has one.
        counts = outcome.status == "ok" or (outcome.status == "partial" and not is_whole)
        seen.scores.append(_mean(outcome, self.arms[algorithm].optimizer.metric) if counts else np.nan)
        seen.seconds.append(max(outcome.seconds, outcome.expected_seconds))
        seen.is_open, self._is_revised = False, False

    def resume(self, algorithm: str, config: Config, outcome: Observed, *, share: float = 1.0) -> None:
        """Learn an evaluation that was asked for and finished before; the search goes on as if asked here."""
        self._begin(algorithm, config, share)
        if not self._seen[algorithm, key_of(config)].scores:
            self.arms[algorithm].n_open += 1
            self._n_asked += 1
        self.tell(algorithm, config, outcome)

    def reopen(self, algorithm: str, config: Config, *, share: float = 1.0) -> None:
        """Take over an evaluation that was asked for elsewhere and is still under way."""
        if (algorithm, key_of(config)) not in self._seen:
            super().reopen(algorithm, config)
        self._begin(algorithm, config, share)

    def drop(self, algorithm: str, config: Config) -> None:
        """Forget an evaluation that was asked for and will not come; what was seen at lower shares stays."""
        seen = self._seen[algorithm, key_of(config)]
        seen.is_open = False
        if not seen.scores:
            del self._seen[algorithm, key_of(config)]
            super().drop(algorithm, config)

    def _start_of(self, choice: NextTrial) -> int:
        """Return the rung at which a new configuration begins."""
        if (choice.algorithm, key_of(choice.proposal.config)) in self._at_once:
            return len(self._shares) - 1
        if not self._method.hedges:
            return 0
        entrants = [seen.as_entrant() for key, seen in self._seen.items() if key not in self._at_once]
        return next_start(entrants, len(self._shares))

    def _begin(self, algorithm: str, config: Config, share: float) -> None:
        """Mark a configuration as open at a share."""
        if (algorithm, key_of(config)) not in self._seen:
            self._enter(algorithm, config, int(np.argmin(np.abs(np.subtract(self._shares, share)))))
        self._seen[algorithm, key_of(config)].is_open = True

    def _enter(self, algorithm: str, config: Config, start: int) -> None:
        self._seen[algorithm, key_of(config)] = _Seen(algorithm, dict(config), start, is_open=True)

    def _revise(self) -> None:
        """Judge all configurations by the scores and seconds that they should have as a whole."""
        if self._is_revised:
            return
        gains, factors = self._gains()
        for name, told in self._told.items():
            arm = self.arms[name]
            wholes = [self._as_whole(seen, gains, factors) for seen in told]
            arm.rewards = [score for score, _ in wholes]
            arm.seconds = [sum(seen.seconds) for seen in told]
            scores = [float(score) if np.isfinite(score) else None for score, _ in wholes]
            arm.optimizer.rescore(scores, [seconds for _, seconds in wholes])
        self._is_revised = True

    def _gains(self) -> tuple[Floats, Floats]:
        """Return what scores gain, and by which factor seconds grow, from each rung to the last one, in the median."""
        n_steps = len(self._shares) - 1
        gains, factors = np.zeros(n_steps + 1), np.ones(n_steps + 1)
        for rung in range(n_steps - 1, -1, -1):
            pairs = [
                (seen.scores[at + 1] - seen.scores[at], seen.seconds[at + 1] / max(seen.seconds[at], 1e-3))
                for seen in self._seen.values()
                if 0 <= (at := rung - seen.start) < len(seen.scores) - 1 and np.isfinite(seen.scores[at + 1])
            ]
            gain, factor = np.median(pairs, axis=0) if pairs else (0.0, 1.0)
            gains[rung], factors[rung] = gains[rung + 1] + gain, factors[rung + 1] * factor
        return gains, factors

    def _as_whole(self, seen: _Seen, gains: Floats, factors: Floats) -> tuple[float, float]:
        """Return the score and the seconds that a configuration should have as a whole."""
        rung = seen.as_entrant().rung
        return float(seen.scores[-1] + gains[rung]), float(seen.seconds[-1] * factors[rung])


def _mean(outcome: Observed, metric: str | None) -> float:
    """Return the mean of a metric, or of the first one, over the folds where it is defined; NaN if there are none."""
    scores = outcome.scores
    folds = scores.get(metric, ()) if metric is not None else next(iter(scores.values()), ())
    defined = [value for value in folds if np.isfinite(value)]
    return float(np.mean(defined)) if defined else np.nan
