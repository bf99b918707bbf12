"""What the loopback OpenML holds: small tables in the shapes of the real server's XML, ARFF and parquet."""

import hashlib
import io
import json
from dataclasses import dataclass, field
from xml.sax.saxutils import escape

import numpy as np
import pandas as pd

N_ROWS = 40
N_FOLDS = 4


@dataclass(frozen=True, eq=False)
class Table:
    number: int
    name: str
    frame: pd.DataFrame
    nominal: dict[str, list[str]]
    target: str
    form: str = "ARFF"
    status: str = "active"
    qualities: dict[str, float | None] = field(default_factory=dict)
    extra: str = ""

    def arff(self) -> str:
        kinds = {name: "{" + ",".join(levels) + "}" for name, levels in self.nominal.items()}
        header = [f"@RELATION {self.name}", ""]
        header += [f"@ATTRIBUTE {name} {kinds.get(name, 'REAL')}" for name in self.frame.columns]
        return "\n".join([*header, "@DATA", *self._rows()]) + "\n"

    def _rows(self) -> list[str]:
        rows = []
        for values in self.frame.astype(object).itertuples(index=False):
            cells = ["?" if pd.isna(value) else str(value) for value in values]
            if self.form == "Sparse_ARFF":
                zeros = [self.nominal[name][0] if name in self.nominal else "0.0" for name in self.frame.columns]
                named = [f"{i} {cell}" for i, (cell, zero) in enumerate(zip(cells, zeros, strict=True)) if cell != zero]
                rows.append("{" + ",".join(named) + "}")
            else:
                rows.append(",".join(cells))
        return rows

    def parquet(self) -> bytes:
        stored = self.frame.copy()
        for name, levels in self.nominal.items():
            if levels == ["TRUE", "FALSE"]:
                stored[name] = stored[name] == "TRUE"
            else:
                stored[name] = stored[name].astype("category")
        buffer = io.BytesIO()
        stored.to_parquet(buffer)
        return buffer.getvalue()

    def description(self, root: str) -> str:
        sum_ = hashlib.md5(self.arff().encode()).hexdigest()
        parquet = f"<oml:parquet_url>{root}/datasets/0000/{self.number:04}/dataset_{self.number}.pq</oml:parquet_url>"
        return f"""<oml:data_set_description xmlns:oml="http://openml.org/openml">
  <oml:id>{self.number}</oml:id>
  <oml:name>{self.name}</oml:name>
  <oml:version>1</oml:version>
  <oml:description>**Author**: nobody &amp; no one</oml:description>
  <oml:description_version>1</oml:description_version>
  <oml:format>{self.form}</oml:format>
  <oml:upload_date>2014-04-06T23:23:39</oml:upload_date>
  <oml:licence>Public</oml:licence>
  <oml:url>{root}/data/v1/download/{self.number}/{self.name}.arff</oml:url>
  {parquet if self.form == "Parquet" else ""}
  <oml:file_id>{self.number}</oml:file_id>
  <oml:default_target_attribute>{self.target}</oml:default_target_attribute>
  {self.extra}
  <oml:visibility>public</oml:visibility>
  <oml:status>{self.status}</oml:status>
  <oml:processing_date>2020-11-20 19:02:18</oml:processing_date>
  <oml:md5_checksum>{sum_}</oml:md5_checksum>
</oml:data_set_description>
"""

    def features(self) -> str:
        parts = []
        for index, name in enumerate(self.frame.columns):
            levels = "".join(f"<oml:nominal_value>{escape(v)}</oml:nominal_value>" for v in self.nominal.get(name, ()))
            parts.append(
                f"<oml:feature><oml:index>{index}</oml:index><oml:name>{name}</oml:name>"
                f"<oml:data_type>{'nominal' if name in self.nominal else 'numeric'}</oml:data_type>{levels}"
                f"<oml:is_target>{str(name == self.target).lower()}</oml:is_target>"
                "<oml:is_ignore>false</oml:is_ignore><oml:is_row_identifier>false</oml:is_row_identifier>"
                f"<oml:number_of_missing_values>{int(self.frame[name].isna().sum())}</oml:number_of_missing_values>"
                "</oml:feature>"
            )
        return f'<oml:data_features xmlns:oml="http://openml.org/openml">{"".join(parts)}</oml:data_features>'

    def quality_list(self) -> str:
        parts = [
            f"<oml:quality><oml:name>{name}</oml:name>"
            f"<oml:value>{'' if value is None else value}</oml:value></oml:quality>"
            for name, value in self.qualities.items()
        ]
        return f'<oml:data_qualities xmlns:oml="http://openml.org/openml">{"".join(parts)}</oml:data_qualities>'


