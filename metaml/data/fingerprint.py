"""The fingerprint of a data set's content: 32 hexadecimal digits, the same for any file format, path or name."""

import hashlib
import json

import numpy as np
import pandas as pd

from metaml.arrays import Array, Floats
from metaml.data.cells import text_of
from metaml.data.roles import NO_ROLES, Roles


def fingerprint(
    X: pd.DataFrame,
    y: Array,
    labels: Array | None,
    target: str,
    roles: Roles = NO_ROLES,
    *,
    has_order: bool = False,
) -> str:
    """Return a hash (BLAKE2b, 16 bytes) of what learners see: the names and values of features and target.

    Groups, times and weights count, too, if there are any: with them, the same rows are another thing to learn.

    The order of the columns does not matter, nor the numbering of labels unless it `has_order`. The order of the rows
    does, because fold plans depend on it. Integers and equal floats are the same, and so are all kinds of missing.
    """
    digest = hashlib.blake2b(digest_size=16)

    def add_text(text: str) -> None:
        encoded = text.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little") + encoded)

    def add_words(words: list[str], codes: Array) -> None:
        order = sorted(range(len(words)), key=words.__getitem__)
        places = np.full(len(words) + 1, -1, dtype=np.int32)
        places[order] = np.arange(len(words))
        for position in order:
            add_text(words[position])
        digest.update(places[codes].data)

    add_text(f"{len(X)} rows, {X.shape[1]} features")
    numbers = X.select_dtypes("float64")
    rows = {str(name): row for row, name in enumerate(numbers.columns)}
    values = numbers.to_numpy().T
    for name in sorted(X.columns):
        add_text(name)
        if name in rows:
            add_text("number")
            digest.update(_canonical(values[rows[name]]).data)
        else:
            add_text("category")
            add_words([str(level) for level in X[name].cat.categories], X[name].cat.codes.to_numpy())
    add_text(target)
    if labels is None:
        add_text("regression")
        digest.update(_canonical(np.asarray(y, dtype=np.float64)).data)
    else:
        add_text("classification")
        words = [text_of(label) for label in labels.tolist()]
        add_words(words, y)
        if has_order:
            add_text("in the order " + json.dumps(words))
    digest.update(roles.digest)
    return digest.hexdigest()


def _canonical(values: Floats) -> Floats:
    """Return the values with one bit pattern for every NaN and one for both zeros."""
    plain = values + 0.0
    plain[np.isnan(plain)] = np.nan
    return plain
