"""The meta-learner: LightGBM ranks the configurations of an algorithm for a data set that was never seen.

Its inputs are the encoded configuration, the data set's metafeatures and columns that relate the two; its target is
the score on a scale common to all data sets (van Hoof 2018, section 6.2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from metaml.encoding import Encoder
from metaml.metafeatures import GROUPS
from metaml.metalearning.history import RunHistory, facts_of
from metaml.metalearning.interactions import SIZES, Interaction, interaction_columns, interactions_for
from metaml.metalearning.scales import Array, Target
from metaml.spaces.config import Config
from metaml.system.threads import importing

Inputs = Literal["both", "hyperparameters", "metafeatures", "none"]
Metafeatures = Mapping[str, float]

SIMPLE: tuple[str, ...] = GROUPS["simple"].names
N_GRADES = 31
"""Steps of relevance a ranker tells apart; LightGBM's gains are defined for 31."""
ENOUGH_TO_USE_ALL = 40
"""Metafeatures beyond the simple ones from which on a second model looks at all of them."""


@dataclass(frozen=True)
class Recipe:
    """How one LightGBM model is trained. `metafeatures` is which of them it sees."""

    inputs: Inputs = "both"
    metafeatures: Literal["simple", "all"] = "all"
    target: Target = "normal"
    has_interactions: bool = True
    is_ranker: bool = False
    n_trees: int = 500
    learning_rate: float = 0.05
    n_leaves: int = 16
    min_rows_per_leaf: int = 20
    column_share: float = 0.5
    extra_trees: bool = True


X1 = Recipe()
X2 = Recipe(metafeatures="simple")
THESIS = Recipe(
    target="standard", has_interactions=False, n_leaves=4, min_rows_per_leaf=1, column_share=1.0, extra_trees=False
)
RECIPES: dict[str, tuple[Recipe, ...]] = {
    "default": (X1, X2),
    "compact": tuple(replace(recipe, n_trees=200, learning_rate=0.1) for recipe in (X1, X2)),
    "all": (X1,),
    "simple": (X2,),
    "thesis": (THESIS,),
    "hyperparameters": (Recipe(inputs="hyperparameters", has_interactions=False),),
    "metafeatures": (Recipe(inputs="metafeatures", has_interactions=False),),
    "none": (Recipe(inputs="none", has_interactions=False),),
    "ranker": (Recipe(metafeatures="simple", is_ranker=True, n_trees=200),),
}
"""Models whose predictions are averaged, by the name a user gives. `default` was best on 75 OpenML tasks; `compact` has
two fifths of its size and loses .003 to .006 of tau."""


@dataclass(frozen=True, eq=False)
class Member:
    """A trained model, what its columns are, and the level and unit of what it predicts."""

    recipe: Recipe
    booster: Any
    metafeatures: tuple[str, ...]
    names: tuple[str, ...]
    centre: float = 0.0
    unit: float = 1.0


