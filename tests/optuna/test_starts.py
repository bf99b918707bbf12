"""Studies of Optuna that begin with what experience recommends."""

import pandas as pd
import pytest
from sklearn.datasets import load_iris

import metaml
from metaml.errors import BadRequest

optuna = pytest.importorskip("optuna")


@pytest.fixture(autouse=True)
def _quiet():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def test_a_study_begins_with_what_experience_recommends(tmp_path, monkeypatch):
    monkeypatch.delenv("METAML_STARTER", raising=False)
    frame = load_iris(as_frame=True).frame
    study = optuna.create_study(direction="maximize")
    names = {"num_leaves": "num_leaves", "min_data_in_leaf": "min_child_samples"}

    started = metaml.optuna.warm_start(study, frame, "lightgbm", 4, names=names, kb=tmp_path / "none.db")

    def objective(trial):
        return trial.suggest_int("num_leaves", 2, 400) + trial.suggest_int("min_child_samples", 1, 400)

    study.optimize(objective, n_trials=len(started))
    assert 2 <= len(started) <= 4
    assert [trial.params for trial in study.trials] == started
    assert not (tmp_path / "none.db").exists()


def test_a_study_without_experience_or_with_a_wrong_name_is_refused():
    frame = pd.DataFrame({"x": range(20), "y": [0, 1] * 10})
    study = optuna.create_study()

    with pytest.raises(BadRequest, match="knows too little about svm"):
        metaml.optuna.warm_start(study, frame, "svm", kb=":memory:")
    with pytest.raises(BadRequest, match=r"svm has no parameter c\. They are: "):
        metaml.optuna.warm_start(study, frame, "svm", names={"c": "C"}, kb=":memory:")
    with pytest.raises(BadRequest, match="no algorithm svn"):
        metaml.optuna.warm_start(study, frame, "svn", kb=":memory:")
