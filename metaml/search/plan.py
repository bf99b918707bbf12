"""The plan of a search: which algorithms take part, in which order, and what is evaluated first.

A plan is plain data. Stored with a session, it makes the same search again.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from hashlib import blake2b
from typing import Any, Protocol, Self

import pandas as pd

from metaml.acquisition.candidates import SpaceCandidates
from metaml.acquisition.committee import Committee, Expert
from metaml.algorithms import ALGORITHMS
from metaml.algorithms.base import BEST_COLUMNS
from metaml.algorithms.preprocessing import ENCODING, IMPUTATION
from metaml.data import Dataset, Task
from metaml.encoding import Facts
from metaml.search.bandit_search import NextTrial, Search
from metaml.search.defaults import default_starts, in_order, starts_for_long_searches, starts_for_many_rows
from metaml.search.fidelity_search import DEFAULT_SEARCH, METHODS, FidelitySearch, Method
from metaml.search.front_search import FrontSearch
from metaml.search.joint_search import JointSearch
from metaml.search.optimizer import Optimizer
from metaml.search.schedules import DEFAULT_SCHEDULE
from metaml.search.settings import DEFAULT_METHOD, TuneSettings
from metaml.search.starts import PORTFOLIO_RULES, Starts, starts_of
from metaml.search.strategy import JOINT, Strategy, strategy_named
from metaml.spaces import Space
from metaml.spaces.config import Config

N_INITIAL = 16
INITIAL_SHARE = 0.4
"""Size of the initial design, and its largest share of the evaluations or of the search time."""
REMEMBERING = "curve_thompson"
"""The bandit whose prior is how the algorithms improved on similar data sets."""
JOIN_EVERY = 4
"""Algorithms without a place in the initial design join the search later, one after every four evaluations."""
RUNTIME_RULE, TIMED_SEARCH = "bound_per_relative_cost", "near"
"""With the runtime rule, candidates are not improved by local search: its optimum is no better than the first look."""


AnySearch = Search | FrontSearch | JointSearch


class SearchExperience(Protocol):
    """What past data sets say about the algorithms on this one; `metaml.experience` implements it."""

    def knows(self, algorithm: str) -> bool:
        """Return whether there is enough experience with an algorithm."""
        ...

    def order(self, algorithms: Sequence[str]) -> list[str]:
        """Return the algorithms, the one with the best expected configuration first."""
        ...

    def committee(
        self, algorithm: str, experts: tuple[Expert, ...], *, use: str, metric: str, cost: str | None, rule: str
    ) -> Committee:
        """Return what judges an algorithm's candidates by a rule, with experience used as a `process` or `blended`."""
        ...

    def starts(self, algorithm: str, space: Space, *, rule: str, n: int) -> list[Config]:
        """Return the configurations of an algorithm to try first by a rule for starts."""
        ...

    def candidates(
        self, algorithm: str, space: Space, facts: Facts, *, search: str, inert: Collection[str]
    ) -> SpaceCandidates:
        """Return an algorithm's candidates, encoded as the committee reads them."""
        ...


@dataclass(frozen=True, kw_only=True)
class SearchPlan:
    """What a search is made of.

    `joins` says after how many evaluations an algorithm may first be chosen; `inert` are the parameters that have no
    effect on the data set. With `objectives`, their front is searched by the `front_method`. `starts` are the first
    configurations of each algorithm where the strategy has a rule for them. How a `strategy` uses experience is spelt
    out in it; where it is not, in plans of older sessions, only `default` uses it. `shares` are the shares of an
    evaluation at which the `search` evaluates, up to the whole; `fidelity` says what there is less of. `n_sources` is
    the number of raw columns, of which an evaluation may read only the best; 0 if each reads all.
    """

    task: Task
    facts: Facts
    metric: str
    algorithms: tuple[str, ...]
    strategy: str
    bandit: str
    seed: int
    is_timed: bool
    schedule: str = DEFAULT_SCHEDULE
    initial_design: tuple[tuple[str, Config], ...] = ()
    joins: Mapping[str, int] = field(default_factory=dict)
    inert: tuple[str, ...] = ()
    curves: Mapping[str, Sequence[Sequence[float]]] = field(default_factory=dict)
    objectives: tuple[str, ...] = ()
    front_method: str = DEFAULT_METHOD
    starts: Mapping[str, tuple[Config, ...]] = field(default_factory=dict)
    search: str = DEFAULT_SEARCH
    fidelity: str = "rows"
    shares: tuple[float, ...] = (1.0,)
    n_sources: int = 0

    def as_json(self) -> dict[str, Any]:
        """Return the plan as plain JSON."""
        return asdict(self)

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> Self:
        """Return the plan that was stored as plain JSON."""
        fields = {"initial_design": content.get("opening", ()), **content}
        fields.pop("opening", None)  # the key of older sessions
        fields["facts"] = Facts(**fields["facts"])
        fields["algorithms"] = tuple(fields["algorithms"])
        fields["inert"] = tuple(fields.get("inert", ()))
        fields["objectives"] = tuple(fields.get("objectives", ()))
        fields["shares"] = tuple(fields.get("shares", (1.0,)))
        fields["initial_design"] = tuple((name, dict(config)) for name, config in fields["initial_design"])
        fields["starts"] = {name: tuple(map(dict, configs)) for name, configs in fields.get("starts", {}).items()}
        return cls(**fields)


