"""Metrics that are not in the list: what a name says (costs, a quantile), or a function that a search was given."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from metaml.metrics.base import Metric
from metaml.metrics.costs import costs_named
from metaml.metrics.custom import CUSTOM, stand_in
from metaml.metrics.regression import pinball_named

NONE: Mapping[str, Metric] = {}
_GIVEN: ContextVar[Mapping[str, Metric]] = ContextVar("metrics given to a search", default=NONE)


@contextmanager
def known(found: Metric | None) -> Iterator[None]:
    """Let a metric be found by its name while the block runs; None changes nothing."""
    token = _GIVEN.set({**_GIVEN.get(), **({} if found is None else {found.name: found})})
    try:
        yield
    finally:
        _GIVEN.reset(token)


def named(name: str) -> Metric | None:
    """Return the metric that a name says, None if it says none.

    >>> named("pinball@0.9").name, named("custom:profit").label, named("nothing")
    ('neg_pinball@0.9', 'profit', None)
    """
    return _GIVEN.get().get(name) or _said(name)


@lru_cache(maxsize=64)
def _said(name: str) -> Metric | None:
    if name.startswith(CUSTOM):
        return stand_in(name)
    costs = costs_named(name)
    return pinball_named(name) if costs is None else costs.metric
