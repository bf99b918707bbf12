"""The critical-difference diagram: mean ranks along an axis. Bars join those without a significant difference."""

import math

from metaml.insight import Ranking
from metaml.report.charts import Axis
from metaml.report.markup import Html, joined, tag
from metaml.report.pictures import at
from metaml.web.pictures import cut

WIDTH, SIDE, TOP, LINE, BAR = 900.0, 190.0, 34.0, 24.0, 9.0


def rank_picture(ranking: Ranking) -> Html:
    """Return the diagram of Demšar (2006): better ranks to the left, names at both sides."""
    n = len(ranking.names)
    # Ranks of many algorithms lie close together, so the axis ends where they do.
    low, high = math.floor(min(ranking.mean_ranks)), math.ceil(max(ranking.mean_ranks))
    axis = Axis(float(low), float(max(high, low + 1)), SIDE, WIDTH - SIDE)
    parts = [tag("line", class_="upright", x1=at(axis.start), x2=at(axis.end), y1=at(TOP), y2=at(TOP))]
    for tick in range(low, max(high, low + 1) + 1):
        parts.append(tag("line", class_="tick", x1=at(axis(tick)), x2=at(axis(tick)), y1=at(TOP - 6), y2=at(TOP)))
        parts.append(tag("text", str(tick), x=at(axis(tick)), y=at(TOP - 11), text_anchor="middle"))
    first_line = TOP + 22 + BAR * len(ranking.groups)
    half = (n + 1) // 2
    for place, (name, rank) in enumerate(zip(ranking.names, ranking.mean_ranks, strict=True)):
        is_left = place < half
        depth = first_line + LINE * (place if is_left else n - 1 - place)
        x, edge = axis(rank), (SIDE - 10 if is_left else WIDTH - SIDE + 10)
        text = f"{cut(name, 20)} {rank:.2f}" if is_left else f"{rank:.2f} {cut(name, 20)}"
        words = {
            "x": at(edge + (-5 if is_left else 5)),
            "y": at(depth + 4),
            "text_anchor": "end" if is_left else "start",
        }
        parts.append(
            tag(
                "g",
                tag("title", f"{name}: mean rank {rank:.2f}"),
                tag("polyline", class_="stem", points=f"{x:.1f},{TOP:.1f} {x:.1f},{depth:.1f} {edge:.1f},{depth:.1f}"),
                tag("circle", class_="dot best", cx=at(x), cy=at(TOP), r="4"),
                tag("text", text, class_="axis", **words),
            )
        )
    for level, (first, last) in enumerate(ranking.groups):
        y = TOP + 12 + BAR * level
        ends = {"x1": at(axis(ranking.mean_ranks[first]) - 4), "x2": at(axis(ranking.mean_ranks[last]) + 4)}
        parts.append(tag("line", class_="alike", y1=at(y), y2=at(y), **ends))
    height = first_line + LINE * half
    label = ", ".join(f"{name} {rank:.2f}" for name, rank in zip(ranking.names, ranking.mean_ranks, strict=True))
    return tag(
        "svg",
        joined(*parts),
        viewBox=f"0 0 {WIDTH:g} {height:g}",
        role="img",
        aria_label=f"Mean ranks: {label}",
        class_="rank-picture",
    )