def make_search_plan(
    task: Task,
    facts: Facts,
    inert: Sequence[str],
    starts: Starts | None,
    experience: SearchExperience | None,
    *,
    settings: TuneSettings,
    metric: str,
    earlier: Sequence[tuple[str, Config]] = (),
    members: Sequence[tuple[str, Config]] = (),
    shares: tuple[float, ...] = (1.0,),
    n_sources: int = 0,
) -> SearchPlan:
    """Return the plan for a data set of this task and size.

    First come `members`, which made the last model of an earlier version of the table, then the defaults, then what
    else did best on earlier versions, then configurations of high capacity if there are many rows and expensive ones if
    there is much time, then the portfolio.
    `starts` and `experience` are None if the knowledge base knows nothing; `earlier` did best on earlier versions of
    the table; `inert` are the parameters without effect on the data set. `n_sources` is as in the plan.
    """
    n_iterations, seconds = settings.n_iterations, settings.clock
    strategy = strategy_named(settings.strategy)
    defaults = default_starts(task, settings.algorithms, facts, seconds=seconds)
    first = [*members, *(item for item in defaults if item not in members)]
    n = N_INITIAL if n_iterations is None else min(N_INITIAL, max(int(INITIAL_SHARE * n_iterations), 2))
    known = [*earlier, *starts_for_many_rows(task, settings.algorithms, facts)]
    known += starts_for_long_searches(task, settings.algorithms, facts, seconds=seconds)
    next_ones = [item for item in known if item not in first][: max(n - len(first), 1)]
    plain = SearchPlan(
        task=task,
        facts=facts,
        metric=metric,
        algorithms=in_order(settings.algorithms),
        strategy=strategy.spelt_out().text,
        bandit=settings.bandit,
        schedule=settings.schedule,
        search=settings.search,
        fidelity=settings.fidelity,
        shares=shares,
        n_sources=n_sources,
        seed=settings.seed,
        is_timed=n_iterations is None,
        initial_design=(*first, *next_ones),
        inert=tuple(inert),
        objectives=settings.objectives,
        front_method=settings.front_method,
        starts=starts_of(strategy, task, facts, settings.algorithms, experience),
    )
    if starts is None or not starts.is_usable or strategy.start_rule[0] not in PORTFOLIO_RULES:
        return plain
    order = _completed(starts.order(), plain.algorithms) if experience is None else experience.order(plain.algorithms)
    advised = starts.first_configs(n - len(next_ones), given=first, budget_seconds=seconds)
    whole = [*plain.initial_design, *(item for item in advised if item not in plain.initial_design)]
    opened = {name for name, _ in whole}
    later = [name for name in order if name not in opened]
    return replace(
        plain,
        algorithms=tuple(order),
        initial_design=tuple(whole),
        joins={name: len(whole) + JOIN_EVERY * place for place, name in enumerate(later, start=1)},
        curves=starts.improvement_curves() if settings.bandit == REMEMBERING else {},
    )


def size_of(dataset: Dataset) -> Facts:
    """Return the size of a data set."""
    return Facts(len(dataset.y), dataset.X.shape[1], 0 if dataset.labels is None else len(dataset.labels))


def inert_settings(dataset: Dataset) -> list[str]:
    """Return the parameters that have no effect on a data set, because nothing is to be encoded or imputed."""
    is_category = [isinstance(dtype, pd.CategoricalDtype) for dtype in dataset.X.dtypes]
    numbers = dataset.X.loc[:, [not flag for flag in is_category]]
    of_encoding = [] if any(is_category) else _encoding_settings(dataset.task)
    return of_encoding if numbers.isna().any(axis=None) else [*of_encoding, IMPUTATION]


