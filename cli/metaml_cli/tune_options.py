"""The options of `metaml tune`, under the headings that its help shows."""

from pathlib import Path
from typing import Annotated

import typer

from metaml.seeds import MOST_SEED
from metaml_cli.options import DATA, KNOWLEDGE_BASE, under

SEARCHED_HELP = (
    "Comma-separated; default: all but additive, distribution, ebm and small_tree; neural_network from 2m on."
)
TablePath = Annotated[Path, typer.Argument(help="A csv, parquet or ARFF file.")]


_data = under(DATA)
Target = Annotated[str | None, _data(help="Column to predict; default: the last one.")]
Task = Annotated[str | None, _data(help="binary, multiclass or regression; default: detected.")]
Columns = Annotated[list[str] | None, _data(help="Columns to use, comma-separated; default: all but the target.")]
Categorical = Annotated[list[str] | None, _data(help="Columns to read as categories, comma-separated.")]
Numeric = Annotated[list[str] | None, _data(help="Columns to read as numbers, comma-separated.")]
Ordinal = Annotated[list[str] | None, _data(help="Levels of a column in their order: 'size:S<M<L'; may be repeated.")]
Increasing = Annotated[
    list[str] | None,
    _data(help="Columns with which the prediction may only rise, comma-separated; of two classes, that of the second."),
]
Decreasing = Annotated[
    list[str] | None, _data(help="Columns with which the prediction may only fall, comma-separated.")
]
Weight = Annotated[str | None, _data(help="Column that says how much each row counts, in learning and in every score.")]


_validation = under("Validation")
Folds = Annotated[
    int, _validation(min=1, help="Cross-validation folds; 1: hold out a fifth, as metaml does for large data.")
]
Group = Annotated[
    str | None, _validation(help="Column of groups, such as customers: no group is in both training and test rows.")
]
KeepGroup = Annotated[bool, _validation("--keep-group", help="Use the group column as a feature, too.")]
TimeColumn = Annotated[
    str | None, _validation("--time", help="Column of dates or numbers: train on earlier rows, test on later ones.")
]
Test = Annotated[
    Path | None, _validation(help="A second table with the same columns. It is used only to score the final model.")
]
MaxRows = Annotated[
    int | None, _validation(min=10, help="Most rows to cross-validate; default: chosen by the time budget.")
]


_score = under("Score")
Metric = Annotated[str, _score(help="Score to optimise: f1, accuracy, r2 …; auto: ROC AUC, log loss or RMSE.")]
Costs = Annotated[
    list[str] | None,
    _score(help="What errors cost, as 'bad:good=10,good:bad=1' (true class, decision); others cost 1."),
]
Objectives = Annotated[
    str | None, _score(help="Two or three to search the Pareto front of, such as roc_auc,predict_seconds; see docs.")
]
FrontMethod = Annotated[str, _score(help="How a front is searched: parego, sms_ego, epsilon_ego, mspot, random …")]


_budget = under("Budget")
TimeBudget = Annotated[str | None, _budget(help="Total time, such as 10m; default: 5m.")]
Iterations = Annotated[int | None, _budget(min=1, help="End after this many evaluations, or when the time is up.")]
StopAt = Annotated[
    float | None, _budget(help="End when an evaluation reaches this score, such as 0.95; for a loss, this or less.")
]
Patience = Annotated[int | None, _budget(min=1, help="End after this many evaluations without a better score.")]
Workers = Annotated[
    int | None,
    _budget(min=1, help="Evaluations in parallel; default: all cores; 1 with --iterations; on a cluster all slots."),
]
Threads = Annotated[
    int | None,
    _budget(
        min=1,
        help="Threads per evaluation; default: 1, up to 4 on large tables. With more, fewer run in parallel.",
    ),
]
LimitSeconds = Annotated[float, _budget(min=0.1, help="Wall-clock limit of one evaluation.")]
LimitMemory = Annotated[float, _budget(min=10, help="Memory limit of one evaluation, in megabytes.")]
Seed = Annotated[int, _budget(min=0, max=MOST_SEED, help="The same seed and --iterations give the same runs.")]
Resume = Annotated[bool, _budget("--resume", help="Continue an interrupted search with the rest of its budget.")]


_search = under("Search")
Algorithms = Annotated[str | None, _search(help=SEARCHED_HELP)]
Exclude = Annotated[str | None, _search(help="Algorithms to leave out, comma-separated.")]
Readable = Annotated[
    bool, _search("--readable", help="Only models that a person can read; the report shows the whole model.")
]
Preset = Annotated[str | None, _search(help="A whole way to search: default, or thesis (the method of van Hoof 2018).")]
Search = Annotated[str, _search(help="hyperband, bohb, halving or look: try on few rows first, promote the best.")]
Fidelity = Annotated[str, _search(help="With --search: fewer rows, folds or trees at first.")]
Surrogate = Annotated[
    str | None,
    _search(help="default, gbqr, gaussian_process, forest, random …; choices may follow: gbqr+focus+interleaved."),
]
Acquisition = Annotated[
    str | None, _search(help="What makes a candidate worth trying: upper_bound, confidence_bound:2 …")
]
Starts = Annotated[
    str | None, _search(help="The first configurations: portfolio, delta, best, knn or design; delta:5 takes five.")
]
Batch = Annotated[str | None, _search(help="How running evaluations count: believer, constant_liar, qlcb, moi_mbo …")]
Space = Annotated[str | None, _search(help="joint: one model over all algorithms instead of a bandit over them.")]
Bandit = Annotated[str | None, _search(help="How algorithms share the budget: thompson, ucb1 …")]
Schedule = Annotated[
    str, _search(help="How workers share the search: asynchronous, or rambo (batches packed by seconds).")
]


_model = under("Model")
Single = Annotated[bool, _model("--single", help="One model instead of an ensemble.")]
Refit = Annotated[bool, _model("--refit", help="Fit the model to all rows: it is smaller and predicts faster.")]
Layers = Annotated[
    int | None, _model(min=1, max=2, help="Layers of the ensemble; default: 2 if time allows, 1 with --iterations.")
]
Repeats = Annotated[
    int | None,
    _model(min=0, help="Evaluate the best runs this often on new folds to choose the ensemble; default: up to 2."),
]
NoCalibration = Annotated[bool, _model("--no-calibration", help="Leave class probabilities as the members give them.")]
MaxPredictMs = Annotated[
    float | None, _model(min=0, help="Most milliseconds that the saved model may take for one row, on this machine.")
]
MaxPredictMs1000 = Annotated[
    float | None, _model(min=0, help="Most milliseconds that it may take for 1,000 rows, on this machine.")
]
MaxModelMb = Annotated[float | None, _model(min=0, help="Largest size of the model file, in megabytes.")]
MaxColumns = Annotated[int | None, _model(min=1, help="Most columns that the model may read.")]
NoSample = Annotated[
    bool, _model("--no-sample", help="Keep no training rows in the model file; explain and check need them.")
]


_output = under("Output")
Output = Annotated[Path, _output(help="Folder for model, report and tables.")]
Predictions = Annotated[bool, _output("--predictions", help="Also write out-of-fold predictions.")]
Sign = Annotated[Path | None, _output(metavar="KEY", help="Sign the model with the secret key in this file.")]


_knowledge_base = under(KNOWLEDGE_BASE)
NoKb = Annotated[bool, _knowledge_base("--no-kb", help="Neither use nor change a knowledge base.")]
ExcludeDataset = Annotated[
    list[str] | None,
    _knowledge_base(help="Ignore experience with this data set and its near-duplicates; may be repeated."),
]
