"""Configurations as rows of numbers (van Hoof 2018, chapter 3)."""

from metaml.encoding.encoder import MISSING, Encoder
from metaml.encoding.kinds import Kind, kind_of
from metaml.encoding.resolvers import RESOLVERS, Facts

__all__ = ["MISSING", "RESOLVERS", "Encoder", "Facts", "Kind", "kind_of"]