def _encoding_settings(task: Task) -> list[str]:
    """Return how the algorithms encode categories: the parameter of the shared head, and those that depend on it."""
    parameters = [parameter for found in ALGORITHMS.values() for parameter in found.space(task).parameters]
    dependent = [parameter.name for parameter in parameters if parameter.when and parameter.when[0] == ENCODING]
    return list(dict.fromkeys([ENCODING, *dependent]))


def build_search(plan: SearchPlan, experience: SearchExperience | None) -> AnySearch:
    """Return the search of a plan: a bandit over one optimizer per algorithm, or the search for a front."""
    if plan.objectives:
        return _front_search(plan)
    method = METHODS.get(plan.search)
    inert, strategy = plan.inert, strategy_named((method and method.strategy) or plan.strategy)
    random_every = strategy.random_every or (0 if method is None else method.random_every)
    use = strategy.experience or ("process" if strategy.surrogate == "default" else "alone")
    usual = None if strategy.acquisition else RUNTIME_RULE
    cost, looked_for = (strategy.cost or usual, TIMED_SEARCH) if plan.is_timed else (None, "neighbours")
    looked_for = strategy.candidates or looked_for
    if strategy.space == JOINT:
        return _joint_search(plan, replace(strategy, cost=cost or "") if strategy.experts else strategy, looked_for)
    optimizers = {}
    for name in plan.algorithms:
        space = ALGORITHMS[name].space(plan.task)
        starts = plan.starts.get(name, (space.default(),))
        seed = _seed_of(plan.seed, name)
        if experience is not None and experience.knows(name) and strategy.experts and use != "alone":
            optimizers[name] = Optimizer(
                experience.candidates(name, space, plan.facts, search=looked_for, inert=inert),
                strategy=experience.committee(
                    name, strategy.experts, use=use, metric=plan.metric, cost=cost, rule=strategy.acquisition
                ),
                starts=starts,
                n_random=1,
                random_every=random_every,
                batch=strategy.batch,
                metric=plan.metric,
                seed=seed,
            )
        else:
            optimizers[name] = Optimizer(
                SpaceCandidates(space, facts=plan.facts, search=looked_for, inert=inert),
                strategy=replace(strategy, cost="").text,
                cost=cost,
                starts=starts,
                random_every=random_every,
                metric=plan.metric,
                seed=seed,
            )
    if method is not None:
        return _search_with_looks(plan, optimizers, method)
    return Search(
        optimizers,
        plan.bandit,
        initial_design=plan.initial_design,
        joins=plan.joins,
        curves=plan.curves,
        seed=plan.seed,
        is_timed=plan.is_timed,
    )


def _front_search(plan: SearchPlan) -> FrontSearch:
    return FrontSearch(
        {name: ALGORITHMS[name].space(plan.task) for name in plan.algorithms},
        plan.objectives,
        method=plan.front_method,
        facts=plan.facts,
        initial_design=plan.initial_design,
        inert=plan.inert,
        n_sources=plan.n_sources,
        seed=plan.seed,
    )


def _joint_search(plan: SearchPlan, strategy: Strategy, search: str) -> JointSearch:
    return JointSearch(
        {name: ALGORITHMS[name].space(plan.task) for name in plan.algorithms},
        strategy.text,
        facts=plan.facts,
        metric=plan.metric,
        search=search,
        initial_design=plan.initial_design,
        inert=plan.inert,
        seed=plan.seed,
    )


def _search_with_looks(plan: SearchPlan, optimizers: Mapping[str, Optimizer], method: Method) -> FidelitySearch:
    return FidelitySearch(
        optimizers,
        method.bandit or plan.bandit,
        method=method,
        shares=plan.shares,
        at_once=[(name, config) for name, config in plan.initial_design if _is_default(name, config, plan.task)],
        initial_design=plan.initial_design,
        joins=plan.joins,
        seed=plan.seed,
        is_timed=plan.is_timed,
    )


def origin_of(choice: NextTrial, task: Task) -> str:
    """Return where a choice comes from, as the knowledge base has it."""
    if choice.proposal.proposer == "random":
        return "random"
    if choice.proposal.proposer != "start":
        return "surrogate"
    return "default" if _is_default(choice.algorithm, choice.proposal.config, task) else "warm start"


def _is_default(algorithm: str, config: Config, task: Task) -> bool:
    own = {name: value for name, value in config.items() if name != BEST_COLUMNS}
    return own == ALGORITHMS[algorithm].space(task).default()


def _completed(order: Sequence[str], algorithms: Sequence[str]) -> list[str]:
    return [*order, *(name for name in algorithms if name not in order)]


def _seed_of(seed: int, algorithm: str) -> int:
    return int.from_bytes(blake2b(f"{seed}|{algorithm}".encode(), digest_size=4).digest(), "big")
