"""What a report is made of: plain values. Most parts are optional, so that every session gets a report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

from metaml.data import Repair, Task
from metaml.explanation.effects import ColumnEffect, Interaction
from metaml.spaces.config import Config

if TYPE_CHECKING:
    from metaml.explanation.readable import ReadableModel
    from metaml.explanation.score_card import ScoreCard
    from metaml.report.evidence import Evidence

FinalKind = Literal["ensemble", "single", "fallback"]


@dataclass(frozen=True, kw_only=True)
class DatasetFacts:
    """What was read. `class_counts` is for classes, `target_quantiles` (least, quarter, half, …) for numbers.

    `increasing` and `decreasing` are the columns with which the prediction may only rise, or only fall; of two classes,
    `rising_class` is the one whose probability does.
    """

    name: str
    n_rows: int
    n_features: int
    task: Task
    target: str
    target_was_guessed: bool = False
    class_counts: Mapping[str, int] = field(default_factory=dict)
    target_quantiles: Sequence[float] = ()
    repairs: Sequence[Repair] = ()
    warnings: Sequence[str] = ()
    increasing: Sequence[str] = ()
    decreasing: Sequence[str] = ()
    rising_class: str = ""


@dataclass(frozen=True, kw_only=True)
class WeightFacts:
    """How rows were weighed: the column, its range, and how many rows of equal weight say as much.

    `left_out` are algorithms that cannot weigh rows.
    """

    column: str
    least: float
    most: float
    n_effective: float
    left_out: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class SessionFacts:
    """What was asked for and used; `output` is the folder that the model is in, as a user would type it.

    With one fold, a part of the rows was held out.
    """

    used_seconds: float
    budget_seconds: float | None = None
    n_workers: int = 1
    n_folds: int = 5
    seed: int = 0
    session: str | None = None
    started: str | None = None
    bandit: str | None = None
    output: str | None = None
    versions: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class TrialRow:
    """One finished evaluation. `score` is higher-is-better, NaN without one; `at` is seconds since the start.

    `run` is the key in the knowledge base that `metaml why` and `metaml reproduce` take.
    """

    number: int
    algorithm: str
    status: str
    origin: str
    score: float
    seconds: float
    at: float
    config: Config = field(default_factory=dict)
    predicted_score: float | None = None
    run: str = ""


@dataclass(frozen=True, kw_only=True)
class MemberFacts:
    """One model of the final answer; the weights of all members sum to one.

    Those of layer 2 read what the members of layer 1 predict that feed them.
    """

    algorithm: str
    weight: float
    score: float
    config: Config = field(default_factory=dict)
    layer: int = 1
    feeds: bool = False


@dataclass(frozen=True, kw_only=True)
class Final:
    """The model that was saved; `why` says why there is only a fallback, if that is so.

    `why_one_layer` says why a second layer that was possible is not part of it. `shipped` says what its members were
    fitted to, `why_shipped` why.

    `multipliers` has a factor for the probability of each class; the class with the largest product is predicted.
    """

    kind: FinalKind
    score: float
    members: Sequence[MemberFacts] = ()
    multipliers: Mapping[str, float] | None = None
    why: str = ""
    why_one_layer: str = ""
    shipped: str = ""
    why_shipped: str = ""

    @property
    def n_layers(self) -> int:
        """Return how many layers the members form."""
        return max((member.layer for member in self.members), default=1)


@dataclass(frozen=True, kw_only=True)
class SplitFacts:
    """How rows became folds: by `group` and `time` (names of columns), by folds that were `given`, or shuffled.

    `hints` are sentences about columns that look like time or groups. `other` compares the split with another one, as
    far as a quick model was tried both ways.
    """

    strategy: str = "shuffled"
    group: str | None = None
    time: str | None = None
    hints: Sequence[str] = ()
    other: SplitComparison | None = None


@dataclass(frozen=True, kw_only=True)
class SplitComparison:
    """What a quick model scores if rows are shuffled and if they are split by a column, with the standard error.

    `kind` is what the column is: time or group.
    """

    column: str
    kind: str
    shuffled: float
    honest: float
    error: float

    @property
    def is_large(self) -> bool:
        """Return whether a shuffled split would tell a score that is too high by more than chance."""
        return self.shuffled - self.honest > 2 * self.error


@dataclass(frozen=True, kw_only=True)
class OwnTestFacts:
    """What the model scores on the user's own test table, with the standard error."""

    name: str
    n_rows: int
    score: float
    error: float
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class FeatureImportance:
    """How much the score falls when a column is shuffled, and how much that varies.

    `is_of_all` says whether the score is that of the whole model, or of its heaviest member alone.
    """

    column: str
    mean: float
    std: float
    is_of_all: bool = False


@dataclass(frozen=True)
class Confusion:
    """How often each class (row) was labelled as each class (column), out of fold."""

    labels: Sequence[str]
    counts: Sequence[Sequence[float]]


