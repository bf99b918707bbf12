"""Optimisation of any function: `minimize` for one you can call, `Optimizer` where you evaluate yourself."""

from metaml.blackbox.evaluations import Evaluation, OptimizeResult
from metaml.blackbox.minimizing import minimize
from metaml.blackbox.optimizer import Optimizer
from metaml.blackbox.spaces import as_space

__all__ = ["Evaluation", "OptimizeResult", "Optimizer", "as_space", "minimize"]
