"""Draws docs/images/schema.svg, the tables of the knowledge base and what refers to what, from metaml_kb.tables.

Run: python docs/make_schema.py
"""

from dataclasses import dataclass
from pathlib import Path

from sqlalchemy import Column, Table

from metaml_kb.tables import metadata

PICTURE = Path(__file__).parent / "images" / "schema.svg"
COLUMNS = (
    ("algorithm", "parameter_set", "configuration", "fold_plan", "environment", "metric_set"),
    ("run", "knowledge_base"),
    ("dataset", "proposal", "prediction", "session"),
    ("metafeature", "metafeature_group", "event"),
)
"""Where each table stands; one that is named nowhere stands in the last column."""
TYPES = {"LargeBinary": "bytes", "Double": "number", "BigInteger": "integer", "SmallInteger": "integer"}
WIDTH, ROW, HEAD, GAP, AISLE, EDGE = 208, 17, 24, 18, 62, 12
STYLE = """
  svg { font: 12px ui-monospace, "DejaVu Sans Mono", Menlo, Consolas, monospace; }
  .page { fill: #ffffff; }
  .box { fill: #f6f8fa; stroke: #8c959f; }
  .head { fill: #0a5fb4; }
  .title { fill: #ffffff; font-weight: bold; }
  .name { fill: #1f2328; }
  .key { font-weight: bold; }
  .type { fill: #656d76; text-anchor: end; }
  .line { fill: none; stroke: #57606a; stroke-width: 1.2; }
  .dot { fill: #57606a; }
  @media (prefers-color-scheme: dark) {
    .page { fill: #0d1117; }
    .box { fill: #161b22; stroke: #6e7681; }
    .head { fill: #1f4f8a; }
    .name { fill: #e6edf3; }
    .type { fill: #9198a1; }
    .line { stroke: #9198a1; }
    .dot { fill: #9198a1; }
  }
"""


@dataclass(frozen=True)
class Box:
    """A table's place in the picture."""

    table: Table
    column: int
    x: int
    y: int

    @property
    def height(self) -> int:
        """Return how tall the box is."""
        return HEAD + ROW * len(self.table.columns) + 6

    def middle(self, name: str) -> int:
        """Return how far down the middle of a column's row is."""
        return self.y + HEAD + ROW * list(self.table.columns.keys()).index(name) + ROW // 2 + 3


def boxes() -> dict[str, Box]:
    """Return every table's box by name."""
    placed = {name for column in COLUMNS for name in column}
    others = tuple(name for name in metadata.tables if name not in placed)
    found: dict[str, Box] = {}
    for number, names in enumerate((*COLUMNS[:-1], COLUMNS[-1] + others)):
        y = EDGE
        for name in names:
            found[name] = Box(metadata.tables[name], number, EDGE + number * (WIDTH + AISLE), y)
            y += found[name].height + GAP
    return found


def picture() -> str:
    """Return the picture as SVG."""
    placed = boxes()
    width = max(box.x for box in placed.values()) + WIDTH + EDGE
    height = max(box.y + box.height for box in placed.values()) + EDGE
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}"'
        ' role="img" aria-label="Tables of the knowledge base">',
        f"<style>{STYLE}</style>",
        f'<rect class="page" width="{width}" height="{height}" rx="6"/>',
    ]
    for box in placed.values():
        keys = [(column, key) for column in box.table.columns for key in column.foreign_keys]
        lines += [_line(box, column, placed[key.column.table.name]) for column, key in keys]
    for box in placed.values():
        lines += _drawn(box)
    return "\n".join([*lines, "</svg>", ""])


def _line(child: Box, column: "Column[object]", parent: Box) -> str:
    """Return the line from a column to the key it refers to, which has a dot."""
    y_from, y_to = child.middle(column.name), parent.middle("id")
    goes_right = parent.column > child.column
    x_from = child.x + (WIDTH if goes_right else 0)
    x_to = parent.x + (0 if goes_right else WIDTH)
    if parent.column == child.column:
        # Within a column the line goes round on the right, where the aisle is.
        x_from = x_to = child.x + WIDTH
        bend = x_from + AISLE // 2
        path = f"M{x_from} {y_from} C{bend} {y_from} {bend} {y_to} {x_to} {y_to}"
    else:
        reach = max(AISLE // 2, abs(x_to - x_from) // 2) * (1 if goes_right else -1)
        path = f"M{x_from} {y_from} C{x_from + reach} {y_from} {x_to - reach} {y_to} {x_to} {y_to}"
    return f'<path class="line" d="{path}"/><circle class="dot" cx="{x_to}" cy="{y_to}" r="3"/>'


def _drawn(box: Box) -> list[str]:
    """Return a box with its title and a row for each column."""
    lines = [
        f'<rect class="box" x="{box.x}" y="{box.y}" width="{WIDTH}" height="{box.height}" rx="4"/>',
        f'<path class="head" d="M{box.x} {box.y + HEAD} v-{HEAD - 4} q0 -4 4 -4 h{WIDTH - 8} q4 0 4 4 v{HEAD - 4} z"/>',
        f'<text class="title" x="{box.x + 8}" y="{box.y + 16}">{box.table.name}</text>',
    ]
    for column in box.table.columns:
        baseline = box.middle(column.name) + 4
        kind = type(column.type).__name__
        told = TYPES.get(kind, kind.lower()) + ("?" if column.nullable else "")
        key = " key" if column.primary_key else ""
        lines.append(f'<text class="name{key}" x="{box.x + 8}" y="{baseline}">{column.name}</text>')
        lines.append(f'<text class="type" x="{box.x + WIDTH - 8}" y="{baseline}">{told}</text>')
    return lines


if __name__ == "__main__":
    PICTURE.write_text(picture(), encoding="utf-8")
