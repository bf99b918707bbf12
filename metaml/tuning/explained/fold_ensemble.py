"""The final model as each fold has it, so that all of it can be asked about rows that it was not fitted to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pandas as pd

from metaml.arrays import Array, Floats
from metaml.model import Model
from metaml.splits import FoldPlan
from metaml.tuning.finished import Finished
from metaml.tuning.trials import FoldModels, Found


@dataclass(frozen=True, eq=False)
class FoldEnsemble:
    """A model whose members have what they had learnt without each of these folds, in their order."""

    model: Model
    folds: tuple[int, ...]
    plan: FoldPlan

    def outputs(self, X: pd.DataFrame, fold: int) -> Floats:
        """Return what the model says of rows, as it was without this fold."""
        return self.model.outputs(X.reset_index(drop=True), self.folds.index(fold))

    def tests(self) -> dict[int, Array]:
        """Return the rows of each fold, of which nothing was learnt without it."""
        return {fold: self.plan.split(fold)[1] for fold in self.folds}


def fold_ensemble(found: Found, finished: Finished, models: FoldModels) -> FoldEnsemble | None:
    """Return the final model as the folds have it; None if that was not kept.

    It is as the first fold has it if the models of some member are too large to be kept for all. Of folds in time, the
    last one is enough: it has learnt from most rows and is nearest to what is to come.
    """
    plan, model = found.plan, finished.model
    if not finished.chosen or len(finished.chosen) != len(model.members):
        return None
    # What repeats fitted on other folds comes behind the models of the search's own folds.
    kept = [models.get(chosen.trial.run.identity)[: plan.n_folds] for chosen in finished.chosen]
    if all(len(own) == plan.n_folds for own in kept):
        folds = (plan.n_folds - 1,) if plan.is_forward else tuple(range(plan.n_folds))
        return FoldEnsemble(_with(model, [own[-len(folds) :] for own in kept]), folds, plan)
    firsts = [
        (own or models.get_one(chosen.trial.run.identity))[:1]
        for own, chosen in zip(kept, finished.chosen, strict=True)
    ]
    if all(firsts):
        return FoldEnsemble(_with(model, firsts), (0,), plan)
    if model.n_fold_models == plan.n_folds > 1 and not found.repeated and not plan.is_forward:
        return FoldEnsemble(model, tuple(range(plan.n_folds)), plan)
    return None


def _with(model: Model, estimators: list[tuple[Any, ...]]) -> Model:
    pairs = zip(model.members, estimators, strict=True)
    return replace(model, members=tuple(replace(member, estimators=own) for member, own in pairs))
