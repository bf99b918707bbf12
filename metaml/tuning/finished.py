"""The final model of a session as a value: its members, its score, and the predictions behind it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from metaml.arrays import Floats
from metaml.ensemble.calibration import Calibrated
from metaml.evaluation.model_limits import Measured
from metaml.model import Model
from metaml.search.settings import TuneSettings
from metaml.tuning.closing import LEAST_AVERAGED, averages_folds
from metaml.tuning.trials import Found, Trial

ONE_FOLD = "model of one fold"


class Chosen(NamedTuple):
    """A member of the final model: trial, weight, whether it feeds the second layer, and whether it saw all rows."""

    trial: Trial
    weight: float
    feeds: bool = False
    is_refit: bool = False


Fitted = tuple[Chosen, tuple[Any, ...]]
"""A member, and the estimators that are averaged for it."""


@dataclass(frozen=True, eq=False)
class Finished:
    """The model, how it was made, and the out-of-fold predictions behind its score (None for a fallback).

    `chosen` are its members, those of layer 1 first; `kind` is single, ensemble or fallback. `why` says why it is a
    fallback, `why_one_layer` why a second layer that was possible is not part of it. `calibrated` is what
    calibration made of the `predictions`, which are then those after it; `uncalibrated` are those before.
    `units` are how large the error of each tested row was expected to be.
    `measured` is what the saved model takes, if that was limited. `shipped` says what its estimators were fitted to,
    and `why_shipped` why.
    """

    model: Model
    kind: str
    chosen: tuple[Chosen, ...]
    score: float
    predictions: Floats | None
    refit_seconds: float
    why: str = ""
    why_one_layer: str = ""
    calibrated: Calibrated | None = None
    uncalibrated: Floats | None = None
    units: Floats | None = None
    measured: Measured | None = None
    shipped: str = ""
    why_shipped: str = ""


def shipped_of(found: Found, fitted: Sequence[Fitted], settings: TuneSettings) -> tuple[str, str]:
    """Return what the members of a model were fitted to, and why that and nothing else."""
    plan, n_refit = found.plan, sum(member.is_refit for member, _ in fitted)
    of_folds = "fold models averaged" if max(len(estimators) for _, estimators in fitted) > 1 else ONE_FOLD
    if plan.n_folds == 1:
        of_folds = "held-out model (fitted to the rows that were not held out)"
    wants_folds = averages_folds(settings, found, len(fitted))
    if not n_refit and any(member.trial.layer > 1 for member, _ in fitted):
        return of_folds, "the second layer learnt from what such models predict"
    if not n_refit and plan.n_folds > 1 and of_folds == ONE_FOLD:
        return of_folds, "those of all folds are too large together, and there was no time to fit it to all rows"
    if not n_refit:
        return of_folds, "they saw all rows together" if wants_folds else "there was no time to fit it to all rows"
    if n_refit < len(fitted):
        mixed = f"{n_refit} of {len(fitted)} members refit to all rows, of the others the {of_folds}"
        lost = f"the fold models of {'that one' if n_refit == 1 else 'those'} were not kept"
        return mixed, lost if wants_folds else "there was no time to fit all of them again"
    if settings.refits:
        why = "--refit or --readable asks for it"
    elif settings.model_limits.needs_measuring:
        why = "it is smaller and faster than the models of all folds"
    elif wants_folds:
        why = "its fold models were not kept"
    elif plan.n_tested < len(plan.assignment) or plan.training is not None:
        why = "no fold model saw all rows"
    elif len(plan.assignment) < LEAST_AVERAGED:
        why = "a fold model misses too many of so few rows"
    else:
        why = "the mean of fold models is less sure than its score says"
    return "refit to all rows", why
