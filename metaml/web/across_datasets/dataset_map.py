"""The map: data sets near one another have similar metafeatures, and colours say which algorithm wins."""

import math
from collections import Counter
from urllib.parse import quote

from metaml.insight import DatasetMap, map_datasets
from metaml.report.charts import Axis
from metaml.report.markup import Html, joined, tag
from metaml.report.pictures import at, padded
from metaml.report.tables import figure
from metaml.report.wording import counted, fixed, listed, share
from metaml.web.catalogue import Catalogue, KnownDataset
from metaml.web.datasets import TASKS
from metaml.web.forms import chosen_link
from metaml.web.page import Asked, Page, empty, heading, section
from metaml.web.sheet import Field, Sheet, short
from metaml.web.words import algorithm_link, count_text, dataset_link

WIDTH, HEIGHT, MARGIN = 1000.0, 560.0, 34.0
N_COLOURS, LEAST_DATASETS, MOST_DOTS = 12, 3, 3000
OTHERS = "others"


def dataset_map(catalogue: Catalogue, asked: Asked) -> Page:
    """Return the data sets as a map."""
    task = asked.get("task") if asked.get("task") in TASKS else ""
    known = {
        item.fingerprint: item
        for item in catalogue.datasets().values()
        if item.winner is not None and (not task or item.task == task)
    }
    table = catalogue.metafeatures()
    found = [name for name in table.index if name in known][:MOST_DOTS]
    chips = [chosen_link("all tasks", "/map", is_chosen=not task)]
    chips += [chosen_link(name, asked.with_query(task=name, csv=None), is_chosen=name == task) for name in TASKS]
    choices = tag("p", *chips, class_="choices")
    if len(found) < LEAST_DATASETS:
        said = empty("A map needs three data sets with metafeatures and complete runs.")
        return Page(title="Map", content=joined(heading("Map"), choices, said), menu="Map")
    places = catalogue.kept(f"map-{task}", lambda: map_datasets(table.loc[found]))
    items = [known[name] for name in found]
    sheet = _sheet(items, places)
    lead = (
        f"{counted(len(items), 'data set')}: those near one another have similar metafeatures. The colour is the "
        "algorithm with the best complete run, the size says how many runs there are."
    )
    content = joined(
        heading("Map of the data sets", lead),
        choices,
        _figure(items, places),
        section("list", "The same as a table", sheet.html(asked.with_query(csv="map"))),
    )
    return Page(title="Map", content=content, menu="Map", sheets={"map": sheet})


def _figure(items: list[KnownDataset], found: DatasetMap) -> Html:
    """Return the picture with its legend and what its axes mean."""
    counts = Counter(str(item.winner) for item in items)
    named = [name for name, _ in counts.most_common(N_COLOURS - 1 if len(counts) > N_COLOURS else N_COLOURS)]
    x_axis = Axis(*padded(found.places["x"].min(), found.places["x"].max()), MARGIN, WIDTH - 8)
    y_axis = Axis(*padded(found.places["y"].min(), found.places["y"].max()), HEIGHT - MARGIN, 8)
    places, dots = _places(found), []
    for item in sorted(items, key=lambda item: -item.n_runs):
        place = named.index(str(item.winner)) if item.winner in named else N_COLOURS - 1
        size = 4.0 + 1.5 * math.log10(max(1, item.n_runs))
        hover = f"{item.name}: {item.winner} wins, {counted(item.n_runs, 'run')}, {item.n_rows or 0:,} rows"
        x, y = places[item.fingerprint]
        circle = tag(
            "circle", tag("title", hover), class_=f"spot series-{place}", cx=at(x_axis(x)), cy=at(y_axis(y)), r=at(size)
        )
        # The table below has the same links: the tab key need not visit every dot.
        dots.append(tag("a", circle, href=f"/datasets/{quote(item.fingerprint)}", tabindex="-1"))
    frame = [
        tag(
            "rect",
            class_="plain-frame",
            x=at(MARGIN),
            y="8",
            width=at(WIDTH - 8 - MARGIN),
            height=at(HEIGHT - MARGIN - 8),
        ),
        tag("text", _axis_text(found, 0), x=at(WIDTH / 2), y=at(HEIGHT - 10), text_anchor="middle", class_="axis"),
        tag(
            "text",
            _axis_text(found, 1),
            x="14",
            y=at(HEIGHT / 2),
            text_anchor="middle",
            class_="axis",
            transform=f"rotate(-90 14 {at(HEIGHT / 2)})",
        ),
    ]
    picture = tag(
        "svg",
        joined(*frame, *dots),
        viewBox=f"0 0 {WIDTH:g} {HEIGHT:g}",
        role="img",
        aria_label="Map of the data sets, coloured by the winning algorithm",
        class_="map-picture",
    )
    keys = [
        tag("span", tag("i", class_=f"key key-dot series-{place}"), f"{name} {counts[name]:,}")
        for place, name in enumerate(named)
    ]
    if len(counts) > len(named):
        rest = sum(n for name, n in counts.items() if name not in named)
        keys.append(tag("span", tag("i", class_=f"key key-dot series-{N_COLOURS - 1}"), f"{OTHERS} {rest:,}"))
    scroll = tag("div", picture, class_="scroll bare", tabindex="0", role="group", aria_label="Map")
    return figure(None, scroll, tag("p", *keys, class_="legend"))


def _places(found: DatasetMap) -> dict[str, tuple[float, float]]:
    pairs = found.places[["x", "y"]].to_numpy(float).tolist()
    return {str(name): (x, y) for name, (x, y) in zip(found.places.index, pairs, strict=True)}


def _axis_text(found: DatasetMap, place: int) -> str:
    """Return what an axis shows; the upright one has room for one name."""
    leading = listed(list(found.leading[place][: 2 - place])) if found.leading[place] else "metafeatures"
    return f"mostly {leading} ({share(found.explained[place])} of the variance)"


def _sheet(items: list[KnownDataset], found: DatasetMap) -> Sheet:
    fields = [
        Field("Data set", key="name", show=short(44)),
        Field("Best algorithm", "name", key="winner"),
        Field("Task", "name", key="task", extra=True),
        Field("Rows", "number", key="n_rows", first="down", show=count_text, extra=True),
        Field("Runs", "number", key="n_runs", first="down", show=count_text),
        Field("x", "number", key="x", show=lambda value: fixed(value, 2), extra=True),
        Field("y", "number", key="y", show=lambda value: fixed(value, 2), extra=True),
    ]
    rows, extra, places = [], [], _places(found)
    for item in sorted(items, key=lambda item: (-item.n_runs, item.name)):
        x, y = places[item.fingerprint]
        named = {name: getattr(item, name) for name in ("name", "winner", "task", "n_rows", "n_runs")}
        rows.append({**named, "x": x, "y": y})
        extra.append(
            {"name": dataset_link(item.name, item.fingerprint, 44), "winner": algorithm_link(str(item.winner))}
        )
    return Sheet("map", fields, rows, title="Data sets of the map", extra=extra, sorted_by="n_runs")
