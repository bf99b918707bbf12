"""The best configuration as a program of pandas, scikit-learn and the learner's library, without metaml."""

from collections.abc import Mapping
from pprint import pformat

import numpy as np

from metaml.algorithms import ALGORITHMS
from metaml.data import Dataset
from metaml.evaluation.best_columns import with_columns_for
from metaml.spaces.config import Config

PLAIN_CODE = '''"""The best configuration that metaml found for {dataset}, without metaml.

It prints the cross-validated score and, if a second table is given, predicts its rows:
python best_without_metaml.py DATA [NEW]

Columns are read and encoded in a similar way, and folds are drawn anew, so the score is similar, not the same.{note}
"""

import sys

import pandas as pd
from sklearn.compose import ColumnTransformer
from sklearn.model_selection import {folds}, cross_val_score
from sklearn.pipeline import make_pipeline
{imports}

TARGET = {target!r}
NUMBERS = {numbers}
CATEGORIES = {categories}
SETTINGS = {settings}


def read(path):
    if path.endswith(".parquet"):
        return pd.read_parquet(path)
    return pd.read_csv(path, sep=None, engine="python")


def columns_of(table):
    numbers = table[NUMBERS].apply(pd.to_numeric, errors="coerce")
    categories = table[CATEGORIES].astype("string").fillna("missing").astype(object)
    return pd.concat([numbers, categories], axis=1)


def learner():
    head = ColumnTransformer(
        [("numbers", {scaling}, NUMBERS), ("categories", {encoding}, CATEGORIES)], sparse_threshold=0
    )
    return make_pipeline(head, {kind}(**SETTINGS))


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3):
        print("Name the file that holds the data: python best_without_metaml.py DATA [NEW]", file=sys.stderr)
        sys.exit(2)
    table = read(sys.argv[1]).dropna(subset=[TARGET])
    {labels}
    folds = {folds}({n_folds}, shuffle=True, random_state=0)
    scores = cross_val_score(learner(), columns_of(table), y, scoring={scoring!r}, cv=folds)
    print(f"{{scores.mean():.6g}} (standard deviation over folds {{scores.std():.3g}})")
    if len(sys.argv) == 3:
        new = read(sys.argv[2])
        answers = learner().fit(columns_of(table), y).predict(columns_of(new))
        print(pd.Series({answers}, name="prediction").to_csv(index=False), end="")
'''
SCORING: Mapping[str, str] = {
    "roc_auc": "roc_auc",
    "neg_log_loss": "neg_log_loss",
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "neg_rmse": "neg_root_mean_squared_error",
    "neg_mae": "neg_mean_absolute_error",
    "r2": "r2",
}
"""Names that scikit-learn has for our metrics; others are replaced by the learner's own score."""
ENCODERS = {
    "one_hot": "OneHotEncoder(handle_unknown='ignore')",
    "impact": "TargetEncoder()",
    "integer": "OrdinalEncoder(handle_unknown='use_encoded_value', unknown_value=-1)",
}
SCALERS = {
    "standard": "StandardScaler()",
    "robust": "RobustScaler()",
    "quantile": "QuantileTransformer(output_distribution='normal')",
}
FEWEST_FOLDS = 2
DECLARED = {"categorical", "numeric", "ordinal", "increasing", "decreasing"}


def plain_code(dataset: Dataset, algorithm: str, config: Config, *, metric: str, n_folds: int) -> str | None:
    """Return a program that needs no metaml, or None where there is none.

    It is possible if the learner's library has it as an estimator, and if each column is a number or a category as it
    stands in the file. Columns that were declared to be something else, or that may push only one way, are not.
    """
    dataset = with_columns_for(config, dataset)
    plain, schema = ALGORITHMS[algorithm].plain, dataset.schema
    is_declared = bool(dataset.roles.options.as_json().keys() & DECLARED)
    is_readable = schema.n_columns is None and not schema.decimal_commas and not is_declared
    if plain is None or not is_readable or any(item.how in ("date", "presence") for item in schema.features):
        return None
    learner = plain(config, dataset.task, dataset.X.shape[1])
    if dataset.labels is None:
        learner = learner.for_target(float(np.std(dataset.y)))
    # A linear booster has no choice of its own: it takes scaled numbers and one column for each category.
    encoding = ENCODERS.get(str(config.get("encoding", "one_hot")), ENCODERS["integer"])
    scaling, imputation = config.get("scaling"), config.get("imputation")
    if "encoding" not in config:
        scaling, imputation = "standard", "median"
    steps = [f"SimpleImputer(strategy={imputation!r})"] if imputation else []
    steps += [SCALERS[str(scaling)]] if scaling else []
    used = [step.partition("(")[0] for step in (*steps, encoding) if not step.startswith("SimpleImputer")]
    is_number = dataset.task == "regression"
    return PLAIN_CODE.format(
        dataset=repr(dataset.name).strip("'\""),
        note=f"\n{learner.note}" if learner.note else "",
        imports="\n".join(
            [
                *(["from sklearn.impute import SimpleImputer"] if imputation else []),
                f"from sklearn.preprocessing import {', '.join(sorted(used))}",
                f"from {learner.module} import {learner.kind}",
            ]
        ),
        target=dataset.target,
        numbers=pformat([item.source for item in schema.features if item.how == "number"], compact=True),
        categories=pformat([item.source for item in schema.features if item.how != "number"], compact=True),
        settings=pformat(learner.settings, sort_dicts=False),
        scaling=f"make_pipeline({', '.join(steps)})" if steps else "'passthrough'",
        encoding=encoding,
        kind=learner.kind,
        labels="y = pd.to_numeric(table[TARGET])"
        if is_number
        else "y, labels = pd.factorize(table[TARGET], sort=True)",
        answers="answers" if is_number else "labels[answers]",
        folds="KFold" if is_number else "StratifiedKFold",
        n_folds=max(n_folds, FEWEST_FOLDS),
        scoring=SCORING.get(metric),
    )
