"""What a finished model may take: milliseconds, megabytes and columns, as measured on the saved file."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields

from metaml.errors import BadRequest


@dataclass(frozen=True)
class Measured:
    """What a saved model takes in a fresh process, once it is loaded: milliseconds for one row and for 1,000 rows,
    megabytes (10⁶ bytes) of its file, and the raw columns that it reads.
    """

    predict_ms: float
    predict_ms_1000: float
    megabytes: float
    n_columns: int

    def __str__(self) -> str:
        return (
            f"one row takes {self.predict_ms:.3g} ms, 1,000 rows {self.predict_ms_1000:.3g} ms; "
            f"the file has {self.megabytes:.3g} MB, the model reads {self.n_columns} columns"
        )


OPTIONS = {
    "predict_ms": "--max-predict-ms",
    "predict_ms_1000": "--max-predict-ms-1000",
    "megabytes": "--max-model-mb",
    "n_columns": "--max-columns",
}
_WORDS = {
    "predict_ms": "takes {:.3g} ms for one row",
    "predict_ms_1000": "takes {:.3g} ms for 1,000 rows",
    "megabytes": "has {:.3g} MB",
    "n_columns": "reads {} columns",
}


@dataclass(frozen=True)
class ModelLimits:
    """The most that a model may take, None for any; each is compared with the field of `Measured` of its name."""

    predict_ms: float | None = None
    predict_ms_1000: float | None = None
    megabytes: float | None = None
    n_columns: int | None = None

    def __post_init__(self) -> None:
        for name, limit in asdict(self).items():
            if limit is not None and not (limit > 0 and math.isfinite(limit)):
                raise BadRequest(f"{OPTIONS[name]} is {limit:g}. Give a number above 0.")

    @property
    def is_any(self) -> bool:
        """Return whether anything is limited."""
        return any(limit is not None for limit in asdict(self).values())

    @property
    def needs_measuring(self) -> bool:
        """Return whether the saved model must be measured; columns are known before."""
        return any(getattr(self, name) is not None for name in OPTIONS if name != "n_columns")

    def excess(self, measured: Measured) -> float:
        """Return the largest ratio of what is taken to what is allowed: above 1, a limit is broken.

        >>> ModelLimits(predict_ms=2.0, megabytes=10.0).excess(Measured(3.0, 20.0, 5.0, 8))
        1.5
        """
        ratios = [
            getattr(measured, field.name) / limit
            for field in fields(self)
            if (limit := getattr(self, field.name)) is not None
        ]
        return max(ratios, default=0.0)

    def impossible(self, nearest: Measured) -> str:
        """Return the sentence for limits that no model keeps: what comes nearest, and what to raise to what."""
        broken = [name for name in OPTIONS if (limit := getattr(self, name)) and getattr(nearest, name) > limit]
        takes = " and ".join(_WORDS[name].format(getattr(nearest, name)) for name in broken)
        raised = " and ".join(f"{OPTIONS[name]} to {_above(getattr(nearest, name))}" for name in broken)
        return f"No model keeps these limits on this machine: the nearest one {takes}. Raise {raised}."


NO_LIMITS = ModelLimits()


def _above(value: float) -> str:
    """Return a round number that is a tenth above a value.

    >>> _above(1.02), _above(37.0)
    ('1.2', '41')
    """
    wanted = 1.1 * value
    unit = 10.0 ** (math.floor(math.log10(wanted)) - 1) if wanted > 0 else 1.0
    return f"{math.ceil(wanted / unit) * unit:g}"
