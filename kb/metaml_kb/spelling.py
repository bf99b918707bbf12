"""Messages about unknown names, with the known names that are spelt most like them."""

import difflib
from collections.abc import Iterable

MOST_NAMED = 8


def nearest_first(wanted: str, known: Iterable[str]) -> list[str]:
    """Return the known names: first those that are spelt like the wanted one, then the others in alphabetical order.

    >>> nearest_first("tumors", ["abalone", "iris", "tumours"])
    ['tumours', 'abalone', 'iris']
    """
    names = sorted(set(known))
    by_lower = {name.lower(): name for name in reversed(names)}
    close = [by_lower[word] for word in difflib.get_close_matches(wanted.lower(), by_lower, n=MOST_NAMED)]
    holding = [name for name in names if wanted.lower() in name.lower()]
    return list(dict.fromkeys([*close, *holding, *names]))


def no_such(what: str, wanted: str, known: Iterable[str], *, see: str = "") -> str:
    """Return the message that there is no such name, with the most similar known names first.

    - `what`: the kind of thing, such as "data set".
    - `see`: a command that lists all names.

    >>> no_such("algorithm", "svmm", ["random_forest", "svm"])
    'There is no algorithm svmm in the knowledge base. Known: svm, random_forest.'
    """
    names = nearest_first(wanted, known)
    listed = ", ".join(names[:MOST_NAMED]) or "none yet"
    others = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    advice = f" See: {see}" if see else ""
    return f"There is no {what} {wanted} in the knowledge base. Known: {listed}{others}.{advice}"
