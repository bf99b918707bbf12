"""An outcome that a search is told of."""

from dataclasses import dataclass, field


@dataclass
class Told:
    """What `tell` reads of an outcome."""

    status: str = "ok"
    scores: dict = field(default_factory=dict)
    seconds: float = 1.0
    expected_seconds: float = 0.0
