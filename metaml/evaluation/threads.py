"""How many threads an evaluation gets."""

from metaml.errors import BadRequest
from metaml.system.cores import default_threads


def threads_for(asked: int | None, iterations: int | None, n_cells: float) -> int:
    """Return the threads of an evaluation: what was asked for or, if that is None, what suits a table of `n_cells`.

    Fewer than one raise `BadRequest`.

    >>> threads_for(2, None, 10_000), threads_for(None, 5, 1e9)
    (2, 1)
    """
    if asked is None:
        return default_threads(iterations, n_cells)
    if asked < 1:
        raise BadRequest(f"threads is {asked}, but an evaluation needs at least 1. Leave it out for the usual number.")
    return asked
