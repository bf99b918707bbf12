"""Terms and their effects: what an additive model is made of, and what a person reads of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from metaml.algorithms.componentwise.grids import Codes, Grid, Steps
from metaml.algorithms.trusted_classes import State, TrustedClass, filled
from metaml.arrays import Array, Floats


@dataclass(frozen=True, eq=False)
class Term:
    """One column of a matrix, or a pair of them, as codes."""

    columns: tuple[int, ...]
    grids: tuple[Grid, ...]

    @property
    def n_codes(self) -> int:
        """Return the number of codes; those of a pair are all combinations."""
        return int(np.prod([grid.n_codes for grid in self.grids]))

    def codes(self, Z: Array) -> Codes:
        """Return the code of each row of a matrix."""
        found = self.grids[0].codes(Z[:, self.columns[0]])
        for column, grid in zip(self.columns[1:], self.grids[1:], strict=True):
            found = found * np.int32(grid.n_codes) + grid.codes(Z[:, column])
        return found


@dataclass(frozen=True, eq=False)
class Effect:
    """What a term adds to the prediction: a value at each code (codes × outputs)."""

    term: Term
    values: Floats

    def at(self, Z: Array) -> Floats:
        """Return what it adds for each row of a matrix (rows × outputs)."""
        if len(self.term.grids) > 1:
            return np.asarray(self.values[self.term.codes(Z)])
        grid, values = self.term.grids[0], Z[:, self.term.columns[0]]
        return np.column_stack([grid.interpolated(values, one) for one in self.values.T])


def _make_effect(kind: type, state: State) -> Effect:
    """Return an effect of a model file that cannot index outside its own values."""
    term, values = state["term"], state["values"]
    columns, grids = tuple(term.columns), tuple(term.grids)
    is_plain = all(
        type(grid) in (Grid, Steps) and grid.points.ndim == 1 and grid.points.dtype == np.float64 for grid in grids
    )
    if type(term) is not Term or not is_plain or not 1 <= len(columns) == len(grids) <= 2:
        raise ValueError("an effect has other columns than it says")
    if not all(type(column) is int and column >= 0 for column in columns) or values.dtype != np.float64:
        raise ValueError("an effect asks for columns that are not there")
    if values.ndim != 2 or len(values) != term.n_codes or not np.isfinite(values).all():
        raise ValueError("an effect has other values than it says")
    effect: Effect = filled(kind, {"term": filled(Term, {"columns": columns, "grids": grids}), "values": values})
    return effect


SAVED = (
    TrustedClass("Grid", "metaml.algorithms.componentwise.grids:Grid"),
    TrustedClass("Term", "metaml.algorithms.componentwise.effects:Term"),
    TrustedClass("Effect", "metaml.algorithms.componentwise.effects:Effect", make=_make_effect),
)
"""The classes that a model file may hold."""
