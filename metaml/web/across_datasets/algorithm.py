"""One algorithm over all data sets: which settings matter, what is best where, and what tuning gains."""

import math

from metaml.errors import MetamlError
from metaml.experience.insight_runs import algorithm_runs
from metaml.insight import AlgorithmRuns, best_settings, importance, suggested_ranges, tunability
from metaml.insight.settings import value_text
from metaml.report.markup import Html, joined, shortened, tag
from metaml.report.pictures import padded
from metaml.report.tables import Bar, bars, figure, paragraph, settings, tiles
from metaml.report.wording import counted, rounded, share
from metaml.web.across_datasets.algorithms import datasets_for
from metaml.web.across_datasets.insight_tables import (
    effect_sheet,
    gain_sheet,
    importance_sheet,
    range_sheet,
    trend_sheet,
)
from metaml.web.catalogue import Catalogue
from metaml.web.forms import chosen_link
from metaml.web.missing import NotThere
from metaml.web.page import Asked, Page, beside, empty, heading, section
from metaml.web.pictures import SettingAxis, setting_picture
from metaml.web.sheet import Sheet
from metaml.web.words import count_text, metric_name

MOST_RUNS, MOST_CHOICES, N_DRAWN = 8_000, 8, 6
PARTS = ("settings", "tunability")
LOG_RATIO = 50.0


def algorithm(catalogue: Catalogue, asked: Asked, name: str) -> Page:
    """Return one algorithm; what takes seconds to compute is asked for by the page when it is there."""
    number = next((key for key, word in catalogue.algorithms().items() if word == name), None)
    if number is None:
        raise NotThere(f"No run of {name[:60]!r} is stored.", "/algorithms", "All algorithms")
    metrics = _metrics(catalogue, number)
    metric = asked.get("metric") if asked.get("metric") in metrics else (metrics[0] if metrics else "")
    head = joined(heading(shortened(name, 60), _lead(catalogue, number), kicker="Algorithm"), _tiles(catalogue, number))
    trail = [("Algorithms", "/algorithms")]
    if not metric:
        return Page(
            title=name, content=joined(head, empty("No run of it is complete.")), menu="Algorithms", trail=trail
        )
    if asked.get("csv") in SHEETS:
        return Page(title=name, content=Html(""), sheets=_sheets(catalogue, number, name, metric, asked.get("csv")))
    if asked.get("part") in PARTS:
        return Page(title="", content=_part(catalogue, asked, number, name, metric), is_part=True)
    chips = [
        chosen_link(metric_name(word), asked.with_query(metric=word, csv=None), is_chosen=word == metric)
        for word in metrics[:MOST_CHOICES]
    ]
    content = joined(
        head,
        tag("p", tag("span", "Judged by "), *chips, class_="choices"),
        *(_later(catalogue, asked, number, name, metric, part) for part in PARTS),
    )
    sheets: dict[str, Sheet] = {}
    if asked.is_file:
        for key in SHEETS:
            sheets |= _sheets(catalogue, number, name, metric, key)
    return Page(title=name, content=content, menu="Algorithms", trail=trail, sheets=sheets)


def _metrics(catalogue: Catalogue, number: int) -> list[str]:
    """Return the metrics of an algorithm's runs; that of most data sets' task first."""
    counts: dict[str, int] = {}
    usual: dict[str, int] = {}
    known = catalogue.datasets()
    for (dataset, metric), best in catalogue.digest.best.items():
        if number in best:
            counts[metric] = counts.get(metric, 0) + 1
            usual[metric] = usual.get(metric, 0) + (known[dataset].metric == metric)
    return sorted(counts, key=lambda name: (-usual[name], -counts[name], name))


def _lead(catalogue: Catalogue, number: int) -> str:
    won = sum(item.winner == catalogue.algorithms()[number] for item in catalogue.datasets().values())
    return f"It has the best complete run on {counted(won, 'data set')}."


