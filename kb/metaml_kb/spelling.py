"""What to say of a name that nobody knows: which of the known ones it may have been meant for."""

import difflib
from collections.abc import Iterable

MOST_NAMED = 8


def nearest_first(wanted: str, known: Iterable[str]) -> list[str]:
    """Return the known names, those that are spelt like the wanted one first, the others in alphabetical order.

    >>> nearest_first("tumors", ["abalone", "iris", "tumours"])
    ['tumours', 'abalone', 'iris']
    """
    names = sorted(set(known))
    by_lower = {name.lower(): name for name in reversed(names)}
    close = [by_lower[word] for word in difflib.get_close_matches(wanted.lower(), by_lower, n=MOST_NAMED)]
    holding = [name for name in names if wanted.lower() in name.lower()]
    return list(dict.fromkeys([*close, *holding, *names]))


def no_such(what: str, wanted: str, known: Iterable[str], *, see: str = "") -> str:
    """Return the sentence that there is no such thing, with the nearest of those that there are.

    >>> no_such("algorithm", "svmm", ["random_forest", "svm"])
    'There is no algorithm svmm in the knowledge base. Known are: svm, random_forest.'
    """
    names = nearest_first(wanted, known)
    listed = ", ".join(names[:MOST_NAMED]) or "none yet"
    others = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    advice = f" See: {see}" if see else ""
    return f"There is no {what} {wanted} in the knowledge base. Known are: {listed}{others}.{advice}"
