"""Why the meta-learner ranks a configuration where it does, in words."""

from dataclasses import dataclass

import numpy as np

from metaml.arrays import Floats
from metaml.metalearning.history import facts_of
from metaml.metalearning.meta_learner import LearnerModel, Metafeatures, MetaLearner, described_as
from metaml.spaces.config import Config


@dataclass(frozen=True)
class Contribution:
    """The effect of one input on a configuration's score, in standard deviations of a data set's scores."""

    name: str
    value: float
    effect: float

    def __str__(self) -> str:
        direction = "speaks for it" if self.effect > 0 else "speaks against it"
        shown = "unknown" if np.isnan(self.value) else f"{self.value:.4g}"
        return f"{self.name} = {shown} {direction} ({self.effect:+.2f})"


@dataclass(frozen=True)
class ScoreContributions:
    """A configuration's predicted score and the contributions to it, the strongest first."""

    score: float
    contributions: tuple[Contribution, ...]

    @property
    def text(self) -> str:
        """Return the explanation in a few sentences."""
        reasons = "; ".join(str(item) for item in self.contributions[:3]) or "nothing is known"
        return f"The meta-learner expects {self.score:+.2f} sd: {reasons}."


def explain(
    learner: MetaLearner,
    config: Config,
    metafeatures: Metafeatures,
    *,
    n_contributions: int = 8,
) -> ScoreContributions:
    """Return why a configuration has its score.

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
    return ScoreContributions(score, contributions)


def input_importances(learner: MetaLearner, n: int = 10) -> list[tuple[str, float]]:
    """Return the `n` inputs that reduced the error most, with their share of the reduction."""
    totals: dict[str, float] = {}
    for member in learner.members_:
        gains = np.asarray(member.booster.feature_importance("gain"), dtype=np.float64)
        whole = gains.sum()
        for name, gain in zip(member.names, gains, strict=True):
            totals[name] = totals.get(name, 0.0) + (gain / whole if whole > 0 else 0.0) / len(learner.members_)
    return sorted(totals.items(), key=lambda item: -item[1])[:n]


def _in_own_unit(learner: MetaLearner, member: LearnerModel, inputs: Floats) -> Floats:
    """Return the inputs with numeric hyperparameters in their own unit instead of on the unit cube."""
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
