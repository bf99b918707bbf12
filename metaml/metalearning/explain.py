"""Why the meta-learner ranks a configuration where it does, in words, and which runs carry its opinion."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metaml.metalearning.learner import Member, Metafeatures, MetaLearner, described_as
from metaml.metalearning.runs import Experience, facts_of
from metaml.metalearning.scales import Array
from metaml.spaces.config import Config


@dataclass(frozen=True)
class Contribution:
    """What one input adds to a configuration's score, in standard deviations of a data set's scores."""

    name: str
    value: float
    effect: float

    def __str__(self) -> str:
        direction = "speaks for it" if self.effect > 0 else "speaks against it"
        shown = "unknown" if np.isnan(self.value) else f"{self.value:.4g}"
        return f"{self.name} = {shown} {direction} ({self.effect:+.2f})"


@dataclass(frozen=True)
class Carrier:
    """A run of another data set that the models treat as they treat this configuration.

    `closeness` is the share of trees in which the two end in the same leaf; `standing` is how the run did among the
    runs of its own data set, in standard deviations.
    """

    dataset: str
    run: str
    config: Config
    closeness: float
    standing: float

    def __str__(self) -> str:
        settings = ", ".join(f"{name}={value}" for name, value in self.config.items())
        return f"on {self.dataset}: {settings} did {self.standing:+.1f} sd ({self.closeness:.0%} alike)"


@dataclass(frozen=True)
class Explanation:
    """A configuration's score, what it is made of (the strongest first), and the runs that carry it."""

    score: float
    contributions: tuple[Contribution, ...]
    carriers: tuple[Carrier, ...] = ()

    @property
    def text(self) -> str:
        """Return the explanation in a few sentences."""
        reasons = "; ".join(str(item) for item in self.contributions[:3]) or "nothing is known"
        runs = "; ".join(str(item) for item in self.carriers[:2])
        return f"The meta-learner expects {self.score:+.2f} sd: {reasons}." + (f" As {runs}." if runs else "")


@dataclass(frozen=True, eq=False)
class Memory:
    """The runs of an experience and the leaves they end in: what carriers are looked for in."""

    experience: Experience
    leaves: NDArray[np.int32]


def remember(learner: MetaLearner, experience: Experience, *, most_per_dataset: int = 50) -> Memory:
    """Return an experience as the last of the models sees it; few runs of each data set are enough to name some."""
    experience = experience.thinned(most_per_dataset)
    if experience.is_empty or not learner.members_:
        return Memory(experience, np.zeros((0, 0), dtype=np.int32))
    member = learner.members_[-1]
    names = [str(name) for name in experience.metafeatures.columns]
    table = {name: experience.metafeatures[name].to_numpy(np.float64)[experience.groups] for name in names}
    inputs = learner.inputs(member.recipe, member.metafeatures, experience.rows, table)
    return Memory(experience, np.asarray(member.booster.predict(inputs, pred_leaf=True, num_threads=1), dtype=np.int32))


def explain(
    learner: MetaLearner,
    config: Config,
    metafeatures: Metafeatures,
    *,
    memory: Memory | None = None,
    n_contributions: int = 8,
    n_carriers: int = 5,
) -> Explanation:
    """Return why a configuration has its score; runs that carry it are looked for in `memory`, if given.

    Contributions are Shapley values of the trees (Lundberg & Lee 2017), averaged over the models.
    """
    score = float(learner.predict([config], metafeatures)[0])
    row = learner.encoder_.transform([config], facts_of(metafeatures))
    totals: dict[str, float] = {}
    values: dict[str, float] = {}
    described = described_as(metafeatures, 1)
    for member in learner.members_:
        inputs = learner.inputs(member.recipe, member.metafeatures, row, described)
        effects = np.asarray(member.booster.predict(inputs, pred_contrib=True, num_threads=1))[0, :-1]
        shown = _in_own_unit(learner, member, inputs[0].astype(np.float64))
        for name, value, effect in zip(member.names, shown, effects, strict=True):
            totals[name] = totals.get(name, 0.0) + effect / member.unit / len(learner.members_)
            values[name] = float(value)
    strongest = sorted(totals, key=lambda name: -abs(totals[name]))[:n_contributions]
    contributions = tuple(Contribution(name, values[name], totals[name]) for name in strongest if totals[name] != 0)
    carriers = () if memory is None else _carriers(learner, row, described, memory, n_carriers)
    return Explanation(score, contributions, carriers)


def importances(learner: MetaLearner, n: int = 10) -> list[tuple[str, float]]:
    """Return the `n` inputs that reduced the error most, with their share of the reduction."""
    totals: dict[str, float] = {}
    for member in learner.members_:
        gains = np.asarray(member.booster.feature_importance("gain"), dtype=np.float64)
        whole = gains.sum()
        for name, gain in zip(member.names, gains, strict=True):
            totals[name] = totals.get(name, 0.0) + (gain / whole if whole > 0 else 0.0) / len(learner.members_)
    return sorted(totals.items(), key=lambda item: -item[1])[:n]


def _in_own_unit(learner: MetaLearner, member: Member, inputs: Array) -> Array:
    """Return the inputs with numeric hyperparameters as the user knows them, not as places on the unit cube."""
    shown = inputs.copy()
    if member.recipe.inputs not in ("both", "hyperparameters"):
        return shown
    column = 0
    for coding in learner.encoder_.codings_:
        if coding.has_numbers and coding.kind != "boolean" and 0 in coding.kept:
            number = coding.low + coding.span * shown[column]
            shown[column] = np.exp(number) if coding.is_log else number
        column += len(coding.kept)
    return shown


def _carriers(
    learner: MetaLearner, row: Array, described: Mapping[str, Array], memory: Memory, n: int
) -> tuple[Carrier, ...]:
    if not len(memory.leaves):
        return ()
    experience, member = memory.experience, learner.members_[-1]
    asked = learner.inputs(member.recipe, member.metafeatures, row, described)
    own = np.asarray(member.booster.predict(asked, pred_leaf=True, num_threads=1))
    closeness = (memory.leaves == own).mean(axis=1)
    found: list[Carrier] = []
    seen: set[int] = set()
    for place in np.argsort(-closeness, kind="stable"):
        group = int(experience.groups[place])
        # One run of each data set: ten of the same would say the same.
        if group not in seen:
            seen.add(group)
            found.append(
                Carrier(
                    experience.names[group],
                    experience.runs[place],
                    experience.configs[place],
                    float(closeness[place]),
                    float(experience.standard[place]),
                )
            )
        if len(found) == n:
            break
    return tuple(found)
