"""All runs: filtered, sorted, a hundred a page, and chosen to be compared."""

from collections.abc import Sequence

from metaml.report.markup import Html, joined, tag
from metaml.report.tables import paragraph
from metaml.report.wording import ORIGIN_WORDS, STATUS_WORDS, counted
from metaml.web.catalogue import Catalogue, KnownDataset, metrics_of_task
from metaml.web.forms import choice, filter_form, text_field
from metaml.web.page import Asked, Page, empty, heading, link
from metaml.web.run_table import run_sheet
from metaml.web.words import metric_name
from metaml_kb.browsing.digest import MOST_BEST
from metaml_kb.browsing.listing import (
    ListedRun,
    Wanted,
    next_runs,
    numbers_by_score,
    numbers_by_seconds,
    runs_by_number,
)

MOST_DIGITS = 15
PER_PAGE = 100
MOST_SORTED = 20_000
"""Runs that are sorted for a page; of more on one data set, only the best hundred are known."""
MOST_DOWNLOADED = 5_000
MOST_IN_FILE = 500
ORDERS = {"newest": "newest first", "oldest": "oldest first", "best": "best first", "longest": "longest first"}


def runs(catalogue: Catalogue, asked: Asked) -> Page:
    """Return the runs that pass a filter."""
    dataset = catalogue.dataset(asked.get("dataset").strip()) if asked.get("dataset") else None
    wanted, missing = _wanted(catalogue, asked, dataset)
    order = asked.get("sort") if asked.get("sort") in ORDERS else "newest"
    if dataset is None and order in ("best", "longest"):
        missing.append(f"Choose a data set to sort all its runs {ORDERS[order]}; these are the newest.")
        order = "newest"
    metrics = {item.fingerprint: item.metric for item in catalogue.datasets().values()}
    chosen = _metric(catalogue, asked, dataset)
    if dataset is not None:
        metrics[dataset.fingerprint] = chosen
    is_csv = bool(asked.get("csv"))
    limit = MOST_DOWNLOADED if is_csv else MOST_IN_FILE if asked.is_file else PER_PAGE
    found, notes, following = _found(catalogue, asked, wanted, order, chosen, limit)
    one = dataset is not None
    sheet = run_sheet(
        found,
        metrics,
        one_dataset=one and not is_csv,
        chosen=not is_csv and not asked.is_file,
        sorted_by={"newest": "finished_at", "best": "score", "longest": "seconds"}.get(order, ""),
    )
    rows = sheet.html(asked.with_query(csv="runs", after=None))
    table = (
        rows
        if asked.is_file
        else tag(
            "form",
            tag("p", tag("button", "Compare selected", type="submit", class_="compare"), class_="tools above"),
            rows,
            action="/compare",
            method="get",
            class_="picking",
        )
    )
    further = (
        None
        if following is None or asked.is_file
        else tag("a", "Next 100 runs", href=following, rel="next", class_="more")
    )
    content = joined(
        heading("Runs", _lead(catalogue, dataset, is_file=asked.is_file)),
        None if asked.is_file else _form(catalogue, asked, order, chosen, dataset),
        *(paragraph(note, class_="note") for note in (*missing, *notes)),
        table if found else empty("No run passes this filter.", tag("p", link("Show all runs", "runs"))),
        tag("p", further) if further else None,
    )
    return Page(title="Runs", content=content, menu="Runs", sheets={"runs": sheet})


def _lead(catalogue: Catalogue, dataset: KnownDataset | None, *, is_file: bool) -> str:
    if is_file:
        return (
            f"The newest {MOST_IN_FILE:,} of {counted(catalogue.digest.n_runs, 'run')}; metaml web shows all of them."
        )
    if dataset is None:
        return f"{counted(catalogue.digest.n_runs, 'run')}, a hundred a page. Choose two to eight to compare them."
    return f"{counted(dataset.n_runs, 'run')} on {dataset.name[:80]}, {dataset.n_complete:,} of them complete."