def _tiles(catalogue: Catalogue, number: int) -> Html:
    runs = complete = 0
    on = set()
    for (dataset, found, status), n in catalogue.digest.counts.items():
        if found == number:
            runs, complete = runs + n, complete + (n if status == "ok" else 0)
            on.add(dataset)
    busy = sum(spent for (_, found), spent in catalogue.digest.seconds.items() if found == number)
    return tiles(
        [
            ("Runs", count_text(runs), f"{share(complete / max(1, runs))} complete"),
            ("Data sets", count_text(len(on)), "with a run of it"),
            ("Mean cost", f"{busy / max(1, runs):.2f} s", "fit and predict, all folds"),
        ]
    )


def _runs(catalogue: Catalogue, number: int, name: str, metric: str) -> AlgorithmRuns:
    """Return its runs, of as many data sets as a page can look at."""

    def load() -> AlgorithmRuns:
        return algorithm_runs(catalogue.kb, name, metric=metric, datasets=datasets_for(catalogue, number, MOST_RUNS))

    return catalogue.kept(f"runs-{number}-{metric}", load)


def _later(catalogue: Catalogue, asked: Asked, number: int, name: str, metric: str, part: str) -> Html:
    """Return a part if it is at hand, else a place that asks for it when the page is there."""
    if asked.is_file or catalogue.has_kept(f"{part}-{number}-{metric}"):
        return _part(catalogue, asked, number, name, metric, part)
    waiting = tag("p", "Looking at its runs on all data sets …", class_="quiet waiting")
    ask = {"hx_get": asked.with_query(part=part, csv=None), "hx_trigger": "load", "hx_swap": "outerHTML"}
    return tag("div", waiting, aria_live="polite", **ask)


def _part(catalogue: Catalogue, asked: Asked, number: int, name: str, metric: str, part: str = "") -> Html:
    wanted = part or asked.get("part")
    write = _settings if wanted == "settings" else _tunability
    try:
        return write(catalogue, asked, number, name, metric)
    except MetamlError as error:
        return empty(str(error))


def _settings(catalogue: Catalogue, asked: Asked, number: int, name: str, metric: str) -> Html:
    """Return importance, best settings by size, trends and ranges."""
    runs = _runs(catalogue, number, name, metric)
    sheets = catalogue.kept(f"settings-{number}-{metric}", lambda: _setting_sheets(runs))
    if not sheets["importance"].rows:
        return section(
            "importance", "Which settings matter", empty("It needs 8 random runs on a data set; metaml bot makes them.")
        )
    rows = sheets["importance"].rows
    most = max(float(row["share"]) for row in rows) or 1.0
    items = [Bar(str(row["setting"]), float(row["share"]) / most, share(float(row["share"]))) for row in rows]
    picture = figure("Share of the importance", bars(items, label="Importance of the settings"))

    def table(key: str) -> Html:
        return sheets[key].html(asked.with_query(csv=key, part=None))

    about = (
        f"From {counted(len(runs.scores), 'configuration')} on {counted(runs.n_datasets, 'data set')}. Only runs that "
        "no search proposed count, each by its sampling probability. PED-ANOVA: how much the best runs of a data set "
        "differ from all in this setting."
    )
    drawn = _best_values(runs, [str(row["setting"]) for row in rows])
    return joined(
        section("importance", "Which settings matter", paragraph(about), beside(picture, table("importance"))),
        section(
            "best",
            "Best settings by size",
            paragraph("The best value on each data set; a dot is a data set."),
            tag("div", *drawn, class_="grid-3"),
            paragraph(
                "On how many of the data sets a value is best, and in grey what it costs on average to fix it there "
                f"({metric_name(metric)}). The value that is best most often is bold."
            ),
            table("effects"),
        ),
        section("trends", "Does the best value go with the size?", table("trends")) if sheets["trends"].rows else None,
        section("ranges", "Ranges worth searching", _range_text(), table("ranges")),
    )


def _range_text() -> Html:
    return paragraph(
        "Where the best quarter of the runs lies on nine data sets in ten, and which part of the range that is."
    )


def _setting_sheets(runs: AlgorithmRuns) -> dict[str, Sheet]:
    found, matter = best_settings(runs), importance(runs)
    return {
        "importance": importance_sheet(matter),
        "effects": effect_sheet(found.groups, [item.name for item in matter]),
        "trends": trend_sheet(found.trends),
        "ranges": range_sheet(suggested_ranges(runs)),
    }


