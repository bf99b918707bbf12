"""Near-duplicates: the same data under another name. Learning from one to predict the other would be cheating."""

import re
from collections.abc import Iterable, Mapping

import numpy as np
import pandas as pd

NEEDED = ("NumberOfInstances", "NumberOfFeatures")
SAME_DATA = (*NEEDED, "NumberOfNumericFeatures", "NumberOfMissingValues")
"""Equal in variants of a data set, such as OpenML's with binary classes; these and the classes make a duplicate."""
VERSION = re.compile(r"[\s_-]*(\(\d+\)|v\d+|version[\s_-]*\d+|binari[sz]ed)$", re.IGNORECASE)


def stem(name: str) -> str:
    """Return the name of a data set without a version suffix.

    >>> stem("Credit-G (2)"), stem("wine_v3"), stem("iris")
    ('credit-g', 'wine', 'iris')
    """
    return VERSION.sub("", name.strip()).casefold()


def near_duplicates(
    known: pd.DataFrame,
    metafeatures: pd.DataFrame,
    leave_out: Iterable[str],
    *,
    like: Mapping[str, float] | None = None,
    name: str | None = None,
) -> set[str]:
    """Return the fingerprints to leave out: those given, and data sets with the same name or the same sizes.

    `known` has the columns `fingerprint` and `name`; `metafeatures` is indexed by fingerprint. Two data sets have
    the same sizes if rows, columns, numeric columns and missing values agree, as far as they are known.
    """
    given = set(leave_out)
    gone = set(given)
    stems = known["name"].map(stem)
    wanted = set(stems[known["fingerprint"].isin(given)])
    if name is not None:
        wanted.add(stem(name))
    gone |= {str(fingerprint) for fingerprint in known["fingerprint"][stems.isin(wanted)]}
    facts = metafeatures.reindex(columns=list(SAME_DATA))
    profiles = [facts.loc[fingerprint].to_numpy(np.float64) for fingerprint in given if fingerprint in facts.index]
    if like is not None:
        profiles.append(np.array([float(like.get(fact, np.nan)) for fact in SAME_DATA]))
    table = facts.to_numpy(np.float64)
    for profile in profiles:
        agrees = (table == profile) | np.isnan(table) | np.isnan(profile)
        is_known = np.isfinite(table[:, : len(NEEDED)]).all(axis=1) & bool(np.isfinite(profile[: len(NEEDED)]).all())
        gone |= {str(fingerprint) for fingerprint in facts.index[agrees.all(axis=1) & is_known]}
    return gone
