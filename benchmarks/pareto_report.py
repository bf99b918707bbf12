"""The tables and the picture of pareto.py: volumes, mean ranks, Friedman test, critical differences (Demšar 2006)."""

from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy.stats import friedmanchisquare, rankdata, studentized_range, wilcoxon

from metaml.pareto import epsilon_indicator, hypervolume, is_non_dominated

IMAGES = Path(__file__).parents[1] / "docs" / "images"
REFERENCE = np.array([1.1, 1.1])
TITLES = {"svm": "Experiment 1: SVM", "joint": "Experiment 2: three learners"}


def volumes(
    records: list[dict], methods: tuple[str, ...], key: str
) -> dict[tuple[str, int], dict[str, dict[str, float]]]:
    """Return volume and epsilon of each method on each data set and seed that all methods have."""
    by_problem = defaultdict(dict)
    for record in records:
        by_problem[record["dataset"], record["seed"]][record["method"]] = np.array(record[key])
    found = {}
    for problem, costs in by_problem.items():
        if set(costs) >= set(methods):
            every = np.vstack([costs[m] for m in methods])
            low, span = every.min(axis=0), np.ptp(every, axis=0)
            unit = {m: (costs[m] - low) / np.where(span > 0, span, 1.0) for m in methods}
            union = np.vstack([unit[m] for m in methods])
            union = union[is_non_dominated(union)]
            found[problem] = {
                m: {"volume": hypervolume(unit[m], REFERENCE), "epsilon": epsilon_indicator(unit[m], union)}
                for m in methods
            }
    return found


def report(records: list[dict], methods: tuple[str, ...], *, is_drawn: bool) -> None:
    drawn = {}
    for experiment in dict.fromkeys(record["experiment"] for record in records):
        own = [record for record in records if record["experiment"] == experiment]
        for key, words in (("costs", "in cross-validation"), ("tested", "on held-out rows")):
            found = volumes(own, methods, key)
            if not found:
                continue
            datasets = sorted({dataset for dataset, _ in found})
            table = np.array(
                [
                    [np.mean([v[m]["volume"] for (d, _), v in found.items() if d == dataset]) for m in methods]
                    for dataset in datasets
                ]
            )
            print(f"\n## {TITLES[experiment]}, {words}: {len(datasets)} data sets, {len(found)} replications in all")
            _print_volumes(datasets, methods, table)
            ranks = np.apply_along_axis(lambda row: rankdata(-row), 1, table)
            epsilons = [np.mean([v[m]["epsilon"] for v in found.values()]) for m in methods]
            _print_tests(methods, table, ranks, epsilons, found)
            if key == "costs" and len(datasets) > 2:
                means = dict(zip(methods, ranks.mean(axis=0), strict=True))
                drawn[experiment] = {TITLES[experiment]: (means, difference(len(methods), len(datasets)))}
        _print_seconds(own, methods)
    for experiment, panel in drawn.items() if is_drawn else ():
        picture = IMAGES / f"pareto-ranks-{experiment}.svg"
        picture.write_text(draw(panel), encoding="utf-8")
        print(f"\n{picture}")


def difference(n_methods: int, n_datasets: int) -> float:
    """Return the critical difference of mean ranks at 5 % (Nemenyi)."""
    q = studentized_range.ppf(0.95, n_methods, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def _print_volumes(datasets: list[str], methods: tuple[str, ...], table: np.ndarray) -> None:
    print("| data set | " + " | ".join(methods) + " |")
    print("| --- |" + " ---: |" * len(methods))
    for dataset, row in zip(datasets, table, strict=True):
        print(f"| {dataset} | " + " | ".join(f"{value:.4f}" for value in row) + " |")


def _print_tests(
    methods: tuple[str, ...], table: np.ndarray, ranks: np.ndarray, epsilons: list[float], found: dict
) -> None:
    print("| mean rank | " + " | ".join(f"{rank:.2f}" for rank in ranks.mean(axis=0)) + " |")
    print("| mean ε | " + " | ".join(f"{value:.3f}" for value in epsilons) + " |")
    if len(table) > 2:
        p = friedmanchisquare(*table.T).pvalue
        print(f"\nFriedman p = {p:.2g}; critical difference of mean ranks {difference(len(methods), len(table)):.2f}")
    for ours in methods[:2]:
        for rival in methods[2:]:
            a, b = methods.index(ours), methods.index(rival)
            gaps = np.array([v[ours]["volume"] - v[rival]["volume"] for v in found.values()])
            wins = int((table[:, a] > table[:, b]).sum())
            p = wilcoxon(gaps).pvalue if np.any(gaps) else 1.0
            error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else float("nan")
            gap = f"{gaps.mean():+.4f} ± {error:.4f}"
            print(f"{ours} - {rival}: {gap}, better on {wins} of {len(table)}, Wilcoxon p = {p:.2g}")


def _print_seconds(records: list[dict], methods: tuple[str, ...]) -> None:
    each = {m: np.mean([r["cpu_seconds"] for r in records if r["method"] == m] or [np.nan]) for m in methods}
    print("\nCPU seconds of a search: " + ", ".join(f"{m} {seconds:.1f}" for m, seconds in each.items()))


def draw(panels: dict[str, tuple[dict[str, float], float]]) -> str:
    """Return the mean ranks of each panel on a line as SVG; a bar shows the critical difference."""
    width, panel_height, left, right = 640, 170, 60, 580
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {panel_height * len(panels)}" role="img">',
        "<title>Mean ranks of dominated hypervolume, lower is better</title>",
        "<style>text{font:13px sans-serif;fill:#222}.t{font-weight:bold}line{stroke:#555}",
        ".cd{stroke:#b3261e;stroke-width:3}</style>",
        '<rect width="100%" height="100%" fill="#fff"/>',
    ]
    for number, (title, (ranks, critical)) in enumerate(panels.items()):
        top, n = number * panel_height, len(ranks)
        at = lambda rank, n=n: left + (rank - 1) / (n - 1) * (right - left)  # noqa: E731
        axis = top + 60
        parts += [f'<text class="t" x="{left}" y="{top + 20}">{title}: mean rank, 1 is best</text>']
        parts += [f'<line x1="{left}" x2="{right}" y1="{axis}" y2="{axis}"/>']
        for tick in range(1, n + 1):
            parts += [
                f'<line x1="{at(tick):.1f}" x2="{at(tick):.1f}" y1="{axis - 5}" y2="{axis}"/>',
                f'<text x="{at(tick):.1f}" y="{axis - 9}" text-anchor="middle">{tick}</text>',
            ]
        best = min(ranks.values())
        end = min(at(best + critical), right)
        parts += [f'<line class="cd" x1="{at(best):.1f}" x2="{end:.1f}" y1="{axis + 6}" y2="{axis + 6}"/>']
        for place, (name, rank) in enumerate(sorted(ranks.items(), key=lambda item: item[1])):
            y = axis + 24 + 15 * place
            parts += [
                f'<line x1="{at(rank):.1f}" x2="{at(rank):.1f}" y1="{axis}" y2="{y - 4}" stroke-dasharray="2 2"/>',
                f'<text x="{at(rank) + 4:.1f}" y="{y}">{name.replace("_", " ")} {rank:.2f}</text>',
            ]
    return "\n".join([*parts, "</svg>", ""])
