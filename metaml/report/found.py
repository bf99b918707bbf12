"""The opening of a report: what was found, in words and numbers, and what was read to find it."""

import math
from collections.abc import Mapping

from metaml.report.data import Final, ReportData
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.split_wording import own_test_sentence, split_sentences, weight_sentences
from metaml.report.tables import Bar, TableColumn, bars, facts, figure, paragraph, settings, side_by_side, table, tiles
from metaml.report.wording import (
    basis,
    best_default,
    comparison,
    complete,
    counted,
    direction,
    directions_sentence,
    duration,
    error_text,
    is_gain_clear,
    metric_label,
    model_words,
    number,
    rounded,
    score_error,
    score_text,
    share,
    validated,
)

MOST_REPAIRS, MOST_CLASSES, MOST_MEMBERS = 50, 12, 30
TASK_WORDS = {"binary": "two classes", "multiclass": "several classes", "regression": "a number"}
QUANTILE_NAMES = ("least", "lower quarter", "median", "upper quarter", "largest")


def headline(data: ReportData) -> Html:
    """Return the title, what was found in a sentence or two, and the numbers that stand out."""
    final = data.final
    said = []
    if final is None:
        said.append("No model was found.")
    else:
        reached = f"{model_words(data)} predicts"
        label = f"{metric_label(data.metric)}{basis(data)} "
        score = tag("span", f"{score_text(data.metric, final.score)}{score_error(data)}", class_="whole")
        if math.isfinite(final.score):
            said.append(
                joined(
                    reached, " ", _name(data.dataset.target), f" with a {validated(data)} ", tag("b", label, score), "."
                )
            )
        else:
            said.append(joined(reached, " ", _name(data.dataset.target), "; its score could not be measured."))
        said.append(comparison(data))
        said.append(own_test_sentence(data))
    warning = None
    if final is not None and final.kind == "fallback":
        why = final.why or "nothing better could be fitted within the budget; give it more time"
        warning = paragraph(f"This is a fallback: {why}.", class_="warning")
    return tag(
        "header",
        tag("p", "metaml report", class_="kicker"),
        tag("h1", shortened(data.dataset.name, 80)),
        paragraph(*(piece for sentence in said if sentence for piece in (sentence, " ")), class_="lead"),
        warning,
        tiles(_numbers(data)),
    )


def _numbers(data: ReportData) -> list[tuple[str, object, object]]:
    final, best = data.final, best_default(data)
    shown: list[tuple[str, object, object]] = []
    if final is not None and math.isfinite(final.score):
        value = _with_error(score_text(data.metric, final.score), score_error(data))
        shown.append((metric_label(data.metric), value, direction(data.metric)))
        if best is not None and is_gain_clear(data):
            error = error_text(data.evidence.gain_error if data.evidence else None)
            gain = _with_error(_signed(final.score - best[1]), error)
            shown.append(("Gain over the best default", gain, shortened(best[0], 40)))
        elif best is not None:
            shown.append(("Best default", score_text(data.metric, best[1]), shortened(f"{best[0]}: no clear gain", 40)))
    ok = len(complete(data))
    shown.append(("Evaluations", f"{len(data.trials):,}", f"{ok:,} complete"))
    budget = data.session.budget_seconds
    of_budget = "no time limit" if budget is None else f"of {duration(budget)}"
    shown.append(("Time", duration(data.session.used_seconds), of_budget))
    return shown


def _with_error(value: str, error: str) -> Html:
    """Return a number with its error in smaller letters beside it, on the same line."""
    return joined(value, " ", tag("span", error.strip(), class_="error")) if error else joined(value)


def _signed(gain: float) -> str:
    return f"+{rounded(gain, 2)}" if gain > 0 else rounded(gain + 0.0, 2)


def model(data: ReportData) -> Html | None:
    """Return what the saved model consists of."""
    final = data.final
    if final is None:
        return None
    parts: list[object] = [paragraph(_kind_sentence(final))]
    if final.members:
        rows = [
            [
                place,
                shortened(member.algorithm, 30),
                *([member.layer] if final.n_layers > 1 else []),
                share(member.weight) if member.weight else "feeds layer 2",
                score_text(data.metric, member.score),
                settings(member.config),
            ]
            for place, member in enumerate(
                sorted(final.members, key=lambda member: -member.weight)[:MOST_MEMBERS], start=1
            )
        ]
        columns = [
            TableColumn("", "number"),
            TableColumn("Algorithm", "name"),
            *([TableColumn("Layer", "number")] if final.n_layers > 1 else []),
            TableColumn("Weight", "number"),
            TableColumn("Alone", "number"),
            TableColumn("Settings", "wide"),
        ]
        parts.append(table(columns, rows))
    if final.multipliers:
        parts.append(_multipliers(data.metric, final.multipliers))
    if final.kind != "fallback":
        caution = "The score was also used to choose the model, so expect slightly less on new rows."
        parts.append(paragraph(caution, class_="note"))
    return joined(*parts)


