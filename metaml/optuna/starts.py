"""A study of Optuna that begins with what experience recommends.

The other way round, `metaml kb import-optuna` makes experience of the trials of a study.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metaml.algorithms import ALGORITHMS
from metaml.data.given import dataset_in
from metaml.errors import BadRequest
from metaml.experience.recommended import recommended
from metaml.experience.suggest import request_for

if TYPE_CHECKING:
    import optuna
    import pandas as pd

    from metaml.data.arrow import ArrowTable
    from metaml.spaces.config import Config
    from metaml_kb import KnowledgeBase


def warm_start(
    study: optuna.Study,
    data: str | Path | pd.DataFrame | ArrowTable,
    algorithm: str,
    n: int = 10,
    *,
    target: str | None = None,
    task: str | None = None,
    metric: str = "auto",
    names: Mapping[str, str] | None = None,
    exclude_datasets: str | Iterable[str] = (),
    kb: str | Path | KnowledgeBase | None = None,
) -> list[dict[str, Any]]:
    """Enqueue the `n` configurations that did best on data sets like this one; return them.

    The study tries them before its sampler chooses, and the sampler learns from them.

    - `study`: an Optuna study. `data`: the rows, as a file or a frame, with the `target` (by default the last column).
    - `algorithm`: whose configurations, such as "lightgbm". Its parameters have metaml's names; `names` says what your
      objective calls them, as {"min_data_in_leaf": "min_child_samples"}. With `names`, the others are left out.
    - `task`, `metric`: as in `metaml.tune`. `exclude_datasets`: names whose experience is ignored.
    - `kb`: the knowledge base to ask, by default METAML_KB, else the user's own.

    Raises `BadRequest` if the algorithm, or a name of a parameter, does not exist, or if too little is known about it.

    >>> from sklearn.datasets import load_iris
    >>> frame = load_iris(as_frame=True).frame
    >>> warm_start(None, frame, "lightgbm", kb=":memory:")
    Traceback (most recent call last):
    metaml.errors.BadRequest: A NoneType is no study. Give what optuna.create_study returned.
    """
    if not callable(getattr(study, "enqueue_trial", None)):
        raise BadRequest(f"A {type(study).__name__} is no study. Give what optuna.create_study returned.")
    if n < 1:
        raise BadRequest(f"{n} configurations start nothing. Ask for 1 or more.")
    dataset = dataset_in(data, target, task)
    request = request_for(dataset, metric=metric, algorithms=[algorithm])
    known = [parameter.name for parameter in ALGORITHMS[algorithm].space(dataset.task).parameters]
    unknown = [name for name in names or {} if name not in known]
    if unknown:
        raise BadRequest(f"{algorithm} has no parameter {', '.join(unknown)}. They are: {', '.join(known)}.")
    found, who = recommended(kb, dataset, request, n, exclude_datasets=exclude_datasets)
    if not found:
        raise BadRequest(f"{who} knows too little about {algorithm}. Make experience with metaml bot.")
    started = list(_distinct(_renamed(config, names) for config in found))
    for settings in started:
        study.enqueue_trial(settings, skip_if_exists=True)
    return started


def _renamed(config: Config, names: Mapping[str, str] | None) -> dict[str, Any]:
    if names is None:
        return dict(config)
    return {names[name]: value for name, value in config.items() if name in names}


def _distinct(many: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """Yield each once: what differs in parameters that are left out is the same."""
    seen: list[dict[str, Any]] = []
    for settings in many:
        if settings and settings not in seen:
            seen.append(settings)
            yield settings
