"""The data sets that a caller names: files, folders, those inside scikit-learn, and those of OpenML."""

from collections.abc import Sequence
from pathlib import Path

from metaml.errors import BadRequest
from metaml.sources.base import Source


def named_sources(
    data: Sequence[str | Path] = (),
    *,
    is_builtin: bool = False,
    tasks: Sequence[int] = (),
    suites: Sequence[int] = (),
    offline: bool = False,
) -> list[Source]:
    """Return all data sets that were asked for; `tasks` and `suites` are OpenML numbers.

    >>> [source.name for source in named_sources(is_builtin=True)][:2]
    ['iris', 'wine']
    """
    sources: list[Source] = []
    if data:
        from metaml.sources import folder

        sources += folder.sources(data)
    if is_builtin:
        from metaml.sources import builtin

        sources += builtin.sources()
    if tasks or suites:
        from metaml.sources import openml

        sources += openml.sources(tasks, suites, offline=offline)
    if not sources:
        raise BadRequest("No data set was named. Give --data FOLDER, --builtin, or --openml-task NUMBER.")
    return sources