@dataclass(frozen=True)
class TaskEntry:
    number: int
    data: int
    target: str
    type_id: int = 1
    procedure: str = "crossvalidation"

    def xml(self, root: str) -> str:
        kind = {1: "Supervised Classification", 2: "Supervised Regression", 5: "Clustering"}[self.type_id]
        folds = "1" if self.procedure == "holdout" else str(N_FOLDS)
        procedure = f"""<oml:input name="estimation_procedure"><oml:estimation_procedure>
<oml:id>1</oml:id>
<oml:type>{self.procedure}</oml:type>
<oml:data_splits_url>{root}/api_splits/get/{self.number}/Task_{self.number}_splits.arff</oml:data_splits_url>
<oml:parameter name="number_repeats">1</oml:parameter>
<oml:parameter name="number_folds">{folds}</oml:parameter>
<oml:parameter name="percentage"></oml:parameter>
<oml:parameter name="stratified_sampling">true</oml:parameter>
</oml:estimation_procedure></oml:input>"""
        return f"""<oml:task xmlns:oml="http://openml.org/openml">
<oml:task_id>{self.number}</oml:task_id>
<oml:task_name>Task {self.number} ({kind})</oml:task_name>
<oml:task_type_id>{self.type_id}</oml:task_type_id>
<oml:task_type>{kind}</oml:task_type>
<oml:input name="source_data"><oml:data_set>
<oml:data_set_id>{self.data}</oml:data_set_id>
<oml:target_feature>{self.target}</oml:target_feature>
</oml:data_set></oml:input>
{procedure}
<oml:input name="evaluation_measures"><oml:evaluation_measures>
<oml:evaluation_measure></oml:evaluation_measure>
</oml:evaluation_measures></oml:input>
<oml:tag>OpenML100</oml:tag>
</oml:task>
"""

    def splits(self) -> str:
        lines = [f"@RELATION task_{self.number}_splits", "", "@ATTRIBUTE type {TRAIN,TEST}"]
        lines += [f"@ATTRIBUTE {name} INTEGER" for name in ("rowid", "repeat", "fold")]
        lines += ["", "@DATA"]
        for fold in range(N_FOLDS):
            for row in range(N_ROWS):
                lines.append(f"{'TEST' if fold_of(row) == fold else 'TRAIN'},{row},0,{fold}")
        return "\n".join(lines) + "\n"


