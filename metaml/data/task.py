"""Which task a target column asks for: the one documented rule."""

from typing import Literal, get_args

import numpy as np

from metaml.arrays import Floats

Task = Literal["binary", "multiclass", "regression"]
TASKS: tuple[Task, ...] = get_args(Task)

FEW = 10
"""Up to this many whole numbers are class codes."""


def task_of_numbers(values: Floats) -> Task:
    """Return the task of a numeric target without missing values, by these rules, the first that holds:

    1. two distinct values: binary;
    2. a value with a fractional part: regression;
    3. at most 10 distinct whole numbers, each on 5 rows on average: multiclass;
    4. 11 to 20 distinct whole numbers that run without a gap from 0 or 1, each on 5 rows at least: multiclass
       (class codes; counts and marks have gaps and thin tails);
    5. 11 to 100 distinct whole numbers that are equally frequent, the commonest at most 1.2 times as frequent
       as the rarest, each on 5 rows at least: multiclass (balanced by design, as no measured quantity is);
    6. otherwise: regression.

    A target of words or truth values is never asked here: two labels are binary, more are multiclass.

    >>> task_of_numbers(np.tile([1.0, 2.0, 3.0], 20)), task_of_numbers(np.linspace(0, 1, 60))
    ('multiclass', 'regression')
    """
    distinct, counts = np.unique(values, return_counts=True)
    n_distinct = len(distinct)
    if n_distinct == 2:
        return "binary"
    if not np.all(distinct == np.floor(distinct)):
        return "regression"
    if n_distinct <= FEW:
        return "multiclass" if len(values) >= 5 * n_distinct else "regression"
    if counts.min() < 5:
        return "regression"
    are_codes = n_distinct <= 20 and distinct[0] in (0, 1) and distinct[-1] - distinct[0] == n_distinct - 1
    are_balanced = n_distinct <= 100 and counts.max() <= 1.2 * counts.min()
    return "multiclass" if are_codes or are_balanced else "regression"
