"""The meta-learner: LightGBM models that rank the configurations of an algorithm for a new data set.

Its inputs are the encoded configuration, the data set's metafeatures and columns that relate the two; its target is
the score on a scale common to all data sets (van Hoof 2018, section 6.2).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from metaml.arrays import Floats, Positions
from metaml.encoding import Encoder
from metaml.metafeatures import GROUPS
from metaml.metalearning.history import RunHistory, facts_of
from metaml.metalearning.interactions import SIZES, DerivedColumn, interaction_columns, interactions_for
from metaml.metalearning.scales import Target
from metaml.spaces.config import Config
from metaml.system.threads import importing

Inputs = Literal["both", "hyperparameters", "metafeatures", "none"]
Metafeatures = Mapping[str, float]

SIMPLE: tuple[str, ...] = GROUPS["simple"].names
N_GRADES = 31
"""Grades of relevance for a ranker; LightGBM's gains are defined for 31."""
ENOUGH_TO_USE_ALL = 40
"""With at least this many metafeatures beyond the simple ones, one model uses all of them."""


@dataclass(frozen=True)
class LearnerRecipe:
    """How one LightGBM model is trained; `metafeatures` says which of them it uses."""

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


X1 = LearnerRecipe()
X2 = LearnerRecipe(metafeatures="simple")
THESIS = LearnerRecipe(
    target="standard", has_interactions=False, n_leaves=4, min_rows_per_leaf=1, column_share=1.0, extra_trees=False
)
RECIPES: dict[str, tuple[LearnerRecipe, ...]] = {
    "default": (X1, X2),
    "compact": tuple(replace(recipe, n_trees=200, learning_rate=0.1) for recipe in (X1, X2)),
    "all": (X1,),
    "simple": (X2,),
    "thesis": (THESIS,),
    "hyperparameters": (LearnerRecipe(inputs="hyperparameters", has_interactions=False),),
    "metafeatures": (LearnerRecipe(inputs="metafeatures", has_interactions=False),),
    "none": (LearnerRecipe(inputs="none", has_interactions=False),),
    "ranker": (LearnerRecipe(metafeatures="simple", is_ranker=True, n_trees=200),),
}
"""Models whose predictions are averaged, by the name a user gives. `default` was best on 75 OpenML tasks. `compact` is
40 % of its size and loses .003 to .006 of tau."""


@dataclass(frozen=True, eq=False)
class LearnerModel:
    """A trained LightGBM model, its input columns (`names`), and the mean and unit of its predictions."""

    recipe: LearnerRecipe
    booster: Any
    metafeatures: tuple[str, ...]
    names: tuple[str, ...]
    centre: float = 0.0
    unit: float = 1.0


class MetaLearner:
    """Averages LightGBM models trained on a run history.

    `default` trains one model on all metafeatures and one on the simple ones. If the knowledge base has few others,
    only the second is trained. Without runs, or if all scores are equal, it predicts zeros.
    """

    def __init__(self, recipe: str | Sequence[LearnerRecipe] = "default", *, n_threads: int = 1, seed: int = 0) -> None:
        self.recipes = RECIPES[recipe] if isinstance(recipe, str) else tuple(recipe)
        self.n_threads = n_threads
        self.seed = seed
        self.members_: tuple[LearnerModel, ...] = ()
        self.encoder_ = Encoder(unit=True)
        self.interactions_: tuple[DerivedColumn, ...] = ()

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
        """Return the state to pickle, without the interactions: these are functions and follow from the encoder."""
        return {name: value for name, value in vars(self).items() if name != "interactions_"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Restore a pickled state."""
        vars(self).update(state)
        self.interactions_ = interactions_for(self.encoder_) if self.members_ else ()

    def predict(self, configs: Sequence[Config], metafeatures: Metafeatures) -> Floats:
        """Return a score for each configuration on a data set with these metafeatures; only their order counts.

        Unknown metafeatures count as missing, unknown hyperparameters are ignored.
        """
        return self.predict_rows(self.encoder_.transform(configs, facts_of(metafeatures)), metafeatures)

    def predict_rows(self, rows: Floats, metafeatures: Metafeatures) -> Floats:
        """Return a score for each encoded configuration."""
        if not self.members_:
            return np.zeros(len(rows))
        described = described_as(metafeatures, len(rows))
        total = np.zeros(len(rows))
        for member in self.members_:
            inputs = self.inputs(member.recipe, member.metafeatures, rows, described)
            predicted = np.asarray(member.booster.predict(inputs, num_threads=self.n_threads), dtype=np.float64)
            total += (predicted - member.centre) / member.unit
        return total / len(self.members_)

    def inputs(
        self, recipe: LearnerRecipe, names: Sequence[str], rows: Floats, described: Mapping[str, Floats]
    ) -> NDArray[np.float32]:
        """Return the input matrix of a model of this recipe."""
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

    def _names(self, recipe: LearnerRecipe, names: Sequence[str]) -> tuple[str, ...]:
        columns: list[str] = []
        if recipe.inputs in ("both", "hyperparameters"):
            columns += self.encoder_.names
        if recipe.inputs in ("both", "metafeatures"):
            columns += names
        if recipe.has_interactions and recipe.inputs == "both":
            columns += [item.name for item in self.interactions_]
        return tuple(columns or ["nothing"])

    def _train(self, recipe: LearnerRecipe, history: RunHistory, described: Mapping[str, Floats]) -> LearnerModel:
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
        columns = self._names(recipe, names)
        if recipe.is_ranker:
            predicted = np.asarray(booster.predict(X), dtype=np.float64)
            centre, unit = float(predicted.mean()), max(float(predicted.std()), 1e-9)
            return LearnerModel(recipe, booster, names, columns, centre, unit)
        return LearnerModel(recipe, booster, names, columns)


def described_as(metafeatures: Metafeatures, n: int) -> dict[str, Floats]:
    """Return a data set's metafeatures as columns of `n` equal rows."""
    return {name: np.full(n, float(value)) for name, value in metafeatures.items()}


def _grades(history: RunHistory) -> Positions:
    """Return each run's relevance, 0 to 30: its rank among the runs of its data set."""
    grades = np.zeros(len(history.scores), dtype=np.int64)
    for places in history.places:
        _, position = np.unique(history.scores[places], return_inverse=True)
        top = max(int(position.max()), 1) if len(position) else 1
        grades[places] = np.floor(position / top * (N_GRADES - 1)).astype(np.int64)
    return grades