def fold_of(row: int) -> int:
    """OpenML's folds, which are not what we would choose."""
    return (row // 2) % N_FOLDS


def _credit() -> Table:
    rng = np.random.default_rng(1)
    duration = rng.integers(4, 72, N_ROWS).astype(float)
    amount = rng.normal(3000, 800, N_ROWS).round(1)
    purpose = rng.choice(["car", "radio", "'new house'"], N_ROWS)
    grade = rng.choice(["1", "2", "3"], N_ROWS)
    good = np.where(duration + rng.normal(0, 10, N_ROWS) < 40, "good", "bad")
    frame = pd.DataFrame({"duration": duration, "amount": amount, "purpose": purpose, "grade": grade, "class": good})
    nominal = {"purpose": ["car", "radio", "'new house'"], "grade": ["1", "2", "3"], "class": ["good", "bad", "other"]}
    n_good = int((good == "good").sum())
    qualities = {
        "NumberOfInstances": 40.0,
        "NumberOfFeatures": 5.0,
        "MajorityClassSize": float(max(n_good, N_ROWS - n_good)),
        "MajorityClassPercentage": max(n_good, N_ROWS - n_good) / N_ROWS,
        "MeanMutualInformation": None,
    }
    return Table(31, "credit-g", frame, nominal, "class", qualities=qualities)


def _plants() -> Table:
    rng = np.random.default_rng(2)
    kind = np.array(["setosa", "versicolor", "virginica", "versicolor"])[np.arange(N_ROWS) % 4]
    width = rng.normal(0, 1, N_ROWS) + (kind == "setosa")
    is_wet = np.where(rng.random(N_ROWS) < 0.5, "TRUE", "FALSE")
    plot = np.arange(100.0, 100.0 + N_ROWS)
    frame = pd.DataFrame({"plot": plot, "width": width, "wet": is_wet, "kind": kind})
    nominal = {"wet": ["TRUE", "FALSE"], "kind": ["setosa", "versicolor", "virginica"]}
    return Table(
        37, "plants", frame, nominal, "kind", "Parquet", extra="<oml:ignore_attribute>plot</oml:ignore_attribute>"
    )


def _prices() -> Table:
    rng = np.random.default_rng(3)
    rooms = rng.integers(1, 7, N_ROWS).astype(float)
    frame = pd.DataFrame({"rooms": rooms, "price": (rooms * 10 + rng.normal(0, 1, N_ROWS)).round(2)})
    frame.loc[3, "price"] = np.nan
    return Table(7, "prices", frame, {}, "price", qualities={"NumberOfInstances": 40.0})


def _words(number: int, form: str, status: str = "active") -> Table:
    rng = np.random.default_rng(4)
    counts = rng.poisson(0.7, (N_ROWS, 3)).astype(float)
    label = np.where(counts[:, 0] > 0, "spam", "ham")
    frame = pd.DataFrame(counts, columns=["w0", "w1", "w2"]).assign(label=label)
    return Table(number, f"words{number}", frame, {"label": ["ham", "spam"]}, "label", form, status)


TABLES = {
    table.number: table
    for table in (_credit(), _plants(), _prices(), _words(52, "Sparse_ARFF"), _words(64, "ARFF", "deactivated"))
}
TASKS = {
    task.number: task
    for task in (
        TaskEntry(31, 31, "class"),
        TaskEntry(37, 37, "kind"),
        TaskEntry(7, 7, "price", type_id=2),
        TaskEntry(52, 52, "label"),
        TaskEntry(64, 64, "label"),
        TaskEntry(75, 31, "class", procedure="holdout"),
        TaskEntry(81, 31, "class", type_id=5),
        *(TaskEntry(number, 31, "class") for number in range(101, 109)),
    )
}
SUITES = {99: [31, 37]}

PIPELINE = (
    "sklearn.pipeline.Pipeline(imputation=openmlstudy14.preprocessing.ConditionalImputer,"
    "hotencoding=sklearn.preprocessing.data.OneHotEncoder,"
    "variencethreshold=sklearn.feature_selection.variance_threshold.VarianceThreshold,classifier={})"
)
FOREST = "sklearn.ensemble.forest.RandomForestClassifier"
BOOST = "sklearn.ensemble.weight_boosting.AdaBoostClassifier"
TREE = "sklearn.tree.tree.DecisionTreeClassifier"
IMPUTER = "openmlstudy14.preprocessing.ConditionalImputer"
XGBOOST = "mlr.classif.xgboost"


@dataclass(frozen=True)
class RunEntry:
    """A run of someone, with the values of its setup by component and parameter."""

    number: int
    flow: int
    flow_name: str
    setup: int
    values: dict[tuple[str, str], object]
    scores: dict[str, float]
    task: int = 31

    def evaluation(self, function: str) -> str:
        return f"""<oml:evaluation>
<oml:run_id>{self.number}</oml:run_id>
<oml:task_id>{self.task}</oml:task_id>
<oml:setup_id>{self.setup}</oml:setup_id>
<oml:flow_id>{self.flow}</oml:flow_id>
<oml:flow_name>{self.flow_name}(1)</oml:flow_name>
<oml:data_id>31</oml:data_id>
<oml:data_name>credit-g</oml:data_name>
<oml:function>{function}</oml:function>
<oml:upload_time>2017-10-06 23:38:13</oml:upload_time>
<oml:uploader>1</oml:uploader>
<oml:value>{self.scores[function]}</oml:value>
</oml:evaluation>"""

    def setup_xml(self) -> str:
        parts = []
        for place, ((component, name), value) in enumerate(self.values.items()):
            is_own = component == self.flow_name
            text = str(value) if component == XGBOOST else json.dumps(value)
            parts.append(f"""<oml:parameter>
<oml:id>{1000 * self.flow + place}</oml:id>
<oml:flow_id>{self.flow if is_own else self.flow + 1}</oml:flow_id>
<oml:flow_name>{component}</oml:flow_name>
<oml:full_name>{component}(33)_{name}</oml:full_name>
<oml:parameter_name>{name}</oml:parameter_name>
<oml:data_type></oml:data_type>
<oml:default_value>[]</oml:default_value>
<oml:value>{escape(text)}</oml:value>
</oml:parameter>""")
        head = f"<oml:setup_id>{self.setup}</oml:setup_id><oml:flow_id>{self.flow}</oml:flow_id>"
        return f"<oml:setup>{head}{''.join(parts)}</oml:setup>"


def _forest(number: int, **values: object) -> RunEntry:
    settings = {
        "bootstrap": True,
        "class_weight": None,
        "criterion": "gini",
        "max_depth": None,
        "max_features": 0.5,
        "max_leaf_nodes": None,
        "min_samples_leaf": 3,
        "min_samples_split": 5,
        "min_weight_fraction_leaf": 0.0,
        "n_estimators": 100,
        "n_jobs": 1,
        "random_state": 17,
    } | values
    own = {(FOREST, name): value for name, value in settings.items()}
    steps = {(PIPELINE.format(FOREST), "steps"): [{"oml-python:serialized_object": "component_reference"}]}
    scores = {"predictive_accuracy": 0.7 + number / 10000, "area_under_roc_curve": 0.8}
    return RunEntry(
        number, 6969, PIPELINE.format(FOREST), 5000 + number, own | steps | {(IMPUTER, "strategy"): "mean"}, scores
    )


def _boost(number: int, algorithm: str) -> RunEntry:
    own = {(BOOST, "algorithm"): algorithm, (BOOST, "learning_rate"): 0.25, (BOOST, "n_estimators"): 60}
    tree = {(TREE, "max_depth"): 3, (TREE, "min_samples_leaf"): 1, (TREE, "max_features"): None}
    scores = {"predictive_accuracy": 0.65}
    values = own | tree | {(IMPUTER, "strategy"): "median"}
    return RunEntry(number, 6970, PIPELINE.format(BOOST), 5000 + number, values, scores)


def _xgboost(number: int) -> RunEntry:
    values = {"nrounds": 120, "eta": 0.1, "booster": "gbtree", "nthread": 1, "verbose": "FALSE"}
    own = {(XGBOOST, name): value for name, value in values.items()}
    return RunEntry(number, 6767, XGBOOST, 5000 + number, own, {"predictive_accuracy": 0.72})


RUNS = [
    _forest(101),
    _forest(102, min_samples_leaf=4),
    _forest(103, max_depth=4),
    _forest(104, n_estimators=5000),
    _boost(201, "SAMME"),
    _boost(202, "SAMME.R"),
    _xgboost(301),
]
