"""Trials of Optuna studies as runs of the knowledge base."""

import pytest

import metaml
from metaml.errors import BadRequest
from metaml.records.study import import_study, load_study
from metaml_kb import open_kb
from tests.cli.terminal import metaml as command

optuna = pytest.importorskip("optuna")
pytestmark = pytest.mark.filterwarnings("ignore::optuna.exceptions.ExperimentalWarning")


@pytest.fixture(autouse=True)
def _quiet():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def study_in(storage, direction="maximize", name="mine"):
    study = optuna.create_study(
        storage=storage, study_name=name, direction=direction, sampler=optuna.samplers.RandomSampler(seed=0)
    )

    def objective(trial):
        C = trial.suggest_float("C", 0.1, 10, log=True)
        kernel = trial.suggest_categorical("kernel", ["rbf", "linear"])
        if trial.number == 2:
            raise optuna.TrialPruned
        if trial.number == 3:
            raise ValueError("no")
        return C + (kernel == "rbf")

    study.optimize(objective, n_trials=6, catch=ValueError)
    return study


@pytest.fixture
def storage(tmp_path):
    return f"sqlite:///{tmp_path / 'study.db'}"


def test_finished_trials_become_runs_and_a_second_import_adds_nothing(storage, tmp_path):
    study = study_in(storage)

    out = command(
        "kb", "import-optuna", tmp_path / "study.db", "--algorithm", "svm", "--dataset", "iris", "--metric", "accuracy",
        "--kb", tmp_path / "kb.db",
    )  # fmt: skip
    with open_kb(tmp_path / "kb.db") as kb:
        again = import_study(kb, load_study(storage), dataset="iris", algorithm="svm", metric="accuracy")
        runs = kb.runs(algorithm="svm", dataset="iris", source="mine")

    assert "mine: 5 new runs" in out.stderr
    assert "1 trial left out" in out.stderr
    assert (again.n_new, again.n_known) == (0, 5)
    complete = runs[runs["status"] == "ok"]
    assert sorted(complete["accuracy"]) == pytest.approx(sorted(t.value for t in study.trials if t.value is not None))
    assert set(runs["origin"]) == {"imported"}


def test_what_is_minimised_is_stored_negated_on_a_data_set_that_is_known(storage):
    study = study_in(storage, direction="minimize")

    with open_kb(":memory:") as kb:
        kb.add_dataset(metaml.DatasetRecord("f" * 32, "houses", task="regression"))
        import_study(kb, study, dataset="houses", algorithm="svm", metric="rmse")
        runs = kb.runs(status="ok")

    assert (runs["neg_rmse"] < 0).all()
    assert set(runs["dataset"]) == {"houses"}


def test_what_cannot_be_imported_gets_one_sentence(storage, tmp_path):
    study = study_in(storage)
    two = optuna.create_study(directions=["minimize", "maximize"])

    with open_kb(":memory:") as kb:
        with pytest.raises(BadRequest, match="has 2 objectives"):
            import_study(kb, two, dataset="iris", algorithm="svm", metric="accuracy")
        with pytest.raises(BadRequest, match="maximises, but rmse is a loss"):
            import_study(kb, study, dataset="iris", algorithm="svm", metric="rmse")
    with pytest.raises(BadRequest, match="There is no file"):
        load_study(str(tmp_path / "nowhere.db"))
    with pytest.raises(BadRequest, match="no study 'other' among: mine"):
        load_study(storage, "other")
    assert not (tmp_path / "nowhere.db").exists()
