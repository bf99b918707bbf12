"""Seeds: numbers that make a search or a bot repeatable."""

from metaml.errors import BadRequest

MOST_SEED = 2**31 - 1
"""The largest seed that all databases and random number generators we use accept."""


def check_seed(seed: int) -> None:
    """Raise BadRequest if the number cannot be used as a seed.

    >>> check_seed(7)
    """
    if not 0 <= seed <= MOST_SEED:
        raise BadRequest(f"The seed {seed} cannot be used. Give a whole number from 0 to {MOST_SEED}.")
