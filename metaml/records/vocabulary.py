"""The words of metaml itself that stored records may hold; a private export may show them."""

PUBLIC_WORDS = frozenset(
    {
        # Who proposed a run.
        "start",
        "random",
        "experience",
        "openml",
        # Strategies of the optimizer, which propose runs too.
        "default",
        "gbqr",
        "gaussian_process",
        "forest",
        "extra_trees",
        "mean_boosting",
        # Who measured a metafeature (besides openml).
        "computed",
    }
)
"""Names of proposers and of sources of metafeatures. Any other name may identify the person who chose it."""
