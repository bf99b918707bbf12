"""What `metaml.insight` finds, as tables."""

from collections.abc import Sequence

import pandas as pd

from metaml.insight import Gain, Importance, SizeGroup, SuggestedRange
from metaml.insight.settings import shown
from metaml.report.wording import rounded, share
from metaml.web.sheet import Field, Sheet

SIZES = {"n_rows": "rows", "n_columns": "columns", "n_classes": "classes"}


def importance_sheet(found: Sequence[Importance]) -> Sheet:
    """Return how much each setting matters, most important first."""
    rows = [
        {
            "setting": item.name,
            "share": item.share,
            "divergence": item.divergence,
            "error": item.standard_error,
            "clear": "yes" if item.is_clear else "may be chance",
            "datasets": item.n_datasets,
        }
        for item in found
    ]
    fields = [
        Field("Setting", "name", key="setting"),
        Field("Share", "number", key="share", first="down", show=share),
        Field("Divergence", "number", key="divergence", first="down", show="{:.3f}".format),
        Field("± error", "number", key="error", show="{:.3f}".format),
        Field("Clear", "name", key="clear", extra=True),
        Field("Data sets", "number", key="datasets", first="down", extra=True),
    ]
    return Sheet("importance", fields, rows, title="Importance of the settings", sorted_by="share")


def effect_sheet(groups: Sequence[SizeGroup]) -> Sheet:
    """Return how often each value is best, and what it loses, in each group of sizes."""
    rows = [
        {
            "group": group.label,
            "setting": name,
            "value": effect.value,
            "share": effect.share,
            "loss": effect.loss,
            "error": effect.standard_error,
            "datasets": effect.n_datasets,
        }
        for group in groups
        for name, effects in group.effects.items()
        for effect in sorted(effects, key=lambda effect: -effect.share)
    ]
    fields = [
        Field("Data sets of", key="group"),
        Field("Setting", "name", key="setting"),
        Field("Value", "name", key="value"),
        Field("Best on", "number", key="share", first="down", show=share),
        Field("Loss", "number", key="loss", show="{:.4f}".format),
        Field("± error", "number", key="error", show="{:.4f}".format, extra=True),
        Field("Data sets", "number", key="datasets", first="down", extra=True),
    ]
    return Sheet("effects", fields, rows, title="Best settings by size")


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
        Field("Rank correlation", "number", key="correlation", first="down", show="{:+.2f}".format),
        Field("p-value", "number", key="p", show=rounded),
        Field("Data sets", "number", key="datasets", first="down"),
    ]
    return Sheet("trends", fields, rows, title="Best values and size")


def range_sheet(found: Sequence[SuggestedRange]) -> Sheet:
    """Return the range of each setting that is worth searching; the narrowest first."""
    rows = [
        {
            "setting": item.name,
            "range": ", ".join(map(shown, item.choices))
            if item.choices
            else f"{shown(item.low)} to {shown(item.high)}",
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
        Field("Gain", "number", key="gain", first="down", show="{:.4f}".format),
        Field("± error", "number", key="error", show="{:.4f}".format),
        Field("Held out", "number", key="held_out", first="down", show="{:.4f}".format),
        Field("Data sets", "number", key="datasets", first="down", extra=True),
    ]
    return Sheet("tunability", fields, rows, title="Gain by setting", sorted_by="gain")
