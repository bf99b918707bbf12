"""One data set: its best runs, who won, what its settings did, its neighbours, and what experience would try."""

import math
from statistics import median

from metaml.metafeatures.similarity import nearest
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.tables import paragraph, tiles, track
from metaml.report.wording import counted, fixed, rounded
from metaml.web.catalogue import Catalogue, KnownDataset, metrics_of_task
from metaml.web.forms import chosen_link
from metaml.web.hyperparameters import hyperparameters
from metaml.web.missing import NotThere
from metaml.web.page import Asked, Page, empty, heading, link, section
from metaml.web.run_table import run_sheet
from metaml.web.sheet import Field, Sheet, short
from metaml.web.suggestions import later, suggestion_sheet, suggestions
from metaml.web.words import (
    algorithm_link,
    as_shown,
    better,
    count_text,
    dataset_link,
    digits,
    metric_name,
    run_link,
)
from metaml_kb.browsing.listing import newest_complete, runs_by_number

N_BEST, N_NEIGHBOURS, MOST_DRAWN = 20, 10, 500
MOST_BEHIND = 3.0
"""The bar of an algorithm ends where it is this many times further behind than the middle one."""


def dataset(catalogue: Catalogue, asked: Asked, word: str) -> Page:
    """Return one data set."""
    item = catalogue.dataset(word)
    if item is None:
        raise NotThere(f"There is no data set {word[:60]!r}.", "/datasets", "All data sets")
    if asked.get("part") == "suggestions":
        return Page(title="", content=suggestions(catalogue, asked, item), is_part=True)
    if asked.get("csv") == "suggestions":
        found = suggestion_sheet(catalogue, item)
        return Page(title=item.name, content=Html(""), sheets={} if found is None else {found.name: found})
    metrics = metrics_of_task(catalogue.metrics().get(item.number, []), item.task)
    metric = asked.get("metric") if asked.get("metric") in metrics else (metrics[0] if metrics else "")
    head = joined(heading(shortened(item.name, 80), _lead(item, metric), kicker="Data set"), _tiles(item))
    trail = [("Data sets", "/datasets")]
    if not metric:
        body = empty("No complete run is stored for this data set yet.", _metafeatures(catalogue, item))
        return Page(title=item.name, content=joined(head, body), menu="Data sets", trail=trail)
    best = run_sheet(
        catalogue.best_runs(item, metric, N_BEST),
        {item.fingerprint: metric},
        name="best",
        title="Best runs",
        one_dataset=True,
        sorted_by="score",
        ranked=True,
    )
    won, near = _winner_sheet(catalogue, item, metric), _neighbour_sheet(catalogue, item)
    choices = [
        chosen_link(metric_name(name), asked.with_query(metric=name, csv=None), is_chosen=name == metric)
        for name in metrics
    ]
    all_runs = link("All runs on this data set", "runs", dataset=item.fingerprint, sort="best", metric=metric)
    content = joined(
        head,
        tag("p", tag("span", "Judged by "), *choices, class_="choices"),
        section("best", "Best runs", best.html(asked.with_query(csv="best")), tag("p", all_runs)),
        section(
            "winners",
            "Who won",
            paragraph(f"The best run of each algorithm by {metric_name(metric)} ({better(metric)})."),
            won.html(asked.with_query(csv="winners")),
        ),
        section("settings", "Settings against score", _settings(catalogue, asked, item, metric)),
        section("experience", "What experience would try", later(catalogue, asked, item)),
        section("neighbours", "Similar data sets", _neighbours(near, asked)),
        section("metafeatures", "Metafeatures", _metafeatures(catalogue, item)),
    )
    sheets = {"best": best, "winners": won, "neighbours": near}
    if asked.is_file and (tried := suggestion_sheet(catalogue, item)) is not None:
        sheets[tried.name] = tried
    return Page(title=item.name, content=content, menu="Data sets", trail=trail, sheets=sheets)


def _lead(item: KnownDataset, metric: str) -> str:
    target = f", target {item.target!r}" if item.target else ""
    said = f"{item.task}{target}, from {item.source}."
    if not metric or item.winner is None:
        return said[0].upper() + said[1:]
    return f"{said[0].upper()}{said[1:]} {counted(item.n_runs, 'run')}, {item.n_complete:,} of them complete."


def _tiles(item: KnownDataset) -> Html:
    known = [
        ("Rows", item.n_rows),
        ("Columns", item.n_columns),
        ("Classes", item.n_classes),
        ("Runs", item.n_runs),
    ]
    shown: list[tuple[str, object, object]] = [(name, f"{value:,}", "") for name, value in known if value is not None]
    if item.winner is not None:
        title = f"Best {metric_name(item.metric)}"
        shown.append((title, digits(item.metric, item.best), algorithm_link(item.winner)))
    return tiles(shown)