class MetaLearner:
    """Averages LightGBM models trained on a history.

    `default` uses all metafeatures in one model and the simple ones in a second; where the knowledge base has hardly
    more than the simple ones, the second alone. Without any run, or with scores that never differ, it predicts zeros.
    """

    def __init__(self, recipe: str | Sequence[Recipe] = "default", *, n_threads: int = 1, seed: int = 0) -> None:
        self.recipes = RECIPES[recipe] if isinstance(recipe, str) else tuple(recipe)
        self.n_threads = n_threads
        self.seed = seed
        self.members_: tuple[Member, ...] = ()
        self.encoder_ = Encoder(unit=True)
        self.interactions_: tuple[Interaction, ...] = ()

    def fit(self, history: RunHistory) -> Self:
        """Learn from the runs of many data sets."""
        self.encoder_ = history.encoder
        self.interactions_ = interactions_for(history.encoder) if not history.is_empty else ()
        self.members_ = ()
        if history.is_empty or not np.ptp(history.normal) > 0:
            return self
        table = {name: history.metafeatures[name].to_numpy() for name in history.metafeatures.columns}
        known = {name: column for name, column in table.items() if np.isfinite(column).any()}
        recipes = self.recipes
        n_more = len(known.keys() - set(SIMPLE))
        if recipes in (RECIPES["default"], RECIPES["compact"]) and n_more < ENOUGH_TO_USE_ALL:
            recipes = recipes[1:]
        spread = {name: column[history.groups] for name, column in known.items()}
        self.members_ = tuple(self._train(recipe, history, spread) for recipe in recipes)
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: all but the interactions, which are functions and follow from the encoder."""
        return {name: value for name, value in vars(self).items() if name != "interactions_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Become what was pickled."""
        vars(self).update(state)
        self.interactions_ = interactions_for(self.encoder_) if self.members_ else ()

    def predict(self, configs: Sequence[Config], metafeatures: Metafeatures) -> Array:
        """Return a score for each configuration on a data set with these metafeatures; only their order counts.

        Unknown metafeatures are missing, unknown hyperparameters are ignored.
        """
        return self.predict_rows(self.encoder_.transform(configs, facts_of(metafeatures)), metafeatures)

    def predict_rows(self, rows: Array, metafeatures: Metafeatures) -> Array:
        """Return a score for each encoded configuration."""
        if not self.members_:
            return np.zeros(len(rows))
        described = described_as(metafeatures, len(rows))
        total = np.zeros(len(rows))
        for member in self.members_:
            inputs = self.inputs(member.recipe, member.metafeatures, rows, described)
            said = np.asarray(member.booster.predict(inputs, num_threads=self.n_threads), dtype=np.float64)
            total += (said - member.centre) / member.unit
        return total / len(self.members_)

    def inputs(
        self, recipe: Recipe, names: Sequence[str], rows: Array, described: Mapping[str, Array]
    ) -> NDArray[np.float32]:
        """Return the matrix a model of this recipe sees."""
        blocks = []
        missing = np.full(len(rows), np.nan)
        if recipe.inputs in ("both", "hyperparameters"):
            blocks.append(rows)
        if recipe.inputs in ("both", "metafeatures"):
            blocks += [described.get(name, missing)[:, np.newaxis] for name in names]
        if recipe.has_interactions and recipe.inputs == "both":
            sizes = {size: described.get(name, missing) for size, name in SIZES.items()}
            blocks.append(interaction_columns(self.interactions_, self.encoder_, rows, sizes))
        if not blocks:
            blocks.append(np.zeros((len(rows), 1)))
        return np.hstack(blocks).astype(np.float32)

    def _names(self, recipe: Recipe, names: Sequence[str]) -> tuple[str, ...]:
        columns: list[str] = []
        if recipe.inputs in ("both", "hyperparameters"):
            columns += self.encoder_.names
        if recipe.inputs in ("both", "metafeatures"):
            columns += names
        if recipe.has_interactions and recipe.inputs == "both":
            columns += [item.name for item in self.interactions_]
        return tuple(columns or ["nothing"])

    def _train(self, recipe: Recipe, history: RunHistory, described: Mapping[str, Array]) -> Member:
        with importing:
            import lightgbm

        names = tuple(name for name in described if recipe.metafeatures == "all" or name in SIMPLE)
        X = self.inputs(recipe, names, history.rows, described)
        y = history.normal if recipe.target == "normal" else history.standard
        settings: dict[str, Any] = {
            "objective": "regression",
            "num_leaves": recipe.n_leaves,
            "learning_rate": recipe.learning_rate,
            "min_data_in_leaf": recipe.min_rows_per_leaf,
            "feature_fraction": recipe.column_share,
            "extra_trees": recipe.extra_trees,
            "verbosity": -1,
            "num_threads": self.n_threads,
            "deterministic": True,
            "force_col_wise": True,
            "feature_pre_filter": False,
            "seed": self.seed,
        }
        weights, sizes = history.weights, None
        if recipe.is_ranker:
            order = np.argsort(history.groups, kind="stable")
            X, weights = X[order], weights[order]
            y = _grades(history)[order].astype(np.float64)
            sizes = np.bincount(history.groups)
            sizes = sizes[sizes > 0]
            settings |= {"objective": "lambdarank", "label_gain": list(range(N_GRADES))}
        data = lightgbm.Dataset(X, y, weight=weights, group=sizes, params=settings, free_raw_data=True)
        booster = lightgbm.Booster(settings, data)
        for _ in range(recipe.n_trees):
            if booster.update():
                break
        member = Member(recipe, booster, names, self._names(recipe, names))
        if recipe.is_ranker:
            said = np.asarray(booster.predict(X), dtype=np.float64)
            return Member(recipe, booster, names, member.names, float(said.mean()), max(float(said.std()), 1e-9))
        return member


def described_as(metafeatures: Metafeatures, n: int) -> dict[str, Array]:
    """Return a data set's metafeatures as columns of `n` equal rows."""
    return {name: np.full(n, float(value)) for name, value in metafeatures.items()}


def _grades(history: RunHistory) -> NDArray[np.int64]:
    """Return each run's relevance, 0 to 30: its place among the runs of its data set."""
    grades = np.zeros(len(history.scores), dtype=np.int64)
    for places in history.places:
        _, position = np.unique(history.scores[places], return_inverse=True)
        top = max(int(position.max()), 1) if len(position) else 1
        grades[places] = np.floor(position / top * (N_GRADES - 1)).astype(np.int64)
    return grades
