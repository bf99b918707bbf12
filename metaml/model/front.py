"""A Pareto front of models to choose from: its points, and the model of each without a new search.

On disk it is a folder `front` with `front.json` and the fitted members, each in a model file of its own. A point names
the members that it averages, so that an ensemble costs no space beside its members.
"""

from __future__ import annotations

import builtins
import json
import shutil
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from metaml.arrays import Floats
from metaml.ensemble.calibration import Calibration
from metaml.errors import BadModel, BadRequest
from metaml.metrics import METRICS
from metaml.model.columns_read import without_unread
from metaml.model.fitted import Model
from metaml.model.saving import load
from metaml.pareto import RESOURCES, knee, log_amounts

if TYPE_CHECKING:
    import pandas as pd

    from metaml.spaces.config import Config

FOLDER, FILE = "front", "front.json"
FORMAT = "metaml front"


@dataclass(frozen=True)
class PointMember:
    """A member of a point: its configuration, its weight, and how many fitted models are averaged."""

    algorithm: str
    config: Config
    weight: float
    n_models: int


@dataclass(frozen=True)
class FrontPoint:
    """A point of a front: a model, with a threshold if it chooses between two classes there.

    `values` are those of the objectives as people write them: a loss is positive. `parts` are the names of the kept
    members with their weights. `score` is that of the metric that ranked; `multipliers` and `calibration` are those of
    its model.
    """

    number: int
    kind: str
    values: Mapping[str, float]
    members: tuple[PointMember, ...]
    parts: tuple[tuple[str, float], ...]
    score: float | None = None
    threshold: float | None = None
    multipliers: tuple[float, ...] | None = None
    calibration: Mapping[str, Any] | None = None

    @property
    def in_words(self) -> str:
        """Return what the model is made of, such as "svm and 2 more, 15 models"."""
        heaviest = sorted(self.members, key=lambda member: -member.weight)
        others = f" and {len(heaviest) - 1} more" if len(heaviest) > 1 else ""
        n = sum(member.n_models for member in heaviest)
        models = f", {n} models" if n > len(heaviest) else ""
        where = "" if self.threshold is None else f", threshold {self.threshold:.3g}"
        return f"{heaviest[0].algorithm}{others}{models}{where}"


@dataclass(frozen=True, eq=False, repr=False)
class Front:
    """The models of a search that no other one beats in every objective, by the first objective, best first.

    - `objectives`: the names of what is compared; `metric` is what the search ranked by.
    - `points`: each with its `values`, its `members` and, between two classes, its `threshold`.
    - `models`: the kept members by name.
    """

    objectives: tuple[str, ...]
    metric: str
    points: tuple[FrontPoint, ...]
    models: Mapping[str, Model] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"Front({len(self.points)} points of {', '.join(self.objectives)})"

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[FrontPoint]:
        return iter(self.points)

    def frame(self) -> pd.DataFrame:
        """Return a row for each point: its number, its values, its threshold and what it is made of."""
        import pandas as pd

        rows = [
            {
                "point": point.number,
                **point.values,
                "threshold": point.threshold,
                "kind": point.kind,
                "n_models": sum(member.n_models for member in point.members),
                "members": json.dumps([asdict(member) for member in point.members], ensure_ascii=False),
            }
            for point in self.points
        ]
        columns = ["point", *self.objectives, "threshold", "kind", "n_models", "members"]
        return pd.DataFrame(rows, columns=columns)

    def pick(
        self,
        *,
        max: Mapping[str, float] | None = None,
        min: Mapping[str, float] | None = None,
        point: int | None = None,
    ) -> FrontPoint:
        """Return the point that is asked for: by its number, or the best within the limits `max` and `min`.

        The best is the one that is best by the first objective without a limit. Without limits it is the compromise
        nearest to the best of every objective. Raises `BadRequest` if there is no such point.
        """
        if point is not None:
            found = next((own for own in self.points if own.number == point), None)
            if found is None:
                raise BadRequest(f"The front has no point {point}. Its points are 1 to {len(self.points)}.")
            return found
        highest, lowest = self._limits(max or {}), self._limits(min or {})
        if not highest and not lowest:
            return self.points[knee(costs_of(self))]
        within = [
            own
            for own in self.points
            if all(own.values[name] <= limit for name, limit in highest.items())
            and all(own.values[name] >= limit for name, limit in lowest.items())
        ]
        if not within:
            raise BadRequest(self._nearest(highest, lowest))
        free = [name for name in self.objectives if name not in {*highest, *lowest}] or list(self.objectives)
        return builtins.min(
            within, key=lambda own: -own.values[free[0]] if is_higher_better(free[0]) else own.values[free[0]]
        )

    def model(self, point: FrontPoint) -> Model:
        """Return the model of a point."""
        made = [(self.models[name], weight) for name, weight in point.parts]
        base = made[0][0]
        members = tuple(
            replace(member, weight=member.weight * weight) for model, weight in made for member in model.members
        )
        whole = replace(
            base,
            members=members,
            multipliers=point.multipliers,
            calibration=None
            if point.calibration is None
            else Calibration.from_dict(point.calibration, len(base.schema.labels or ())),
            score=point.score,
            facts={**base.facts, "front": {"point": point.number, **point.values}},
        )
        return without_unread(whole) if "n_columns" in self.objectives else whole

    def _limits(self, given: Mapping[str, float]) -> dict[str, float]:
        unknown = [name for name in given if shown_name(name) not in self.objectives]
        if unknown:
            raise BadRequest(
                f"The front has no objective {unknown[0]!r}. Its objectives: {', '.join(self.objectives)}."
            )
        return {shown_name(name): float(limit) for name, limit in given.items()}

    def _nearest(self, highest: Mapping[str, float], lowest: Mapping[str, float]) -> str:
        """Return the sentence for limits that no point keeps."""
        for limits, word, best in ((highest, "at most", builtins.min), (lowest, "at least", builtins.max)):
            for name, limit in limits.items():
                nearest = best(point.values[name] for point in self.points)
                if best(nearest, limit) != nearest:
                    return (
                        f"No point of the front has {name} {word} {limit:g}. Allow {nearest:.4g}, which is the nearest."
                    )
        return "No point of the front keeps all these limits together. Loosen one of them: metaml show DIR --front."


