"""Seeds: which numbers a search or a bot can be repeated by."""

from metaml.errors import BadRequest

MOST_SEED = 2**31 - 1
"""Every database and every generator of random numbers that we use takes a number up to this."""


def check_seed(seed: int) -> None:
    """Raise BadRequest for a number that cannot be a seed.

    >>> check_seed(7)
    """
    if not 0 <= seed <= MOST_SEED:
        raise BadRequest(f"The seed {seed} cannot be used. Give a whole number from 0 to {MOST_SEED}.")
