"""The whole model, where a person can read it: effects of columns and a score card, or the questions of a tree."""

import math
from collections.abc import Sequence

import numpy as np

from metaml.arrays import Floats
from metaml.explanation.readable import Leaf, Question, ReadableEffect
from metaml.explanation.score_card import Part, ScoreCard
from metaml.report.data import ReadableFacts, ReportData
from metaml.report.effect_pictures import MOST_CURVES, effect_picture
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.tables import Bar, TableColumn, bars, figure, paragraph, table
from metaml.report.wording import counted, rounded, share

MOST_PICTURES, MOST_STRENGTHS, MOST_BESIDE = 40, 12, 3
CHANCES = (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)


def whole_model(data: ReportData) -> Html | None:
    """Return all of a model that a person can read; None for any other."""
    facts = data.readable
    if facts is None:
        return None
    if facts.model.tree is not None:
        return _tree_section(facts.model.tree, facts)
    effects = facts.model.effects
    if not effects:
        return paragraph(f"The model uses no column: it predicts the same for each row ({_base(facts)}).")
    drawn = effects[:MOST_PICTURES]
    flat = [effect.values for effect in drawn if len(effect.columns) == 1]
    low, high = min((float(v.min()) for v in flat), default=-1.0), max((float(v.max()) for v in flat), default=1.0)
    room = 0.06 * (high - low or 1.0)
    y_range = (min(low, 0.0) - room - 0.12 * (high - low or 1.0), max(high, 0.0) + room)
    outputs = _shown_outputs(facts)
    pictures = [
        figure(_title(effect), effect_picture(effect, outputs, y_range, _y_label(data, facts))) for effect in drawn
    ]
    more = len(effects) - len(drawn)
    return joined(
        *_sum_words(data, facts),
        _strengths(effects, facts),
        tag("h3", "Effect of each column"),
        paragraph(_reading_hint(facts), class_="note"),
        _legend(outputs),
        tag("div", *pictures, class_="pair effects"),
        paragraph(f"{counted(more, 'weaker effect')} are only on the score card.", class_="note") if more else None,
    )


def score_card_section(data: ReportData) -> Html | None:
    """Return the score card, made to be printed."""
    facts = data.readable
    if facts is None or facts.card is None or not facts.card.parts:
        return None
    card = facts.card
    outputs = list(facts.labels) if len(card.start) > 1 else []
    heads = _points_columns(outputs)
    blocks = [table([TableColumn("Start"), *heads], [["every row", *_whole(card.start)]], marked=[True])]
    for part in card.parts:
        name = " × ".join(part.columns)
        title = TableColumn(name if len(name) <= 40 else name[:39] + "…")
        blocks.append(table([title, *heads], _lines(part)))
    return joined(
        paragraph(*_card_words(data, facts, card)),
        tag("div", *blocks, class_="card" if len(outputs) <= MOST_BESIDE else "card wide-card"),
        _from_points(facts, card),
    )


def _base(facts: ReadableFacts) -> str:
    base = facts.model.base
    if not facts.labels:
        return rounded(float(base[0]))
    if len(base) == 1:
        return f"{share(_chance(float(base[0])))} for {facts.labels[-1]}"
    return ", ".join(f"{rounded(float(value))} for {name}" for name, value in zip(facts.labels, base, strict=True))


def _sum_words(data: ReportData, facts: ReadableFacts) -> list[Html]:
    """Return how a prediction is made, in words."""
    n_used = len({name for effect in facts.model.effects for name in effect.columns})
    used = f"This is all of the model. It uses {n_used} of {counted(facts.model.n_columns, 'column')}."
    target, base = shortened(data.dataset.target, 40), facts.model.base
    if not facts.labels:
        how = joined(
            "The predicted ", tag("code", target), " of a row is ", tag("b", rounded(float(base[0]))),
            ", what the average training row gets, plus what each column below adds.",
        )  # fmt: skip
    elif len(base) == 1:
        how = joined(
            "Each column below adds to the log odds of ", tag("code", shortened(facts.labels[-1], 30)),
            ". With nothing added, its probability is ", tag("b", share(_chance(float(base[0])))),
            "; +0.69 doubles the odds, −0.69 halves them.",
        )  # fmt: skip
    else:
        how = joined(
            "Each column below adds to a score of each class, and the class with the largest score is the most "
            f"probable. With nothing added, the scores are: {_base(facts)}. A score that is 0.69 larger doubles "
            "the odds against another class.",
        )
    return [paragraph(used, " ", how), *([paragraph(facts.note, class_="note")] if facts.note else [])]


def _reading_hint(facts: ReadableFacts) -> str:
    scale = "All curves have the same scale. " if len(facts.model.effects) > 1 else ""
    return (
        f"{scale}The dashed line is the average row; the columns at the foot of a curve show where the training rows "
        "are. Each effect holds whatever the other columns say."
    )


def _shown_outputs(facts: ReadableFacts) -> list[str]:
    return list(facts.labels)[:MOST_CURVES] if len(facts.model.base) > 1 else []


def _y_label(data: ReportData, facts: ReadableFacts) -> str:
    if not facts.labels:
        target = data.dataset.target
        return f"adds to {target if len(target) <= 20 else target[:19] + '…'}"
    return "adds to the log odds" if len(facts.model.base) == 1 else "adds to the score"


def _title(effect: ReadableEffect) -> Html:
    if len(effect.columns) == 1:
        return shortened(effect.columns[0], 40)
    return joined(shortened(effect.columns[0], 24), " together with ", shortened(effect.columns[1], 24))


def _legend(outputs: Sequence[str]) -> Html | None:
    if not outputs:
        return None
    keys = [
        tag("span", tag("span", class_=f"key key-{place}"), shortened(name, 24)) for place, name in enumerate(outputs)
    ]
    return tag("p", *keys, class_="legend")


