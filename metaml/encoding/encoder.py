"""Configurations as rows of numbers a surrogate can learn from: thesis chapter 3."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from metaml.arrays import Flags, Floats
from metaml.encoding.kinds import NULL, Kind, is_number, kind_of, word_of
from metaml.encoding.resolvers import COUNTS_OR_SHARES, RESOLVERS, Facts, plain_name
from metaml.errors import BadRequest
from metaml.spaces.config import Config, Value

if TYPE_CHECKING:
    from metaml.spaces import Space

Values = Sequence[Value] | Floats

MISSING = math.nan
"""The value of an inactive parameter in a column; always this same object, so that a lookup finds it."""

UNKNOWN = "<unkn>"
DECADES_FOR_LOG = 2.0


@dataclass(frozen=True)
class Coding:
    """How one parameter becomes columns."""

    name: str
    kind: Kind
    words: tuple[str, ...] = ()
    is_log: bool = False
    is_share: bool = False
    floor: float = 0.0
    low: float = 0.0
    span: float = 1.0
    kept: tuple[int, ...] = ()

    @cached_property
    def codes(self) -> dict[Value, int]:
        """Return the position of each word in the vocabulary; 0 is the unknown word (table 3.5)."""
        codes: dict[Value, int] = {word: position for position, word in enumerate(self.words, start=1)}
        if "None" in codes:
            codes[None] = codes["None"]
        codes[MISSING] = -1
        return codes

    @property
    def has_numbers(self) -> bool:
        """Return whether the parameter has a numeric column."""
        return self.kind in ("numeric", "boolean", "mixed")

    @property
    def has_words(self) -> bool:
        """Return whether the parameter has columns for its words."""
        return self.kind in ("nominal", "object", "mixed")


class Encoder:
    """Turns configurations into a matrix; learns the columns from a space, from history, or from both.

    `one_hot` gives each word a column (table 3.7), otherwise a parameter's words are codes with 0 for an
    unknown one (tables 3.5 and 3.6). `unit` scales numbers to [0, 1] and gives a parameter of two words a
    single column, as a Gaussian process wants it. Columns named in `log` are taken as logarithms, as are
    those a space declares and, in history, positive numbers that span more than two decades evenly. An
    inactive parameter is missing (NaN), an unknown word is zeros (one half in a single column), and columns
    that never vary are dropped.

    >>> encoder = Encoder().fit([{"criterion": "gini", "depth": 3}, {"criterion": "entropy", "depth": 9}])
    >>> encoder.names
    ('criterion_entropy', 'criterion_gini', 'depth')
    >>> encoder.transform([{"criterion": "gini"}]).tolist()
    [[0.0, 1.0, nan]]
    """

    def __init__(self, *, one_hot: bool = True, unit: bool = False, log: Iterable[str] = ()) -> None:
        self.one_hot = one_hot
        self.unit = unit
        self.log = frozenset(log)
        self.codings_: tuple[Coding, ...] = ()

    def fit(
        self,
        configs: Sequence[Config],
        facts: Facts | Sequence[Facts] | None = None,
        space: "Space | None" = None,
    ) -> Self:
        """Learn the columns; `facts` is one for all configurations, or one for each."""
        if not configs and space is None:
            raise BadRequest("An encoder has nothing to learn from: no configuration, no space. Give it one of them.")
        declared = {} if space is None else {p.name: p for p in space.parameters}
        names = list(dict.fromkeys([*declared, *(name for config in configs for name in config)]))
        shared = facts if isinstance(facts, Facts) or facts is None else None
        codings = []
        for name in names:
            values: list[Value] = [config.get(name, MISSING) for config in configs]
            rows = None if facts is None or isinstance(facts, Facts) else facts
            parameter = declared.get(name)
            is_log = name in self.log
            if parameter is not None:
                domain = [*_domain(parameter), *([MISSING] if parameter.when is not None else [])]
                is_log = is_log or bool(getattr(parameter, "log", False))
                values, rows = _extended(values, rows, domain)
            coding = self._learn(name, values, rows or shared, is_log, detect=parameter is None)
            if coding.kept:
                codings.append(coding)
        self.codings_ = tuple(codings)
        return self

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names of the columns."""
        return tuple(name for coding in self.codings_ for name in self._names(coding))

    @property
    def is_nominal(self) -> tuple[bool, ...]:
        """Return for each column whether it holds codes or indicators rather than an amount (table 3.6)."""
        n_numbers = {coding.name: int(coding.has_numbers) for coding in self.codings_}
        return tuple(kept >= n_numbers[coding.name] for coding in self.codings_ for kept in coding.kept)

    def transform(self, configs: Sequence[Config], facts: Facts | Sequence[Facts] | None = None) -> Floats:
        """Return one row for each configuration."""
        blocks = [
            self.block(coding, [config.get(coding.name, MISSING) for config in configs], facts)
            for coding in self.codings_
        ]
        return np.hstack(blocks) if blocks else np.zeros((len(configs), 0))

    def block(self, coding: Coding, values: Values, facts: Facts | Sequence[Facts] | None = None) -> Floats:
        """Return the columns of one parameter."""
        full = self._full_block(coding, values, facts)
        return full if len(coding.kept) == full.shape[1] else full[:, list(coding.kept)]

    def _learn(
        self,
        name: str,
        values: list[Value],
        facts: Facts | Sequence[Facts] | None,
        is_log: bool,
        detect: bool,
    ) -> Coding:
        present = [value for value in values if value is not MISSING]
        kind = kind_of(present)
        words = {word_of(value) for value in present if not is_number(value)}
        if kind == "mixed":
            words.add(NULL)
        if kind == "boolean":
            words = set()
        shares = plain_name(name) in COUNTS_OR_SHARES and (
            plain_name(name) == "max_features" or any(isinstance(v, float) and 0 < v < 1 for v in present)
        )
        coding = Coding(name, kind, tuple(sorted(words, key=str.casefold)), is_share=shares)
        if coding.has_numbers:
            coding = self._learn_scale(coding, _numbers(coding, values, facts), is_log, detect)
        block = self._full_block(coding, values, facts)
        return replace(coding, kept=tuple(int(column) for column in np.flatnonzero(_varies(block))))

    def _learn_scale(self, coding: Coding, numbers: Floats, is_log: bool, detect: bool) -> Coding:
        seen = numbers[np.isfinite(numbers)]
        if not len(seen):
            return coding
        if detect and not is_log and coding.kind != "boolean":
            is_log = _looks_logarithmic(seen)
        is_log = is_log and bool((seen > 0).any())
        floor = float(seen[seen > 0].min()) if is_log else 0.0
        coding = replace(coding, is_log=is_log, floor=floor)
        if self.unit:
            scaled = _logarithm(coding, seen)
            span = float(scaled.max() - scaled.min())
            coding = replace(coding, low=float(scaled.min()), span=span if span > 0 else 1.0)
        return coding

    def _full_block(self, coding: Coding, values: Values, facts: Facts | Sequence[Facts] | None) -> Floats:
        parts = []
        if coding.has_numbers:
            numbers = _logarithm(coding, _numbers(coding, values, facts))
            if self.unit:
                numbers = (numbers - coding.low) / coding.span
            parts.append(numbers[:, np.newaxis])
        if coding.has_words:
            parts.append(self._word_columns(coding, _word_codes(coding, values)))
        return parts[0] if len(parts) == 1 else np.hstack(parts)

    def _word_columns(self, coding: Coding, codes: NDArray[np.int64]) -> Floats:
        if not self.one_hot:
            return np.where(codes < 0, np.nan, codes.astype(np.float64))[:, np.newaxis]
        if self.unit and len(coding.words) == 2:
            return np.array([0.5, 0.0, 1.0, np.nan])[codes][:, np.newaxis]
        table = np.vstack([np.zeros(len(coding.words)), np.eye(len(coding.words)), np.full(len(coding.words), np.nan)])
        return table[codes]

    def _names(self, coding: Coding) -> list[str]:
        mixed = coding.kind == "mixed"
        names = [f"{coding.name}_num" if mixed else coding.name] if coding.has_numbers else []
        if coding.has_words:
            stem = f"{coding.name}_nom" if mixed else coding.name
            single = not self.one_hot
            if self.one_hot and self.unit and len(coding.words) == 2:
                names.append(f"{stem}_{coding.words[1]}")
            else:
                names += [stem] if single else [f"{stem}_{word}" for word in coding.words]
        return [names[position] for position in coding.kept]


