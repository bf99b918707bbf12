"""Spaces: which configurations an algorithm allows."""

from metaml.spaces.config import Config, Value
from metaml.spaces.parameters import Choice, Float, Integer, Parameter, When
from metaml.spaces.space import Space

__all__ = ["Choice", "Config", "Float", "Integer", "Parameter", "Space", "Value", "When"]
