"""For those who stay with Optuna: studies that begin with experience."""

from metaml.optuna.starts import warm_start

__all__ = ["warm_start"]
