"""A space with conditions, as that of a support vector machine, and its cube."""

from metaml.acquisition.cube import Cube
from metaml.encoding import Encoder
from metaml.spaces import Choice, Float, Integer, Space

SPACE = Space(
    [
        Choice("kernel", ("rbf", "poly", "linear"), default="rbf"),
        Float("C", 1e-3, 1e3, default=1.0, log=True),
        Float("gamma", 1e-4, 1.0, default=0.1, log=True, when=("kernel", ("rbf", "poly"))),
        Integer("degree", 2, 5, default=3, when=("kernel", ("poly",))),
        Float("coef0", 0.0, 1.0, default=0.0, when=("degree", (3, 4))),
        Integer("rows", 1, 200, default=10, log=True),
        Choice("shrinking", (True, False), default=True),
        Choice("fixed", ("x",), default="x"),
    ]
)
CUBE = Cube(SPACE, Encoder(unit=True).fit([], space=SPACE))
