"""The first page: how much the knowledge base holds, whose it is, the sessions, and the newest runs."""

from collections import Counter

from metaml.report.markup import Html, joined, tag
from metaml.report.tables import Bar, bars, figure, side_by_side, tiles
from metaml.report.wording import ORIGIN_WORDS, STATUS_WORDS, counted, share
from metaml.web.catalogue import Catalogue
from metaml.web.page import Asked, Page, command, empty, heading, link, section
from metaml.web.run_table import run_sheet
from metaml.web.sessions import session_sheet
from metaml_kb.browsing.listing import Wanted, next_runs

N_RUNS, N_SESSIONS, N_BARS = 20, 10, 12


def overview(catalogue: Catalogue, asked: Asked) -> Page:
    """Return counts, sessions and the newest runs."""
    digest, datasets = catalogue.digest, catalogue.datasets()
    n_runs, n_starter = digest.n_runs, catalogue.n_starter_runs()
    if not n_runs:
        return Page(title="Overview", content=_nothing(len(datasets)), menu="Overview")
    with catalogue.connected() as connection:
        newest = next_runs(connection, digest, Wanted(), limit=N_RUNS)
    runs = run_sheet(
        newest,
        {item.fingerprint: item.metric for item in datasets.values()},
        title="Newest runs",
        one_session=True,
        sorted_by="finished_at",
    )
    known = catalogue.sessions()
    sessions = session_sheet(catalogue, list(known.values())[:N_SESSIONS])
    n_with_runs = sum(item.n_runs > 0 for item in datasets.values())
    n_algorithms = len({algorithm for _, algorithm, _ in digest.counts})
    busy = sum(digest.seconds.values())
    lead = (
        f"{counted(n_runs, 'run')} of {counted(n_algorithms, 'algorithm')} on {counted(n_with_runs, 'data set')}: "
        f"{n_runs - n_starter:,} of your own, {n_starter:,} came with metaml."
    )
    by_task = Counter(item.task for item in datasets.values())
    tasks = ", ".join(f"{n:,} {task}" for task, n in by_task.most_common())
    content = joined(
        heading("What the knowledge base holds", lead),
        tiles(
            [
                ("Runs", f"{n_runs:,}", f"{n_runs - n_starter:,} yours, {n_starter:,} starter"),
                ("Data sets", f"{len(datasets):,}", tasks),
                ("Algorithms", f"{n_algorithms:,}", link("which wins where", "algorithms")),
                ("Sessions", f"{len(known):,}", link("all sessions", "sessions")),
                ("Time in evaluations", _hours(busy), "fit and predict, all folds"),
            ]
        ),
        section(
            "counts",
            "What was run",
            side_by_side(_by_algorithm(catalogue), tag("div", _by_status(catalogue), _by_origin(catalogue))),
        ),
        section("sessions", "Newest sessions", sessions.html(asked.with_query(csv="sessions"))),
        section("runs", "Newest runs", runs.html(asked.with_query(csv="runs"))),
    )
    return Page(title="Overview", content=content, menu="Overview", sheets={"runs": runs, "sessions": sessions})


def _nothing(n_datasets: int) -> Html:
    return joined(
        heading("The knowledge base is empty"),
        empty(
            f"It holds {counted(n_datasets, 'data set')} and no run. Every search and every bot session adds runs; "
            "then this page shows them.",
            command("metaml tune data.csv --time-budget 2m"),
            command("metaml bot --builtin --time-budget 10m"),
        ),
    )


def _by_algorithm(catalogue: Catalogue) -> Html:
    names, counts = catalogue.algorithms(), Counter[str]()
    for (_, algorithm, _), n in catalogue.digest.counts.items():
        counts[names.get(algorithm, "?")] += n
    most = max(counts.values())
    items = [Bar(name, n / most, f"{n:,}") for name, n in counts.most_common(N_BARS)]
    return figure("Runs by algorithm", bars(items, label="Runs by algorithm"))


def _by_status(catalogue: Catalogue) -> Html:
    counts = Counter[str]()
    for (_, _, status), n in catalogue.digest.counts.items():
        counts[status] += n
    total = sum(counts.values())
    items = [
        Bar(STATUS_WORDS.get(name, name), n / total, f"{n:,} ({share(n / total)})") for name, n in counts.most_common()
    ]
    return figure("How they ended", bars(items, label="Runs by how they ended"))


def _by_origin(catalogue: Catalogue) -> Html:
    counts = catalogue.digest.origins
    total = sum(counts.values())
    items = [
        Bar(ORIGIN_WORDS.get(name, name), n / total, f"{n:,} ({share(n / total)})") for name, n in counts.most_common()
    ]
    return figure("Who proposed them", bars(items, label="Runs by who proposed them"))


def _hours(seconds: float) -> str:
    return f"{seconds / 3600:,.1f} h" if seconds >= 3600 else f"{seconds / 60:,.0f} min"
