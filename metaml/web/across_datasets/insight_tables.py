"""What `metaml.insight` finds, as tables."""

from collections.abc import Sequence

import pandas as pd

from metaml.insight import Gain, Importance, SizeGroup, SuggestedRange, ValueEffect
from metaml.insight.settings import value_text
from metaml.report.markup import joined, tag
from metaml.report.wording import fixed, rounded, share
from metaml.web.sheet import Field, Sheet
from metaml.web.words import first_upper

SIZES = {"n_rows": "rows", "n_columns": "columns", "n_classes": "classes"}


def importance_sheet(found: Sequence[Importance]) -> Sheet:
    """Return how much each setting matters, most important first."""
    rows = [
        {
            "setting": item.name,
            "share": item.share,
            "divergence": item.divergence,
            "error": item.standard_error,
            "clear": "yes" if item.is_clear else "no",
            "datasets": item.n_datasets,
        }
        for item in found
    ]
    fields = [
        Field("Setting", "name", key="setting"),
        Field("Share", "number", key="share", first="down", show=share, is_hidden=True),
        Field("Divergence", "number", key="divergence", first="down", show=lambda value: fixed(value, 3)),
        Field("± error", "number", key="error", show="{:.3f}".format),
        Field("Clear", "name", key="clear"),
        Field("Data sets", "number", key="datasets", first="down", extra=True),
    ]
    return Sheet("importance", fields, rows, title="Importance of the settings", sorted_by="divergence")


def effect_sheet(groups: Sequence[SizeGroup], order: Sequence[str] = ()) -> Sheet:
    """Return how often each value is best and what it loses, the groups of sizes side by side.

    `order` has the settings that come first; of each, the value that is best on most data sets of the first group.
    """
    found: dict[tuple[str, str], dict[int, ValueEffect]] = {}
    for name in dict.fromkeys([*order, *(name for group in groups for name in group.effects)]):
        for place, group in enumerate(groups):
            for effect in sorted(group.effects.get(name, ()), key=lambda effect: -effect.share):
                found.setdefault((name, effect.value), {})[place] = effect
    rows, extra = [], []
    for (name, value), by_group in found.items():
        row: dict[str, object] = {"setting": name, "value": value}
        value_text: dict[str, object] = {}
        for place, effect in by_group.items():
            row |= {
                f"share_{place}": effect.share,
                f"loss_{place}": effect.loss,
                f"error_{place}": effect.standard_error,
            }
            most = max(other.share for other in groups[place].effects[name])
            value_text[f"share_{place}"] = joined(
                tag("b", share(effect.share)) if effect.share == most else share(effect.share),
                tag("span", " " + _cost(effect.loss), class_="quiet"),
            )
        rows.append(row)
        extra.append(value_text)
    fields = [Field("Setting", "name", key="setting"), Field("Value", "name", key="value")]
    for place, group in enumerate(groups):
        title = f"{first_upper(group.label)} ({group.n_datasets:,})"
        fields.append(
            Field(title, "number", key=f"share_{place}", first="down", show=share, extra=place == 0 < len(groups) - 1)
        )
        fields.append(Field(f"Loss, {group.label}", "number", key=f"loss_{place}", is_hidden=True))
        fields.append(Field(f"Error, {group.label}", "number", key=f"error_{place}", is_hidden=True))
    return Sheet("effects", fields, rows, title="Best settings by size", extra=extra, is_long=True)


def trend_sheet(trends: pd.DataFrame) -> Sheet:
    """Return how the best value of each number goes with the size of the data, the strongest first."""
    ordered = trends.reindex(trends["correlation"].abs().sort_values(ascending=False, kind="stable").index)
    columns = ("hyperparameter", "size", "correlation", "p_value", "n_datasets")
    rows = [
        {
            "setting": str(name),
            "size": SIZES.get(str(size), str(size)),
            "correlation": float(correlation),
            "p": float(p_value),
            "datasets": int(n),
        }
        for name, size, correlation, p_value, n in zip(*(ordered[column] for column in columns), strict=True)
    ]
    fields = [
        Field("Setting", "name", key="setting"),
        Field("Goes with", "name", key="size"),
        Field("Rank correlation", "number", key="correlation", first="down", show=_signed),
        Field("p-value", "number", key="p", show=rounded),
        Field("Data sets", "number", key="datasets", first="down"),
    ]
    return Sheet("trends", fields, rows, title="Best values and size")


def _cost(loss: float) -> str:
    return f"{round(-loss, 3) + 0.0:.3f}".replace("-", "−")


def _signed(value: float) -> str:
    return f"{value:+.2f}".replace("-", "−")


def range_sheet(found: Sequence[SuggestedRange]) -> Sheet:
    """Return the range of each setting that is worth searching; the narrowest first."""
    rows = [
        {
            "setting": item.name,
            "range": ", ".join(map(value_text, item.choices))
            if item.choices
            else f"{value_text(item.low)} to {value_text(item.high)}",
            "kept": item.kept,
            "datasets": item.n_datasets,
        }
        for item in sorted(found, key=lambda item: item.kept)
    ]
    fields = [
        Field("Setting", "name", key="setting"),
        Field("Worth searching", key="range"),
        Field("Part of the range", "number", key="kept", show=share),
        Field("Data sets", "number", key="datasets", first="down"),
    ]
    return Sheet("ranges", fields, rows, title="Ranges worth searching", sorted_by="kept")


def gain_sheet(gains: Sequence[Gain]) -> Sheet:
    """Return what tuning each setting alone gains, most first."""
    rows = [
        {
            "setting": gain.name,
            "gain": gain.mean,
            "error": gain.standard_error,
            "held_out": gain.held_out,
            "datasets": gain.n_datasets,
        }
        for gain in gains
    ]
    fields = [
        Field("Setting", "name", key="setting"),
        Field("Gain", "number", key="gain", first="down", show=lambda value: fixed(value, 4)),
        Field("± error", "number", key="error", show="{:.4f}".format),
        Field("Held out", "number", key="held_out", first="down", show=lambda value: fixed(value, 4)),
        Field("Data sets", "number", key="datasets", first="down", extra=True),
    ]
    return Sheet("tunability", fields, rows, title="Gain by setting", sorted_by="gain")