@dataclass(frozen=True)
class CalibrationBin:
    """Rows of similar predicted probability: what was predicted, what came true, and how many rows."""

    predicted: float
    observed: float
    n_rows: int


@dataclass(frozen=True, kw_only=True)
class WorthFacts:
    """What experience saved, estimated by a replay of the opening on similar data sets, as low, middle and high values.

    The opening had `n_evaluations` and was replayed on `n_datasets`; intervals cover eight of ten of these.
    Without experience, an equally good single model needs `evaluations` more. They take `seconds` here.
    `score` is by how much the best one is then better, on the scale of this session's scores; None if it had too few.
    """

    n_evaluations: int
    n_datasets: int
    evaluations: tuple[float, float, float]
    seconds: tuple[float, float, float] | None = None
    score: tuple[float, float, float] | None = None


@dataclass(frozen=True, kw_only=True)
class ExperienceFacts:
    """What the knowledge base contributed.

    `similar` are data sets with their distance, nearest first. The guard judges each algorithm separately once it has
    enough evaluations: `is_judged` says whether any had. `guard_off` names the algorithms for which the guard switched
    experience off, with the number of their evaluations then. `inherited_from` are earlier versions of the table, and
    `n_inherited` is how many of the evaluated warm starts did best there. `drift` has metafeatures of the newest of
    them and of the table now, by name. `worth` is what the opening saved; None if nothing can be said. `text` is any
    other sentence worth showing.
    """

    n_datasets: int
    n_runs: int
    similar: Sequence[tuple[str, float]] = ()
    n_warm_starts: int = 0
    inherited_from: Sequence[str] = ()
    n_inherited: int = 0
    drift: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    is_judged: bool = False
    guard_off: Mapping[str, int] = field(default_factory=dict)
    worth: WorthFacts | None = None
    text: str = ""


@dataclass(frozen=True, kw_only=True)
class FrontDot:
    """A model on the front: its values, what it is made of in words, and the settings of its members."""

    number: int
    values: Sequence[float]
    text: str
    members: Sequence[tuple[str, Config]] = ()


@dataclass(frozen=True, kw_only=True)
class FrontFacts:
    """The front of two or three `objectives`, with the words for them; `is_log` tells those drawn as logarithms.

    `is_higher_better` says of each objective which way is better. `evaluated` are the values of the evaluations.
    """

    objectives: Sequence[str]
    labels: Sequence[str]
    is_higher_better: Sequence[bool]
    is_log: Sequence[bool]
    dots: Sequence[FrontDot]
    evaluated: Sequence[Sequence[float]] = ()


@dataclass(frozen=True, kw_only=True)
class ReadableFacts:
    """A model that a person can read, and its score card unless it is a tree.

    `labels` are the classes in the order of their scores; with two, the one score is that of the second.
    `agreement` is the share of training rows for which the card names the same class. `note` is a remark.
    """

    model: ReadableModel
    card: ScoreCard | None = None
    labels: Sequence[str] = ()
    agreement: float | None = None
    note: str = ""


@dataclass(frozen=True, kw_only=True)
class ReportData:
    """Everything a report shows.

    `metric` is a name of `METRICS`, scores are higher-is-better as stored. `baselines` are scores by name, such as
    `default lightgbm` or `constant`. `hyperparameters` has the share of each setting per algorithm. `ledger` has
    wall-clock seconds by purpose; the time of parallel workers is divided by their number, so that it adds up to
    `session.used_seconds`. `is_after_thresholds` says whether scores are those after tuning the decision thresholds.
    `weights` say how rows were weighed, None if all count the same. `effects` are curves along the columns that matter
    most, `interactions` pairs of them that act together. `evidence` is what the score rests on. `front` is that of
    several objectives, if it was searched, `readable` the whole model, if a person can read it. `absent` explains in a
    sentence why a part (by its section name) is missing. `advice` says why the search ended early, if it did, and
    whether more time is worth it.
    """

    dataset: DatasetFacts
    metric: str
    session: SessionFacts
    is_after_thresholds: bool = False
    split: SplitFacts = SplitFacts()
    weights: WeightFacts | None = None
    own_test: OwnTestFacts | None = None
    trials: Sequence[TrialRow] = ()
    baselines: Mapping[str, float] = field(default_factory=dict)
    final: Final | None = None
    hyperparameters: Mapping[str, Sequence[tuple[str, float]]] = field(default_factory=dict)
    features: Sequence[FeatureImportance] = ()
    effects: Sequence[ColumnEffect] = ()
    interactions: Sequence[Interaction] = ()
    confusion: Confusion | None = None
    calibration: Sequence[CalibrationBin] = ()
    residuals: Sequence[tuple[float, float]] = ()
    evidence: Evidence | None = None
    front: FrontFacts | None = None
    readable: ReadableFacts | None = None
    experience: ExperienceFacts | None = None
    ledger: Mapping[str, float] = field(default_factory=dict)
    absent: Mapping[str, str] = field(default_factory=dict)
    advice: str = ""
