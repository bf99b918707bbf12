"""The words of metaml itself that stored records may hold; a private export may show them."""

from metaml.search.optimizer import STRATEGIES

PROPOSERS = frozenset({"start", "random", "experience", "openml", *STRATEGIES})
"""Who proposes runs."""
METAFEATURE_SOURCES = frozenset({"computed", "openml"})
"""Who measured a metafeature."""
PUBLIC_WORDS = PROPOSERS | METAFEATURE_SOURCES
"""Any other name may identify the person who chose it."""
