"""What the storage cannot know of the records it holds: which words are metaml's own, and what scores can be."""

from metaml.algorithms import KNOWN
from metaml.metrics import METRICS
from metaml.search.strategy import STRATEGIES
from metaml_kb.doctor import Expectations

PROPOSERS = frozenset({"start", "random", "experience", "openml", *STRATEGIES})
"""Who proposes runs."""
METAFEATURE_SOURCES = frozenset({"computed", "openml"})
"""Who measured a metafeature."""
PUBLIC_WORDS = PROPOSERS | METAFEATURE_SOURCES
"""What a private export may show. Any other name may identify the person who chose it."""
EXPECTATIONS = Expectations(
    highest_scores={name: metric.highest for name, metric in METRICS.items()},
    libraries=frozenset(algorithm.library for algorithm in KNOWN),
)
"""What a check-up of a knowledge base goes by."""
