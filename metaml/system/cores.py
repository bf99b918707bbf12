"""How many evaluations run in parallel unless somebody says so."""

MOST_WORKERS = 8
"""The most cores to use on a large machine, unless more are asked for."""


def default_workers(iterations: int | None, threads: int = 1) -> int:
    """Return one worker for so many `threads` of this machine, up to 8; with counted `iterations` only one.

    With several workers, the order in which evaluations finish differs from search to search.

    >>> default_workers(10)
    1
    """
    if iterations:
        return 1
    import psutil

    return max(1, min(psutil.cpu_count() or 1, MOST_WORKERS) // threads)
