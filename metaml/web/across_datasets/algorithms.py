"""All algorithms: mean ranks, which differences are significant, and which algorithm wins by size and by task."""

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from metaml.insight import Ranking, expected_best, rank_algorithms, wins
from metaml.report.markup import Html, joined, tag
from metaml.report.tables import figure, paragraph
from metaml.report.wording import counted, listed, share
from metaml.web.across_datasets.rank_picture import rank_picture
from metaml.web.catalogue import Catalogue
from metaml.web.forms import chosen_link
from metaml.web.page import Asked, Page, empty, heading, section
from metaml.web.sheet import Field, Sheet
from metaml.web.words import algorithm_link, better, count_text, metric_name, seconds_text

N_DRAWN, LEAST_DATASETS, MOST_CHOICES = 5, 5, 8
SIZES = ((500, "below 500 rows"), (5_000, "500 to 4,999 rows"), (math.inf, "from 5,000 rows"))


def algorithms(catalogue: Catalogue, asked: Asked) -> Page:
    """Return how the algorithms compare over all data sets."""
    choices = metrics_by_use(catalogue)
    if not choices:
        nothing = empty("No algorithm has a complete run yet.")
        return Page(title="Algorithms", content=joined(heading("Algorithms"), nothing), menu="Algorithms")
    metric = asked.get("metric") if asked.get("metric") in choices else choices[0]
    table = catalogue.kept(f"scores-{metric}", lambda: best_scores(catalogue, metric))
    ranking = catalogue.kept(f"ranking-{metric}", lambda: rank_algorithms(common(table)))
    chips = [
        chosen_link(metric_name(name), asked.with_query(metric=name, csv=None), is_chosen=name == metric)
        for name in choices[:MOST_CHOICES]
    ]
    sheet = _sheet(catalogue, ranking, table)
    by_size, by_task = _wins(catalogue, table, "size"), _wins(catalogue, table, "task")
    content = joined(
        heading("Algorithms", _lead(ranking, metric)),
        tag("p", tag("span", "Judged by "), *chips, class_="choices"),
        section("ranks", "Mean ranks", _ranks(ranking, metric)),
        section("all", "All algorithms", sheet.html(asked.with_query(csv="algorithms"))),
        section(
            "wins",
            "Who wins where",
            paragraph("On how many data sets each algorithm is best; equal scores share a win."),
            tag("h3", "By number of rows"),
            by_size.html(asked.with_query(csv="wins_by_size")),
            tag("h3", "By task"),
            by_task.html(asked.with_query(csv="wins_by_task")),
        ),
    )
    sheets = {"algorithms": sheet, "wins_by_size": by_size, "wins_by_task": by_task}
    return Page(title="Algorithms", content=content, menu="Algorithms", sheets=sheets)


def metrics_by_use(catalogue: Catalogue) -> list[str]:
    """Return the metrics with scores of two or more algorithms, those on most data sets first."""
    counts = Counter(metric for (_, metric), best in catalogue.digest.best.items() if len(best) > 1)
    usual = Counter(item.metric for item in catalogue.datasets().values() if item.metric)
    return sorted(counts, key=lambda name: (-usual[name], -counts[name], name))


def best_scores(catalogue: Catalogue, metric: str) -> pd.DataFrame:
    """Return what each algorithm (column) reaches on each data set (row number).

    That is the mean of the best of five runs that no search proposed: more runs are no advantage. An algorithm with
    fewer has no score there.
    """
    names = catalogue.algorithms()
    rows: defaultdict[int, dict[str, float]] = defaultdict(dict)
    for (dataset, found, algorithm), scores in catalogue.digest.first.items():
        if found == metric and len(scores) >= N_DRAWN:
            rows[dataset][names.get(algorithm, "?")] = expected_best(scores, N_DRAWN)
    return pd.DataFrame.from_dict(rows, orient="index").sort_index().dropna(axis=1, how="all")


def common(table: pd.DataFrame) -> pd.DataFrame:
    """Return the algorithms and data sets that can be compared: all of these algorithms have a score on each of them.

    Of the algorithms on most data sets as many are taken as leave the largest table.
    """
    order = table.notna().sum().sort_values(ascending=False, kind="stable").index
    best = table.iloc[:0, :0]
    for n in range(2, len(order) + 1):
        part = table[order[:n]].dropna()
        if len(part) >= LEAST_DATASETS and part.size >= best.size:
            best = part
    return best


def _lead(ranking: Ranking, metric: str) -> str:
    if not ranking.names:
        return f"There are too few data sets on which several algorithms have {N_DRAWN} runs to rank them."
    said = f"{ranking.names[0]} has the best mean rank by {metric_name(metric)} over"
    return f"{said} {counted(ranking.n_datasets, 'data set')} and {counted(len(ranking.names), 'algorithm')}."


def _ranks(ranking: Ranking, metric: str) -> Html:
    if not ranking.names:
        return empty(f"Ranks need {LEAST_DATASETS} data sets with {N_DRAWN} runs of the same algorithms.")
    alike = [listed(list(ranking.names[first : last + 1])) for first, last in ranking.groups]
    note = (
        f"The rank of each algorithm on each data set, by what the best of {N_DRAWN} random runs reaches on average "
        f"({metric_name(metric)}, {better(metric)}). A bar joins algorithms that cannot be told apart: Wilcoxon's "
        "signed-rank test, all pairs corrected by Holm's method, at 0.05."
    )
    said = f"Cannot be told apart: {'; '.join(alike)}." if alike else "All pairs differ significantly."
    drawn = tag("div", rank_picture(ranking), class_="scroll bare", tabindex="0", role="group", aria_label="Mean ranks")
    return joined(figure("Critical differences", drawn, note=note), paragraph(said, class_="note"))