def _domain(parameter: object) -> list[Value]:
    choices = getattr(parameter, "choices", None)
    if choices is not None:
        return list(choices)
    return [parameter.low, parameter.high]  # type: ignore[attr-defined]


def _extended(
    values: list[Value], rows: Sequence[Facts] | None, domain: list[Value]
) -> tuple[list[Value], Sequence[Facts] | None]:
    if not rows:
        return values + domain, rows
    every = list(dict.fromkeys(rows))
    return values + domain * len(every), [*rows, *(facts for facts in every for _ in domain)]


def _varies(block: Floats) -> Flags:
    missing = np.isnan(block)
    filled = np.where(missing, -np.inf, block)
    varies: Flags = ~missing.all(axis=0) & (filled != filled[:1]).any(axis=0)
    return varies


def _looks_logarithmic(seen: Floats) -> bool:
    """Return whether positive numbers span two decades and their median is nearer the middle in logarithms."""
    # Plain floats: their quotient may be infinite, of which NumPy would warn.
    least, most = float(seen.min()), float(seen.max())
    if least <= 0 or math.log10(most / least) <= DECADES_FOR_LOG:
        return False
    logarithms = np.log(seen)
    plain = (np.median(seen) - seen.min()) / np.ptp(seen)
    scaled = (np.median(logarithms) - logarithms.min()) / np.ptp(logarithms)
    return bool(abs(scaled - 0.5) < abs(plain - 0.5))


