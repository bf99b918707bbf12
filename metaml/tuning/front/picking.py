"""`pick`: the model of a point of a front, without a new search."""

from collections.abc import Mapping
from pathlib import Path

from metaml.errors import BadRequest
from metaml.model import Model
from metaml.model.front import Front, load_front
from metaml.tuning.results.result import TuneResult


def pick(
    result: str | Path | TuneResult | Front,
    *,
    max: Mapping[str, float] | None = None,
    min: Mapping[str, float] | None = None,
    point: int | None = None,
) -> Model:
    """Return the model of a point of a front: the best one within limits, or the one with a number.

    - `result`: the output folder of a search with `objectives`, what `tune` returned, or its `front`.
    - `max`, `min`: limits by objective, such as `max={"predict_seconds": 0.002}`. Of the points within all limits, the
      best by the first objective without a limit is taken.
    - `point`: the number of a point. Without it and without limits, the point is the compromise that is nearest to the
      best of every objective.

    Raises `BadRequest` if there is no front, or no such point on it.

    >>> import metaml
    >>> from sklearn.datasets import load_breast_cancer
    >>> result = metaml.tune(
    ...     load_breast_cancer(as_frame=True).frame,
    ...     objectives=["fnr", "fpr"], iterations=3, algorithms=["decision_tree"], folds=2, kb=":memory:",
    ... )
    >>> careful = metaml.pick(result, max={"fnr": 0.05})
    >>> careful.facts["front"]["fnr"] <= 0.05
    True
    """
    front = (
        result if isinstance(result, Front) else result.front if isinstance(result, TuneResult) else load_front(result)
    )
    if front is None:
        raise BadRequest("This search has no front. Call metaml.tune with objectives, such as two metrics.")
    return front.model(front.pick(max=max, min=min, point=point))
