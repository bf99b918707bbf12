"""What experience saved in a search, in words."""

from metaml.report.data import ExperienceFacts
from metaml.report.wording import counted, duration, number


def worth_text(known: ExperienceFacts) -> str:
    """Return what the opening saved, with an interval, or why nothing can be said of it; nothing if there was none.

    >>> worth_text(ExperienceFacts(n_datasets=4, n_runs=90, n_warm_starts=3))
    'What this was worth cannot be said: too few similar data sets are known to replay it.'
    """
    if not known.n_warm_starts:
        return ""
    if known.worth is None:
        return "What this was worth cannot be said: too few similar data sets are known to replay it."
    found = known.worth
    low, middle, high = found.evaluations
    times = ""
    if found.seconds is not None:
        times = (
            f", here about {duration(found.seconds[1])} ({duration(found.seconds[0])} to {duration(found.seconds[2])})"
        )
    better = ""
    if found.score is not None:
        better = f" After as many evaluations, its best model is ahead by {number(found.score[1])} "
        better += f"({number(found.score[0])} to {number(found.score[2])})."
    return (
        f"Replayed on the {found.n_datasets} most similar data sets, this opening of "
        f"{counted(found.n_evaluations, 'evaluation')} saved {middle:.0f} "
        f"({low:.0f} to {high:.0f} on eight of ten){times}: "
        f"so many more does a search from the same defaults need at random for as good a single model.{better} "
        "An ensemble of hundreds of evaluations evens this out."
    )
