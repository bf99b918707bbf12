"""The final model of a session as a value: its members, its score, and the predictions behind it."""

from dataclasses import dataclass
from typing import NamedTuple

from metaml.arrays import Floats
from metaml.ensemble.calibration import Calibrated
from metaml.evaluation.model_limits import Measured
from metaml.model import Model
from metaml.tuning.trials import Trial


class Chosen(NamedTuple):
    """A member of the final model: trial, weight, whether it feeds the second layer, and whether it saw all rows."""

    trial: Trial
    weight: float
    feeds: bool = False
    is_refit: bool = False


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
