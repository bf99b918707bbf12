"""Algorithms that refuse to be built: what workers of a test get where nothing may succeed."""

from dataclasses import replace

from metaml.algorithms import ALGORITHMS


def _refuse(*_: object, **__: object) -> None:
    raise ValueError("refused")


REFUSING = {name: replace(algorithm, build=_refuse) for name, algorithm in ALGORITHMS.items()}
