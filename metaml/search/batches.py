"""What a search believes of evaluations that are under way, so that several workers do not all get the same.

Kriging believer and constant liar make up a score for them (Ginsbourger et al. 2010); qLCB gives each proposal a
confidence bound with a weight on uncertainty of its own (Hutter et al. 2012); MOI-MBO has their distance as an
objective beside score and uncertainty (Bischl et al. 2014). Thomas (2019), mlrMBO, section 2.4.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from metaml.arrays import Floats

MEAN_WIDTH = 2.0
"""Mean weight on uncertainty of qLCB: Exp(1/2), as in Kotthaus et al. (2017), section 3.1."""


@dataclass(frozen=True)
class Batch:
    """What makes the next proposal another one than those that are open.

    `score` is what an open proposal counts as in the model, from the known scores and the predicted one. With
    `draws_width` or `spreads`, open proposals are left out of the model.
    """

    score: Callable[[Floats, float], float] = lambda known, predicted: predicted  # noqa: ARG005
    draws_width: bool = False
    spreads: bool = False

    @property
    def is_in_model(self) -> bool:
        """Return whether the model believes in open proposals."""
        return not (self.draws_width or self.spreads)


BATCHES: dict[str, Batch] = {
    "believer": Batch(),
    "constant_liar": Batch(lambda known, predicted: float(known.min())),  # noqa: ARG005
    "constant_liar_best": Batch(lambda known, predicted: float(known.max())),  # noqa: ARG005
    "qlcb": Batch(draws_width=True),
    "moi_mbo": Batch(spreads=True),
}
"""How open proposals count, by the name a user gives. The lie is the worst or the best known score."""
USUAL_BATCH = "believer"


def drawn_width(rng: np.random.Generator) -> float:
    """Return a weight on uncertainty."""
    return float(rng.exponential(MEAN_WIDTH))
