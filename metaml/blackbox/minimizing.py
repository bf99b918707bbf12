"""Minimise a function that you can call: the loop of ask, call and tell."""

import time
from collections.abc import Callable, Sequence
from typing import Any

from metaml.blackbox.evaluations import OptimizeResult
from metaml.blackbox.optimizer import Optimizer, Values
from metaml.errors import BadRequest
from metaml.evaluation.crossval import one_line
from metaml.spaces.config import Config


def minimize(
    function: Callable[[Config], Values],
    space: Any,
    *,
    n: int,
    objectives: int | Sequence[str] = 1,
    method: str = "auto",
    n_design: int | None = None,
    starts: Sequence[Config] = (),
    seed: int = 0,
    on_evaluation: Callable[[OptimizeResult], None] = lambda _: None,
) -> OptimizeResult:
    """Return the best of `n` evaluations of a function, or the front of its two or three objectives.

    `function` gets a configuration, as a dict, and returns a number, or one for each objective: lower is better. What
    it raises is kept as the error of that evaluation, and the search goes on. `space`, `objectives`, `method`,
    `n_design`, `starts` and `seed` are those of `Optimizer`. `on_evaluation` is called with the result so far after
    each evaluation.

    Raises `BadRequest` if `n` is below 1, or for a space or a method that cannot be used.

    >>> result = minimize(lambda c: (c["x"] ** 2, (c["x"] - 2) ** 2), {"x": (-4.0, 4.0)}, n=20, objectives=2)
    >>> all(-0.5 <= evaluation.config["x"] <= 2.5 for evaluation in result.front)
    True
    """
    if n < 1:
        raise BadRequest(f"{n} evaluations were asked for. Ask for at least 1.")
    optimizer = Optimizer(space, objectives=objectives, method=method, n=n, n_design=n_design, starts=starts, seed=seed)
    for _ in range(n):
        config = optimizer.ask()
        begun, values, error = time.perf_counter(), None, None
        try:
            values = function(dict(config))
        except Exception as raised:
            error = one_line(raised)
        optimizer.tell(config, values, error=error, seconds=time.perf_counter() - begun)
        on_evaluation(optimizer.result)
    return optimizer.result