def _strengths(effects: Sequence[ReadableEffect], facts: ReadableFacts) -> Html:
    most = max(effect.strength for effect in effects)
    listed = [
        Bar(" × ".join(effect.columns), effect.strength / most, rounded(effect.strength))
        for effect in effects[:MOST_STRENGTHS]
    ]
    of = "the prediction" if not facts.labels else "the log odds" if len(facts.model.base) == 1 else "the scores"
    more = len(effects) - len(listed)
    return figure(
        f"By how much each column moves {of} of a row, on average",
        bars(listed, label="Strength of the effects"),
        note=f"{more} more move {'it' if not facts.labels else 'them'} less." if more > 0 else None,
    )


def _points_columns(outputs: Sequence[str]) -> list[TableColumn]:
    if not outputs:
        return [TableColumn("Points", "number")]
    return [TableColumn(name if len(name) <= 16 else name[:15] + "…", "number") for name in outputs]


def _lines(part: Part) -> list[list[object]]:
    """Return the ranges or levels of a part with their points."""
    if len(part.columns) == 1:
        lines = [[name, *_whole(points)] for name, points in zip(part.ranges[0], part.points, strict=True)]
        return lines if part.missing is None else [*lines, ["missing", *_whole(part.missing)]]
    return [
        [f"{one} × {two}", *_whole(part.points[first, second])]
        for first, one in enumerate(part.ranges[0])
        for second, two in enumerate(part.ranges[1])
    ]


def _whole(points: Floats) -> list[object]:
    return [f"{point:,.0f}".replace("-", "−") for point in points]


def _card_words(data: ReportData, facts: ReadableFacts, card: ScoreCard) -> list[object]:
    target = shortened(data.dataset.target, 40)
    said: list[object] = [
        "The same model for pencil and paper, rounded to whole points: begin with the start and add one line of each "
        "column. "
    ]
    if not facts.labels:
        worth = "" if card.unit == 1 else f", times {card.unit:g}"
        said += [f"The sum{worth} is the predicted ", tag("code", target), "."]
        said.append(f" For a typical row it is {rounded(card.apart)} apart from the model.")
    elif len(card.start) == 1:
        said += [
            "The table below turns the sum into the probability of ",
            tag("code", shortened(facts.labels[-1], 30)),
            ".",
        ]
        said.append(" Ten more points double the odds.")
    else:
        said.append("The class with most points is the most probable; ten more points double its odds against another.")
    if facts.agreement is not None:
        said.append(f" On {share(facts.agreement)} of the training rows, card and model name the same class.")
    return said


def _from_points(facts: ReadableFacts, card: ScoreCard) -> Html | None:
    """Return the table from sums of points to probabilities of two classes."""
    if len(card.start) > 1 or not facts.labels:
        return None
    sums = [math.ceil(math.log(chance / (1 - chance)) / card.unit) for chance in CHANCES]
    rows = [[f"{points:,}".replace("-", "−"), share(chance)] for points, chance in zip(sums, CHANCES, strict=True)]
    columns = [TableColumn("Sum of at least", "number"), TableColumn(f"Probability of {facts.labels[-1]}", "number")]
    return tag("div", table(columns, rows), class_="narrow")


def _chance(score: float) -> float:
    return float(1 / (1 + np.exp(-score)))


def _tree_section(tree: Question | Leaf, facts: ReadableFacts) -> Html:
    n_rows = _n_rows(tree)
    said = "This is all of the model: a few questions, one after another. Begin at the top."
    return joined(
        paragraph(said),
        *([paragraph(facts.note, class_="note")] if facts.note else []),
        tag("ul", _branch(tree, facts, n_rows, None), class_="tree"),
    )


def _n_rows(node: Question | Leaf) -> int:
    return node.n_rows if isinstance(node, Leaf) else _n_rows(node.yes) + _n_rows(node.no)


def _branch(node: Question | Leaf, facts: ReadableFacts, n_rows: int, is_yes: bool | None) -> Html:
    word = None if is_yes is None else tag("span", "yes" if is_yes else "no", class_="yes" if is_yes else "no")
    if isinstance(node, Leaf):
        reached = tag("span", f"{counted(node.n_rows, 'row')} ({share(node.n_rows / max(n_rows, 1))})", class_="quiet")
        return tag("li", word, " ", _answer(node, facts), " ", reached)
    asked = joined(tag("b", shortened(node.column, 40)), " ", _asked(node), "?")
    missing = tag("span", f" (missing: {'yes' if node.missing_is_yes else 'no'})", class_="quiet")
    inner = tag("ul", _branch(node.yes, facts, n_rows, True), _branch(node.no, facts, n_rows, False))
    return tag("li", word, " ", asked, missing if node.limit is not None else None, inner)


def _asked(node: Question) -> Html:
    if node.limit is not None:
        return joined(f"at most {rounded(node.limit, 4)}")
    if len(node.levels) == 1:
        return joined("is ", tag("code", shortened(node.levels[0], 30)))
    names = [tag("code", shortened(level, 24)) for level in node.levels[:8]]
    listed = [piece for name in names for piece in (name, ", ")][:-1]
    more = f" or {len(node.levels) - 8} others" if len(node.levels) > 8 else ""
    return joined("is one of ", *listed, more) if names else joined("is a known level of none")


def _answer(node: Leaf, facts: ReadableFacts) -> Html:
    if not facts.labels:
        return joined("→ ", tag("b", rounded(node.values[0])))
    best = int(np.argmax(node.values))
    return joined("→ ", tag("code", shortened(facts.labels[best], 30)), " ", tag("b", share(node.values[best])))
