"""Keeps the predictions of runs, and the truth to judge them by, within a bound. Only where the user asks for it."""

from collections import Counter
from dataclasses import replace
from typing import Any

from metaml.data import Dataset
from metaml.errors import BadRequest
from metaml_kb import Run
from metaml_kb.predictions import Form, Truth, pack

FORMS: tuple[Form, ...] = ("float16", "float32")
MOST_MEGABYTES = 500.0
"""What the predictions of one session may take, compressed."""
MOST_NUMBERS = 5_000_000
"""Predictions of more rows × classes are not kept: 10 megabytes as float16."""
TRUTH_EVERY = 20
"""The truth is stored with the first run on a data set and then with every twentieth, so that several have it."""


def form_of(asked: bool | str) -> Form | None:
    """Return the form in which predictions are kept: True means float16, False not at all.

    >>> form_of(True), form_of("float32"), form_of(False)
    ('float16', 'float32', None)
    """
    if isinstance(asked, bool):
        return "float16" if asked else None
    found = next((form for form in FORMS if form == asked), None)
    if found is None:
        raise BadRequest(f"Predictions cannot be kept as {asked!r}. Choose one of: {', '.join(FORMS)}.")
    return found


class PredictionKeeper:
    """Adds predictions to the runs of one session until the bound is reached. Without a `form` it adds none."""

    def __init__(self, form: Form | None, *, megabytes: float = MOST_MEGABYTES) -> None:
        self.form = form
        self._left = megabytes * 1e6
        self._megabytes = megabytes
        self._n_kept: Counter[str] = Counter()
        self._truths: dict[str, Truth] = {}
        self.note = ""

    def add(self, dataset: Dataset) -> None:
        """Take over the target of a data set."""
        if self.form is not None:
            labels = () if dataset.labels is None else tuple(map(str, dataset.labels))
            self._truths[dataset.fingerprint] = Truth(dataset.y, labels)

    def with_predictions(self, run: Run, predictions: Any) -> Run:
        """Return the run with its predictions; as it is if none are wanted, there are none, or there is no room.

        Then `note` says why, in one sentence, for the user.
        """
        if self.form is None or predictions is None or run.status not in ("ok", "partial"):
            return run
        if predictions.size > MOST_NUMBERS:
            self.note = f"Predictions of more than {MOST_NUMBERS:,} rows × classes are not kept. Lower --max-rows."
            return run
        is_due = self._n_kept[run.dataset] % TRUTH_EVERY == 0
        packed = pack(predictions, self.form, self._truths.get(run.dataset) if is_due else None)
        if len(packed.data) > self._left:
            self.note = f"The predictions of this session fill {self._megabytes:,.0f} MB, so no more are kept."
            self._left = 0.0
            return run
        self._left -= len(packed.data)
        self._n_kept[run.dataset] += 1
        return replace(run, predictions=packed)