def _sheet(catalogue: Catalogue, ranking: Ranking, table: pd.DataFrame) -> Sheet:
    names, digest = catalogue.algorithms(), catalogue.digest
    ranks = dict(zip(ranking.names, ranking.mean_ranks, strict=True))
    runs, complete, on = Counter[str](), Counter[str](), defaultdict[str, set[int]](set)
    for (dataset, algorithm, status), n in digest.counts.items():
        name = names.get(algorithm, "?")
        runs[name] += n
        complete[name] += n if status == "ok" else 0
        on[name].add(dataset)
    seconds = Counter[str]()
    for (_, algorithm), spent in digest.seconds.items():
        seconds[names.get(algorithm, "?")] += spent  # type: ignore[assignment]  # A counter of floats.
    won = _won(table)
    rows = [
        {
            "algorithm": name,
            "rank": ranks.get(name),
            "wins": won.get(name),
            "datasets": len(on[name]),
            "runs": runs[name],
            "complete": complete[name] / runs[name],
            "seconds": seconds[name] / runs[name],
        }
        for name in runs
    ]
    rows.sort(key=lambda row: (row["rank"] is None, row["rank"] or 0.0, str(row["algorithm"])))
    fields = [
        Field("Algorithm", "name", key="algorithm"),
        Field("Rank", "number", key="rank", show="{:.2f}".format),
        Field("Wins", "number", key="wins", first="down", show=_win_text),
        Field("Data sets", "number", key="datasets", first="down", show=count_text, extra=True),
        Field("Runs", "number", key="runs", first="down", show=count_text),
        Field("Complete", "number", key="complete", first="down", show=share, extra=True),
        Field("Mean cost", "number", key="seconds", show=seconds_text, extra=True),
    ]
    extra = [{"algorithm": algorithm_link(str(row["algorithm"]))} for row in rows]
    return Sheet("algorithms", fields, rows, title="All algorithms", extra=extra, sorted_by="rank")


def _won(table: pd.DataFrame) -> Mapping[str, float]:
    if table.empty:
        return {}
    groups = pd.Series("all", index=table.index)
    found = wins(table, groups)
    return dict(zip(map(str, found.columns[:-1]), found.to_numpy(np.float64)[0].tolist(), strict=False))


def _wins(catalogue: Catalogue, table: pd.DataFrame, by: str) -> Sheet:
    """Return the wins of each algorithm by the size of the data set or by its task; the most wins first."""
    known, groups = catalogue.datasets(), []
    for number in table.index:
        item = known[int(number)]
        if by == "task":
            groups.append(item.task)
        else:
            groups.append(_size(item.n_rows))
    order = [label for _, label in SIZES] if by == "size" else sorted(set(groups))
    shown = [label for label in [*order, "rows unknown"] if label in groups]
    counted_wins = wins(table, pd.Series(groups, index=table.index, dtype=object)) if len(table) else pd.DataFrame()
    values = counted_wins.loc[shown, list(table.columns)].to_numpy(np.float64) if shown else np.zeros((0, 0))
    order_of = np.argsort(-values.sum(axis=0), kind="stable")
    rows = [
        {"algorithm": str(table.columns[k]), **dict(zip(shown, values[:, k].tolist(), strict=True))} for k in order_of
    ]
    totals = {g: groups.count(g) for g in shown}
    fields = [Field("Algorithm", "name", key="algorithm")]
    fields += [Field(f"{g} ({totals[g]:,})", "number", key=g, first="down", show=_win_text) for g in shown]
    most = {g: max((float(str(row[g])) for row in rows), default=0.0) for g in shown}
    extra = [
        {
            "algorithm": algorithm_link(str(row["algorithm"])),
            **{g: tag("b", _win_text(most[g])) for g in shown if row[g] == most[g] > 0},
        }
        for row in rows
    ]
    name = f"wins_by_{by}"
    return Sheet(name, fields, rows, title=f"Wins by {by}", extra=extra, sorted_by=shown[0] if len(shown) == 1 else "")


def _size(n_rows: int | None) -> str:
    return "rows unknown" if n_rows is None else next(label for end, label in SIZES if n_rows < end)


def _win_text(value: float) -> str:
    return "0" if value == 0 else f"{value:.1f}"


def datasets_for(catalogue: Catalogue, algorithm: int, most_runs: int) -> Sequence[str]:
    """Return data sets that together have this many runs of an algorithm; each gives at most its share."""
    counts: Counter[int] = Counter()
    for (dataset, found, status), n in catalogue.digest.counts.items():
        if found == algorithm and status == "ok":
            counts[dataset] += n
    known = catalogue.datasets()
    chosen, total = [], 0
    for dataset, n in sorted(counts.items(), key=lambda item: (item[1] > most_runs // 20, -item[1], item[0])):
        if total + n <= most_runs:
            chosen.append(known[dataset].fingerprint)
            total += n
    return chosen