def shown_name(name: str) -> str:
    """Return an objective's name as people write it: a loss without `neg_`.

    >>> shown_name("neg_log_loss"), shown_name("size")
    ('log_loss', 'model_bytes')
    """
    return "model_bytes" if name == "size" else name.removeprefix("neg_")


def is_higher_better(name: str) -> bool:
    """Return whether more of an objective, as people write it, is better.

    >>> is_higher_better("roc_auc"), is_higher_better("log_loss"), is_higher_better("predict_seconds")
    (True, False, False)
    """
    return name in METRICS and not METRICS[name].is_loss


def costs_of(front: Front) -> Floats:
    """Return a row of costs for each point: lower is better, what a model takes as logarithms."""
    columns = []
    for name in front.objectives:
        values = np.array([point.values[name] for point in front.points], dtype=np.float64)
        columns.append(-values if is_higher_better(name) else values)
        if name in RESOURCES:
            columns[-1] = log_amounts(name, columns[-1])
    return np.column_stack(columns)


def save_front(front: Front, folder: Path) -> None:
    """Write a front into a folder of its own inside the output folder; that of an earlier search goes."""
    remove_front(folder)
    own = folder / FOLDER
    own.mkdir(parents=True)
    used = {name for point in front.points for name, _ in point.parts}
    for name, model in front.models.items():
        if name in used:
            model.save(own / f"{name}.zip")
    points = [asdict(point) for point in front.points]
    about = {"format": FORMAT, "objectives": front.objectives, "metric": front.metric, "points": points}
    (own / FILE).write_text(json.dumps(about, indent=1, ensure_ascii=False), encoding="utf-8")
    front.frame().to_csv(folder / "pareto.csv", index=False)


def remove_front(folder: Path) -> None:
    """Remove the front of an earlier search from an output folder."""
    if (folder / FOLDER / FILE).is_file():
        shutil.rmtree(folder / FOLDER)
        (folder / "pareto.csv").unlink(missing_ok=True)


def load_front(folder: str | Path) -> Front:
    """Return the front in the output folder of a search; its models are read when they are asked for."""
    path = Path(folder) / FOLDER / FILE
    if not path.is_file():
        raise BadRequest(f"{folder} has no front. Name the output folder of metaml tune with --objectives.")
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
        if about["format"] != FORMAT:
            raise ValueError("another format")
        objectives = tuple(map(str, about["objectives"]))
        points = tuple(_point(plain, objectives) for plain in about["points"])
        metric = METRICS[about["metric"]].name
        if not points or not objectives:
            raise ValueError("nothing in it")
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError):
        raise BadModel(f"{path} is damaged. Copy it again, or run metaml tune again.") from None
    return Front(objectives, metric, points, _Files(path.parent))


def _point(plain: Mapping[str, Any], objectives: tuple[str, ...]) -> FrontPoint:
    members = tuple(
        PointMember(str(one["algorithm"]), dict(one["config"]), float(one["weight"]), int(one["n_models"]))
        for one in plain["members"]
    )
    threshold, multipliers, score = plain.get("threshold"), plain.get("multipliers"), plain.get("score")
    parts = tuple((str(name), float(weight)) for name, weight in plain["parts"])
    if not parts or not members or any(Path(name).name != name for name, _ in parts):
        raise ValueError("no names of files")
    return FrontPoint(
        number=int(plain["number"]),
        kind=str(plain["kind"]),
        values={name: float(plain["values"][name]) for name in objectives},
        members=members,
        parts=parts,
        score=None if score is None else float(score),
        threshold=None if threshold is None else float(threshold),
        multipliers=None if multipliers is None else tuple(map(float, multipliers)),
        calibration=plain.get("calibration"),
    )


class _Files(Mapping[str, Model]):
    """The kept members in a folder, read when asked for."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __getitem__(self, name: str) -> Model:
        return load(self.folder / f"{name}.zip")

    def __iter__(self) -> Iterator[str]:
        return (path.stem for path in sorted(self.folder.glob("*.zip")))

    def __len__(self) -> int:
        return len(list(self.folder.glob("*.zip")))
