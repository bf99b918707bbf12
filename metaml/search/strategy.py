"""How the search on one data set chooses: a surrogate and choices, written as `gbqr+delta+confidence_bound:2`.

Every name after the surrogate is registered where it is implemented; `CHOICES` collects them. The same text is
understood by `metaml tune --surrogate` and `metaml replay --optimisers`.
"""

from dataclasses import dataclass, replace
from typing import Any, Literal, Self

from metaml.acquisition import ACQUISITIONS, COST_ACQUISITIONS, rule_named
from metaml.acquisition.candidate_search import SEARCHES
from metaml.acquisition.committee import Expert
from metaml.acquisition.starts import DESIGN, STARTS, USUAL_NUMBER
from metaml.errors import BadRequest
from metaml.search.batches import BATCHES
from metaml.surrogates import SURROGATES

Kind = Literal["acquisition", "cost", "candidates", "starts", "experience", "batch", "turns", "space"]

STRATEGIES: dict[str, tuple[Expert, ...]] = {
    "default": (
        Expert("gaussian_process", "log_expected_improvement", is_noisy=True),
        Expert("gbqr_refreshed", "upper_bound"),
    ),
    **{
        name: (Expert(name, maker.acquisition, is_noisy=maker.is_noisy),)
        for name, maker in SURROGATES.items()
        if maker.acquisition
    },
    "random": (),
}
"""Who judges candidates, by the name a user gives. `gbqr` and `forest` are as in van Hoof (2018)."""
EXPERIENCES = ("process", "blended", "alone")
"""How experience is used: as the prior of a Gaussian process, by a vote of the meta-learner, or not at all."""
INTERLEAVED = "interleaved"
"""Every second proposal is random, as in SMAC (van Hoof 2018, section 5.4.2)."""
JOINT = "joint"
"""One surrogate over the joint space of all algorithms instead of a bandit over one for each (CASH)."""
CHOICES: dict[str, Kind] = {
    **dict.fromkeys(ACQUISITIONS, "acquisition"),
    **dict.fromkeys(COST_ACQUISITIONS, "cost"),
    **dict.fromkeys((name for name in SEARCHES if name not in STRATEGIES), "candidates"),
    **dict.fromkeys((*STARTS, DESIGN), "starts"),
    **dict.fromkeys(EXPERIENCES, "experience"),
    **dict.fromkeys(BATCHES, "batch"),
    INTERLEAVED: "turns",
    JOINT: "space",
}
"""Every choice that may follow a surrogate, with its kind; one of each kind."""
ONLY_IN_REPLAY = {
    "opt": "it looks at scores that only recorded runs have",
    "worst": "it is a control that starts as badly as it can",
}
"""Choices for the laboratory, and why a search does not have them."""


@dataclass(frozen=True)
class Strategy:
    """A surrogate and at most one choice of each kind; an empty choice is the usual one."""

    surrogate: str = "default"
    acquisition: str = ""
    cost: str = ""
    candidates: str = ""
    starts: str = ""
    experience: str = ""
    batch: str = ""
    turns: str = ""
    space: str = ""

    @property
    def text(self) -> str:
        """Return the strategy as it is written."""
        return "+".join([self.surrogate, *(value for name in KINDS if (value := getattr(self, name)))])

    @property
    def experts(self) -> tuple[Expert, ...]:
        """Return the surrogates that judge candidates, each with the acquisition that was chosen or its own."""
        experts = STRATEGIES[self.surrogate]
        if not self.acquisition:
            return experts
        return tuple(replace(expert, acquisition=self.acquisition) for expert in experts)

    @property
    def random_every(self) -> int:
        """Return k if each k-th proposal is random; 0 if none is."""
        return 2 if self.turns == INTERLEAVED else 0

    @property
    def start_rule(self) -> tuple[str, int]:
        """Return the name of the rule for the starts of an algorithm (empty: the usual one), and their number."""
        name, _, number = self.starts.partition(":")
        return name, int(number or USUAL_NUMBER)

    def spelt_out(self) -> Self:
        """Return the strategy with how experience is used made explicit, if it is not `default` or `random`."""
        if self.experience or self.surrogate in ("default", "random"):
            return self
        return replace(self, experience="blended")


KINDS: tuple[Kind, ...] = ("acquisition", "cost", "candidates", "starts", "experience", "batch", "turns", "space")


def strategy_named(text: str) -> Strategy:
    """Return the strategy that is written so; BadRequest if a part of it does not exist.

    >>> strategy_named("gbqr+delta:5+confidence_bound:2").start_rule
    ('delta', 5)
    """
    surrogate, *names = text.split("+")
    if surrogate not in STRATEGIES:
        raise BadRequest(f"No surrogate is named {surrogate!r}. Choose one of {', '.join(STRATEGIES)}.")
    chosen: dict[str, Any] = {}
    for name in names:
        plain = name.partition(":")[0]
        kind = CHOICES.get(plain)
        if kind is None:
            raise BadRequest(f"Nothing is named {plain!r} that could follow {surrogate}+. There are {_listed()}.")
        if kind in chosen:
            raise BadRequest(f"{chosen[kind]} and {name} are both a choice of {kind}. Leave one out of {text!r}.")
        if kind == "starts":
            _check_number(name)
        elif kind == "acquisition":
            rule_named(name)
        elif plain != name:
            raise BadRequest(f"{plain} takes no number, but was given {name.partition(':')[2]!r}.")
        chosen[kind] = name
    if surrogate == "random" and chosen.keys() & {"acquisition", "cost", "experience", "batch"}:
        raise BadRequest(f"random asks no model: in {text!r} only starts may follow it. Choose another surrogate.")
    return Strategy(surrogate, **chosen)


def check_for_search(text: str) -> None:
    """Raise BadRequest if a strategy does not exist, or is only for `metaml replay`."""
    strategy = strategy_named(text)
    name, _ = strategy.start_rule
    if strategy.space and name not in ("", "portfolio"):
        raise BadRequest(f"A joint search has one list of starts and not {name} of each algorithm. Leave out {name}.")
    if name in ONLY_IN_REPLAY:
        raise BadRequest(
            f"A search cannot start with {name}: {ONLY_IN_REPLAY[name]}. It is for metaml replay; choose another."
        )


def strategy_without(text: str, *refused: str) -> Strategy:
    """Return a strategy; BadRequest if it has a choice of a kind or a name that is refused."""
    named = strategy_named(text)
    for kind in KINDS:
        chosen = str(getattr(named, kind)).partition(":")[0]
        if chosen and (kind in refused or chosen in refused):
            raise BadRequest(f"{chosen} has no meaning here. Leave it out of {text!r}.")
    return named


def _check_number(name: str) -> None:
    _, colon, number = name.partition(":")
    if colon and not (number.isdigit() and 1 <= int(number) <= 50):
        raise BadRequest(f"{name} does not say how many starts there are. Give a number from 1 to 50, such as delta:5.")


def _listed() -> str:
    by_kind = {kind: [name for name, of in CHOICES.items() if of == kind] for kind in KINDS}
    return "; ".join(f"{kind}: {', '.join(names)}" for kind, names in by_kind.items())