def _wanted(catalogue: Catalogue, asked: Asked, dataset: KnownDataset | None) -> tuple[Wanted, list[str]]:
    """Return the filter, and a sentence for each word that names nothing."""
    missing = []
    if asked.get("dataset") and dataset is None:
        missing.append(f"No single data set is called {asked.get('dataset')[:60]!r}; all are shown.")
    numbers = {name: number for number, name in catalogue.algorithms().items()}
    session = catalogue.session(asked.get("session").strip()) if asked.get("session") else None
    if asked.get("session") and session is None:
        missing.append(f"No single session begins with {asked.get('session')[:60]!r}; all are shown.")
    return (
        Wanted(
            dataset=None if dataset is None else dataset.number,
            algorithm=numbers.get(asked.get("algorithm")),
            session=None if session is None else session.number,
            status=asked.get("status") if asked.get("status") in STATUS_WORDS else None,
            origin=asked.get("origin") if asked.get("origin") in ORIGIN_WORDS else None,
        ),
        missing,
    )


def _metric(catalogue: Catalogue, asked: Asked, dataset: KnownDataset | None) -> str:
    if dataset is None:
        return ""
    known = catalogue.metrics().get(dataset.number, [])
    return asked.get("metric") if asked.get("metric") in known else dataset.metric


def _found(
    catalogue: Catalogue, asked: Asked, wanted: Wanted, order: str, metric: str, limit: int
) -> tuple[Sequence[ListedRun], list[str], str | None]:
    """Return the runs of a page, remarks, and the address of the next page if there is one."""
    word = asked.get("after")
    after = int(word) if word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS else None
    with catalogue.connected() as connection:
        if order in ("newest", "oldest"):
            by = "newest" if order == "newest" else "oldest"
            found = next_runs(connection, catalogue.digest, wanted, limit=limit, after=after, order=by)  # type: ignore[arg-type]
            following = asked.with_query(after=found[-1].number, csv=None) if len(found) == limit else None
            return found, [], following
        offset = min(after or 0, MOST_SORTED)
        only_dataset = wanted == Wanted(dataset=wanted.dataset)
        n_runs = sum(n for (number, _, _), n in catalogue.digest.counts.items() if number == wanted.dataset)
        if order == "best" and only_dataset and (n_runs > MOST_SORTED or offset + limit <= MOST_BEST):
            _, numbers = catalogue.digest.top.get((wanted.dataset or 0, metric), ((), ()))
            note = [f"The best {MOST_BEST} of {n_runs:,} runs."] if n_runs > MOST_SORTED else []
            is_more = n_runs <= MOST_SORTED and len(numbers) == MOST_BEST
            following = asked.with_query(after=PER_PAGE, csv=None) if is_more else None
            return runs_by_number(connection, list(numbers)), note, following
        if n_runs > MOST_SORTED and order == "longest" and wanted.algorithm is None:
            found = next_runs(connection, catalogue.digest, wanted, limit=limit, after=after)
            return found, [f"{n_runs:,} runs are too many to sort; choose an algorithm. The newest are shown."], None
        numbers = catalogue.kept(
            f"order-{wanted}-{order}-{metric}",
            lambda: (
                numbers_by_score(connection, wanted, metric)
                if order == "best"
                else numbers_by_seconds(connection, wanted)
            ),
        )
        shown = runs_by_number(connection, list(numbers[offset : offset + limit]))
    is_more = len(numbers) > offset + limit
    return shown, [], asked.with_query(after=offset + limit, csv=None) if is_more else None


def _form(catalogue: Catalogue, asked: Asked, order: str, metric: str, dataset: KnownDataset | None) -> Html:
    algorithms = sorted(catalogue.algorithms().values())
    word = asked.get("dataset") if dataset is None else dataset.name
    fields = [
        text_field("dataset", "Data set", word, kind="search"),
        choice("algorithm", "Algorithm", {"": "all", **{name: name for name in algorithms}}, asked.get("algorithm")),
        choice("status", "Ended", {"": "any way", **STATUS_WORDS}, asked.get("status")),
        choice("origin", "Proposed by", {"": "anyone", **ORIGIN_WORDS}, asked.get("origin")),
        text_field("session", "Session", asked.get("session"), kind="search"),
        choice("sort", "Order", ORDERS, order),
    ]
    if dataset is not None:
        known = metrics_of_task(catalogue.metrics().get(dataset.number, []), dataset.task)
        fields.append(choice("metric", "Metric", {name: metric_name(name) for name in known}, metric))
    return filter_form("/runs", *fields)
