"""The names under which a tuning session stores its plan and its events, and the names that older sessions used."""

from collections.abc import Mapping
from typing import Any

SEARCH_PLAN = "search_plan"
"""The key of the search plan in the settings and events of a session."""
INITIAL_DESIGN_ENDED = "initial design ended"
"""The event of an initial design that took too long."""
_OLDER_PLAN, _OLDER_ENDED = "lineup", "opening ended"


def stored_plan(content: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the search plan in the settings or in an event of a session as plain JSON, None if there is none.

    >>> stored_plan({"lineup": {"metric": "roc_auc"}}), stored_plan({})
    ({'metric': 'roc_auc'}, None)
    """
    plan = content.get(SEARCH_PLAN, content.get(_OLDER_PLAN))
    return plan if isinstance(plan, dict) else None


def ends_initial_design(event: str) -> bool:
    """Return whether an event of this kind ended the initial design.

    >>> ends_initial_design("initial design ended"), ends_initial_design("opening ended")
    (True, True)
    """
    return event in (INITIAL_DESIGN_ENDED, _OLDER_ENDED)