def _best_values(runs: AlgorithmRuns, names: list[str]) -> list[Html]:
    """Return the best value of each data set against its rows, for the settings that matter most."""
    table = best_settings(runs, split_rows=()).table
    known = {setting.name: setting for setting in runs.settings}
    pictures: list[Html] = []
    for name in names:
        setting = known[name]
        if setting.choices or len(pictures) >= N_DRAWN:
            continue
        rows = table["n_rows"].astype(float).tolist()
        pairs = [
            (size, float(value), str(title))
            for size, value, title in zip(rows, table[name], table["name"], strict=True)
            if isinstance(value, int | float) and math.isfinite(value) and math.isfinite(size) and size > 0
        ]
        if len(pairs) < 3:
            continue
        is_log = setting.is_log and min(value for _, value, _ in pairs) > 0
        heights = [value for _, value, _ in pairs]
        sizes = [size for size, _, _ in pairs]
        scale = SettingAxis("rows", min(sizes), max(sizes), is_log=max(sizes) / min(sizes) >= LOG_RATIO)
        texts = [f"{title}: best at {value_text(value)}" for _, value, title in pairs]
        ends = min(heights), max(heights)
        drawn = setting_picture(
            sizes,
            heights,
            scale,
            texts,
            name="rows",
            y_label="best value",
            window=(ends[0] / 1.3, ends[1] * 1.3) if is_log else padded(*ends),
            log_y=is_log,
        )
        pictures.append(figure(name, drawn))
    return pictures


def _tunability(catalogue: Catalogue, asked: Asked, number: int, name: str, metric: str) -> Html:
    """Return what tuning gains over the default, in all and by setting."""
    runs = _runs(catalogue, number, name, metric)
    found = catalogue.kept(f"tunability-{number}-{metric}", lambda: tunability(runs))
    title = "What tuning gains"
    if found is None:
        return section("tunability", title, empty("It needs 20 runs on one data set; metaml bot makes them."))
    gains = [gain for gain in (found.over_default, found.over_best_single) if gain is not None]
    words = ["over the default", "over the best single configuration"][-len(gains) :]
    head = tiles(
        [
            (f"Gain {word}", f"{gain.mean:.4f}", f"± {gain.standard_error:.4f}, {gain.n_datasets} data sets")
            for word, gain in zip(words, gains, strict=True)
        ]
    )
    sheet = gain_sheet(found.hyperparameters)
    most = max((gain.mean for gain in found.hyperparameters), default=0.0) or 1.0
    items = [
        Bar(gain.name, gain.mean / most, rounded(gain.mean), spread=gain.standard_error / most)
        for gain in found.hyperparameters
    ]
    looked_up = "All have runs of the same configurations, so no score had to be predicted."
    fitted = f"The models of the data sets explain {share(max(0.0, found.fit))} of the variance of the scores."
    about = (
        f"In {metric_name(found.metric)}, as a mean over data sets, after Probst, Boulesteix and Bischl (2019). "
        f"{looked_up if found.fit >= 1 else fitted}"
    )
    by_setting = beside(
        figure("Gain if only this is tuned", bars(items, label="Gain by setting")),
        sheet.html(asked.with_query(csv="tunability", part=None)),
    )
    unknown = "No two of them differ in one setting only, so what a single setting gains is not known."
    return section(
        "tunability",
        title,
        paragraph(about),
        head,
        by_setting if items else paragraph(unknown),
        paragraph("The best single configuration over all data sets: ", settings(found.best_single)),
    )


SHEETS = ("importance", "effects", "trends", "ranges", "tunability")


def _sheets(catalogue: Catalogue, number: int, name: str, metric: str, key: str) -> dict[str, Sheet]:
    try:
        runs = _runs(catalogue, number, name, metric)
        if key == "tunability":
            found = catalogue.kept(f"tunability-{number}-{metric}", lambda: tunability(runs))
            return {} if found is None else {key: gain_sheet(found.hyperparameters)}
        return {key: catalogue.kept(f"settings-{number}-{metric}", lambda: _setting_sheets(runs))[key]}
    except MetamlError:
        return {}