def _multipliers(metric: str, multipliers: Mapping[str, float]) -> Html:
    """Return what was tuned about the decision between classes."""
    why = f"The decision was tuned for {metric_label(metric)} on out-of-fold predictions: "
    if len(multipliers) == 2 and sum(multipliers.values()) > 0:
        (_, other), (name, own) = multipliers.items()
        return paragraph(
            why, "class ", _name(name), f" is predicted from a probability of {number(other / (other + own))}."
        )
    rows = [[shortened(name), number(factor)] for name, factor in list(multipliers.items())[:MOST_CLASSES]]
    said = paragraph(why, "each probability is multiplied by a factor before the largest is taken.")
    return joined(said, table([TableColumn("Class"), TableColumn("Factor", "number")], rows))


def shipped_sentence(shipped: str, why: str) -> str:
    """Return what was saved and why; empty if that is not known, as for a fallback, which says it itself."""
    return f"Saved: {shipped}, because {why}." if shipped else ""


def _kind_sentence(final: Final) -> str:
    return " ".join(filter(None, [_combined(final), shipped_sentence(final.shipped, final.why_shipped)]))


def _combined(final: Final) -> str:
    if final.kind == "fallback":
        return "A fallback was saved, so that there is a working model in any case."
    if final.kind == "single":
        return "One configuration was chosen."
    n = sum(member.weight > 0 for member in final.members)
    if not n:
        return "An ensemble."
    said = f"The predictions of {counted(n, 'model')} are averaged with these weights."
    if final.n_layers > 1:
        n_bases = sum(member.feeds for member in final.members)
        said += f" Those of layer 2 also read what {counted(n_bases, 'model')} of layer 1 predict."
    elif final.why_one_layer:
        said += f" A second layer was left out: {final.why_one_layer}."
    return said


def data_section(data: ReportData) -> Html:
    """Return what was read, how the target is distributed, and every repair."""
    dataset = data.dataset
    guessed = " (guessed: no target was named)" if dataset.target_was_guessed else ""
    known = facts(
        {
            "Rows": f"{dataset.n_rows:,}",
            "Features": f"{dataset.n_features:,}",
            "Target": joined(_name(dataset.target), guessed),
            "Task": f"{dataset.task}: {TASK_WORDS[dataset.task]}",
        }
    )
    target = _target(data)
    warnings = [paragraph(f"Warning: {warning}") for warning in dataset.warnings]
    said = [*split_sentences(data), directions_sentence(data), *weight_sentences(data)]
    split = [paragraph(sentence) for sentence in said if sentence]
    return joined(*warnings, side_by_side(known, target) if target else known, *split, _repairs(data))


def _target(data: ReportData) -> Html | None:
    dataset = data.dataset
    if dataset.class_counts:
        whole = sum(dataset.class_counts.values()) or 1
        most = max(dataset.class_counts.values()) or 1
        ordered = sorted(dataset.class_counts.items(), key=lambda item: -item[1])
        items = [Bar(name, n / most, f"{n:,} ({share(n / whole)})") for name, n in ordered[:MOST_CLASSES]]
        left = len(ordered) - MOST_CLASSES
        note = f"… and {left:,} more." if left > 0 else None
        return figure("Classes", bars(items, label="Rows of each class"), note=note)
    if len(dataset.target_quantiles) == len(QUANTILE_NAMES):
        quantiles = {
            name.capitalize(): rounded(value, 4)
            for name, value in zip(QUANTILE_NAMES, dataset.target_quantiles, strict=True)
        }
        return figure(joined("Values of ", _name(dataset.target)), facts(quantiles))
    return None


def _repairs(data: ReportData) -> Html:
    repairs = data.dataset.repairs
    if not repairs:
        return paragraph("The file was clean: nothing had to be repaired.", class_="note")
    rows = [
        [shortened(repair.column if repair.column is not None else "whole table", 40), repair.what, repair.why]
        for repair in repairs[:MOST_REPAIRS]
    ]
    left = len(repairs) - MOST_REPAIRS
    more = paragraph(f"… and {left:,} more.", class_="note") if left > 0 else None
    title = tag("h3", f"{counted(len(repairs), 'repair')}")
    return joined(title, table([TableColumn("Column"), TableColumn("What was done"), TableColumn("Why")], rows), more)


def _name(name: str) -> Html:
    return tag("code", shortened(name, 60))
