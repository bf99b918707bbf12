"""Charts as SVG text: small, sharp, readable on light and dark, without a plotting library."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

PALETTE = ("#3b7dd8", "#e07a2f", "#3aa655", "#b04fc4", "#c8443c", "#8a6d3b", "#5c6b7a", "#1aa5a5")
NAMESPACE = "http://www.w3.org/2000/svg"
WIDTH, HEIGHT = 640.0, 360.0
LEFT, RIGHT, TOP, BOTTOM = 64.0, 16.0, 40.0, 48.0
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#333}.t{font-weight:600;font-size:15px}.g{stroke:#8884;stroke-width:1}"
    "path{fill:none;stroke-width:2.2;stroke-linejoin:round}"
    "@media(prefers-color-scheme:dark){text{fill:#ddd}}"
)


@dataclass(frozen=True)
class Line:
    """A named curve."""

    name: str
    x: Sequence[float]
    y: Sequence[float]


def line_chart(lines: Sequence[Line], *, title: str, x_label: str, y_label: str, log_y: bool = False) -> str:
    """Return curves as one SVG picture with a legend.

    >>> line_chart([Line("a", [1, 2], [3, 1])], title="T", x_label="x", y_label="y").startswith("<svg")
    True
    """
    xs = [value for line in lines for value in line.x]
    ys = [value for line in lines for value in line.y if math.isfinite(value) and (value > 0 or not log_y)]
    if not xs or not ys:
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH:g}" height="40"><text y="24">no data</text></svg>'
        )
    x_axis = Axis(min(xs), max(xs), LEFT, WIDTH - RIGHT)
    low = max(min(ys), max(ys) / 1e4) if log_y else min(0.0, min(ys))
    y_axis = Axis(low, max(ys), HEIGHT - BOTTOM, TOP, is_log=log_y)
    parts = [
        f'<svg xmlns="{NAMESPACE}" viewBox="0 0 {WIDTH:g} {HEIGHT:g}" role="img" '
        f'aria-label="{escape(title)}"><style>{STYLE}</style>',
        f'<text class="t" x="{LEFT:g}" y="22">{escape(title)}</text>',
    ]
    centre, middle = (LEFT + WIDTH - RIGHT) / 2, (TOP + HEIGHT - BOTTOM) / 2
    for tick in x_axis.ticks():
        place = x_axis(tick)
        parts.append(f'<text x="{place:.1f}" y="{HEIGHT - BOTTOM + 18:g}" text-anchor="middle">{tick:g}</text>')
    for tick in y_axis.ticks():
        place = y_axis(tick)
        parts.append(f'<line class="g" x1="{LEFT:g}" x2="{WIDTH - RIGHT:g}" y1="{place:.1f}" y2="{place:.1f}"/>')
        parts.append(f'<text x="{LEFT - 8:g}" y="{place + 4:.1f}" text-anchor="end">{tick:g}</text>')
    parts.append(f'<text x="{centre:g}" y="{HEIGHT - 8:g}" text-anchor="middle">{escape(x_label)}</text>')
    turned = f'text-anchor="middle" transform="rotate(-90 14 {middle:g})"'
    parts.append(f'<text x="14" y="{middle:g}" {turned}>{escape(y_label)}</text>')
    for number, line in enumerate(lines):
        colour = PALETTE[number % len(PALETTE)]
        points = [
            f"{x_axis(x):.1f},{y_axis(max(y, low) if log_y else y):.1f}"
            for x, y in zip(line.x, line.y, strict=True)
            if math.isfinite(y)
        ]
        parts.append(f'<path stroke="{colour}" d="M{" L".join(points)}"/>')
        place = TOP + 10 + 18 * number
        parts.append(f'<rect x="{WIDTH - 190:g}" y="{place - 9:g}" width="14" height="4" fill="{colour}"/>')
        parts.append(f'<text x="{WIDTH - 170:g}" y="{place - 2:g}">{escape(line.name)}</text>')
    return "".join([*parts, "</svg>"])


@dataclass(frozen=True)
class Axis:
    """From values to places on the picture."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def __call__(self, value: float) -> float:
        """Return the place of a value."""
        low, high = (math.log(self.low), math.log(self.high)) if self.is_log else (self.low, self.high)
        at = math.log(value) if self.is_log else value
        return self.start + (self.end - self.start) * ((at - low) / (high - low) if high > low else 0.5)

    def ticks(self) -> list[float]:
        """Return round values along the axis."""
        if self.is_log:
            powers = range(math.floor(math.log10(self.low)), math.ceil(math.log10(self.high)) + 1)
            return [
                round(factor * 10.0**power, 12)
                for power in powers
                for factor in (1, 2, 5)
                if self.low <= factor * 10.0**power <= self.high
            ]
        step = 10 ** math.floor(math.log10(max(self.high - self.low, 1e-12)))
        step = next(step * factor for factor in (0.1, 0.2, 0.5, 1, 2) if (self.high - self.low) / (step * factor) <= 7)
        first = math.ceil(self.low / step - 1e-9)
        return [round(step * k, 12) for k in range(first, math.floor(self.high / step + 1e-9) + 1)]