def _winner_sheet(catalogue: Catalogue, item: KnownDataset, metric: str) -> Sheet:
    found = catalogue.winners(item, metric)
    counts: dict[str, int] = {}
    names = catalogue.algorithms()
    for (number, algorithm, _), n in catalogue.digest.counts.items():
        if number == item.number:
            counts[names.get(algorithm, "?")] = counts.get(names.get(algorithm, "?"), 0) + n
    with catalogue.connected() as connection:
        keys = {run.number: run.key for run in runs_by_number(connection, [run for _, _, run in found])}
    best = found[0][1]
    # One that is far behind must not make all others look alike.
    low = max(found[-1][1], best - MOST_BEHIND * median(best - score for _, score, _ in found))
    rows = [
        {
            "place": place,
            "algorithm": name,
            "score": as_shown(metric, score),
            "behind": best - score,
            "runs": counts.get(name, 0),
            "best_run": keys.get(run),
        }
        for place, (name, score, run) in enumerate(found, start=1)
    ]
    extra = [
        {
            "algorithm": algorithm_link(str(row["algorithm"])),
            "": track(0.04 + 0.96 * max(score - low, 0.0) / ((best - low) or 1.0)),
            "score": digits(metric, score),
            "best_run": run_link(str(row["best_run"])),
        }
        for row, (_, score, _) in zip(rows, found, strict=True)
    ]
    fields = [
        Field("", "number", key="place"),
        Field("Algorithm", "name", key="algorithm"),
        Field("", "length", key=""),
        Field(f"Best {metric_name(metric)}", "number", key="score", first="down", show=rounded),
        Field("Behind", "number", key="behind", show=lambda value: fixed(value, 4)),
        Field("Runs", "number", key="runs", first="down", show=count_text),
        Field("Its run", "name", key="best_run"),
    ]
    return Sheet("winners", fields, rows, title="Best of each algorithm", extra=extra, sorted_by="place")


def _settings(catalogue: Catalogue, asked: Asked, item: KnownDataset, metric: str) -> Html:
    """Return what the hyperparameters of one algorithm did; links choose which."""
    names = {name: number for number, name in catalogue.algorithms().items()}
    won = [name for name, _, _ in catalogue.winners(item, metric)]
    counts = {names[name]: 0 for name in won}
    for (number, algorithm, status), n in catalogue.digest.counts.items():
        if number == item.number and status == "ok" and algorithm in counts:
            counts[algorithm] += n
    most = max(won, key=lambda name: counts[names[name]])
    chosen = asked.get("algorithm") if asked.get("algorithm") in won else most
    with catalogue.connected() as connection:
        runs = newest_complete(connection, item.number, names[chosen], MOST_DRAWN)
    choices = [
        chosen_link(name, asked.with_query(algorithm=name, csv=None, part=None) + "#settings", is_chosen=name == chosen)
        for name in won
    ]
    return joined(tag("p", *choices, class_="choices"), hyperparameters(runs, metric, chosen))


def _neighbour_sheet(catalogue: Catalogue, item: KnownDataset) -> Sheet:
    found = catalogue.kept(f"near-{item.number}", lambda: _nearest(catalogue, item))
    known = {other.fingerprint: other for other in catalogue.datasets().values()}
    rows, extra = [], []
    for fingerprint, distance in found:
        other = known[fingerprint]
        rows.append(
            {
                "name": other.name,
                "distance": distance,
                "n_rows": other.n_rows,
                "n_columns": other.n_columns,
                "n_classes": other.n_classes,
                "winner": other.winner,
                "n_runs": other.n_runs,
            }
        )
        extra.append(
            {
                "name": dataset_link(other.name, fingerprint),
                **({} if other.winner is None else {"winner": algorithm_link(other.winner)}),
            }
        )
    fields = [
        Field("Data set", key="name", show=short(40)),
        Field("Distance", "number", key="distance", show="{:.3f}".format),
        Field("Rows", "number", key="n_rows", first="down", show=count_text),
        Field("Columns", "number", key="n_columns", first="down", show=count_text, extra=True),
        Field("Classes", "number", key="n_classes", first="down", show=count_text, extra=True),
        Field("Best algorithm", "name", key="winner"),
        Field("Runs", "number", key="n_runs", first="down", show=count_text, extra=True),
    ]
    return Sheet("neighbours", fields, rows, title="Similar data sets", extra=extra, sorted_by="distance")


def _nearest(catalogue: Catalogue, item: KnownDataset) -> list[tuple[str, float]]:
    table = catalogue.metafeatures()
    if item.fingerprint not in table.index:
        return []
    others = table.drop(index=item.fingerprint)
    tasks = {other.fingerprint: other.task for other in catalogue.datasets().values()}
    is_regression = item.task == "regression"
    alike = [name for name in others.index if (tasks.get(name) == "regression") == is_regression]
    own = dict(zip(map(str, table.columns), table.loc[[item.fingerprint]].to_numpy(float)[0].tolist(), strict=True))
    return nearest(own, others.loc[alike], n=N_NEIGHBOURS)


def _neighbours(sheet: Sheet, asked: Asked) -> Html:
    if not sheet.rows:
        return empty("No metafeatures are stored for this data set, so no similar ones are known.")
    said = (
        "Nearest by eleven cheap metafeatures (size, classes, kinds of columns, missing cells); the distance is the "
        "mean difference in units of their spread over all data sets."
    )
    return joined(paragraph(said), sheet.html(asked.with_query(csv="neighbours")))


def _metafeatures(catalogue: Catalogue, item: KnownDataset) -> Html:
    values = catalogue.kb.metafeature_values(item.fingerprint)
    if not values:
        return paragraph("None are stored.")
    listed = [
        tag("div", tag("dt", name), tag("dd", "undefined" if math.isnan(value) else rounded(value)))
        for name, value in sorted(values.items())
    ]
    said = counted(len(values), "metafeature")
    return tag("details", tag("summary", said), tag("dl", *listed, class_="facts"))