def _logarithm(coding: Coding, numbers: Floats) -> Floats:
    return np.log(np.maximum(numbers, coding.floor)) if coding.is_log else numbers


def _numbers(coding: Coding, values: Values, facts: Facts | Sequence[Facts] | None) -> Floats:
    resolver = RESOLVERS.get(plain_name(coding.name))
    if resolver is None or isinstance(values, np.ndarray):
        try:
            return np.array(values, dtype=np.float64)
        except ValueError:
            return np.array([v if is_number(v) else MISSING for v in values], dtype=np.float64)
    rows = [facts] * len(values) if isinstance(facts, Facts) or facts is None else facts
    known: dict[tuple[type, Value, Facts | None], float | None] = {}
    numbers = np.empty(len(values))
    for position, (value, row) in enumerate(zip(values, rows, strict=True)):
        if isinstance(value, float) or (isinstance(value, int) and not coding.is_share):
            numbers[position] = value
            continue
        key = (type(value), value, row)
        if key not in known:
            known[key] = resolver(value, row)
        resolved = known[key]
        if resolved is None:
            resolved = float(value) if isinstance(value, int) else MISSING
        numbers[position] = resolved
    return numbers


def _word_codes(coding: Coding, values: Values) -> NDArray[np.int64]:
    codes = coding.codes
    if coding.kind == "mixed":
        null = codes[NULL]
        found = [codes[v] if v is MISSING else null if is_number(v) else codes.get(v, 0) for v in values]
    elif coding.kind == "object":
        found = [-1 if v is MISSING else codes.get(word_of(v), 0) for v in values]
    else:
        found = [codes.get(v, 0) for v in values]
    return np.array(found, dtype=np.int64)
