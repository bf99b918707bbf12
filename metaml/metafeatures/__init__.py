"""Metafeatures: a data set described by numbers, under OpenML's quality names.

`describe` returns them. Names and meanings are those of OpenML's data qualities (van Hoof, 2018, table 6.3
and table B.1): the target counts as a feature, shares are per cent, entropies are in bits. For regression
targets the qualities that need classes are undefined and two groups of our own take their place. The shape of a tree
has the names of pymfe.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from metaml.metafeatures import (
    information,
    landmarkers,
    model_based,
    regression,
    regression_landmarkers,
    simple,
    statistical,
)
from metaml.metafeatures.description import OUT_OF_TIME, Description, describe_with
from metaml.metafeatures.group import Cost, Group

if TYPE_CHECKING:
    from metaml.data import Dataset

__all__ = ["GROUPS", "NAMES", "NOT_LEARNT_FROM", "OUT_OF_TIME", "Description", "describe"]

GROUPS: dict[str, Group] = {
    "simple": Group(simple.NAMES, simple.simple, is_free=True),
    "statistical": Group(statistical.NAMES, statistical.statistical, Cost(per_cell=1.5e-7, per_column=2e-6), share=0.2),
    "information": Group(information.NAMES, information.information, Cost(per_cell=1e-7, per_column=2e-6), share=0.15),
    "regression": Group(regression.NAMES, regression.regression, Cost(per_cell=1.5e-7, per_column=3e-5), share=0.15),
    "landmarkers": Group(
        landmarkers.NAMES,
        landmarkers.landmarkers,
        Cost(
            fixed=0.15,
            per_cell=2e-6,
            per_cell_and_class=2e-7,
            per_row_and_class=6e-6,
            per_row_squared=3e-8,
        ),
        share=0.5,
        max_rows=4000,
        max_columns=2000,
        libraries=("scipy.special", "scipy.stats", "sklearn.tree"),
    ),
    "regression_landmarkers": Group(
        regression_landmarkers.NAMES,
        regression_landmarkers.regression_landmarkers,
        Cost(fixed=0.1, per_cell=3e-6, per_row_squared=3e-8),
        share=0.5,
        max_rows=4000,
        max_columns=2000,
        libraries=("sklearn.tree",),
    ),
    "model_based": Group(
        model_based.NAMES,
        model_based.model_based,
        Cost(fixed=0.01, per_cell=2e-6),
        share=0.5,
        max_rows=1000,
        max_columns=100,
        libraries=("sklearn.tree",),
        is_learnt_from=False,
    ),
}
"""Every metafeature there is, in order of cost. To add one: name it in its group's NAMES and yield it."""

NAMES: tuple[str, ...] = tuple(name for group in GROUPS.values() for name in group.names)
"""All registered metafeatures, in the order in which they are computed."""

NOT_LEARNT_FROM = frozenset(name for group in GROUPS.values() if not group.is_learnt_from for name in group.names)
"""Metafeatures that describe a data set and that no meta-learner sees."""


def describe(dataset: Dataset, seconds: float | None = None) -> Description:
    """The metafeatures of a data set, with the reason for each that is undefined.

    Cheap groups come first. With a time allowance, expensive groups use fewer rows and columns (always the same
    ones). A metafeature that does not fit is NaN with the reason "time allowance used up". Never raises.
    """
    return describe_with(GROUPS, dataset, seconds)
