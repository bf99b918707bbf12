"""`metaml.tune`, `predict` and `load` as a program or a notebook calls them."""

import signal
import subprocess
import sys

import pytest
from sklearn.datasets import load_iris

import metaml
from metaml.errors import BadDataset, BadRequest
from metaml.tuning.stopping.progress import SearchDisplay

FAST = {"algorithms": ("decision_tree", "k_neighbors"), "folds": 2, "iterations": 4, "kb": ":memory:"}
pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture(scope="module")
def iris():
    return load_iris(as_frame=True).frame


@pytest.fixture(scope="module")
def result(iris, tmp_path_factory):
    return metaml.tune(iris, "target", **FAST, output=tmp_path_factory.mktemp("tuned"), name="flowers")


def test_a_frame_becomes_a_model_that_predicts(result, iris):
    model = result.model

    assert (model.predict(iris) == iris["target"]).mean() > 0.9
    assert model.predict_proba(iris).shape == (150, 3)


def test_the_leaderboard_has_a_row_for_each_evaluation(result):
    board = result.leaderboard

    assert board["rank"].tolist() == [1, 2, 3, 4]
    assert set(board["algorithm"]) == {"decision_tree", "k_neighbors"}
    assert (result.best_algorithm, result.best_config) == (board["algorithm"][0], board["config"][0])


def test_the_report_is_in_the_folder(result):
    page = result.report.read_text(encoding="utf-8")

    assert "flowers" in page
    assert "flowers" in result.html()


def test_the_result_says_in_a_line_what_was_found(result):
    assert (result.metric, result.kind) == ("neg_log_loss", result.facts.final.kind)
    assert result.headline in repr(result)
    assert result.score == result.facts.final.score


def test_a_file_and_an_open_knowledge_base_will_do(iris, tmp_path, kb):
    iris.to_csv(tmp_path / "iris.csv", index=False)

    result = metaml.tune(tmp_path / "iris.csv", **{**FAST, "iterations": 1, "algorithms": "decision_tree"} | {"kb": kb})

    assert result.report is None
    assert result.facts.dataset.name == "iris"
    assert len(kb.runs()) == 1


def test_progress_is_told_on_request(iris, capsys):
    metaml.tune(iris, **FAST | {"iterations": 2}, verbose=1)

    told = capsys.readouterr()
    assert told.out == ""
    assert "2 runs   best log loss" in told.err


@pytest.mark.parametrize(
    ("asked", "error"),
    [
        ({"target": "petals"}, BadDataset),
        ({"time_budget": "soon"}, BadRequest),
        ({"time_budget": 0}, BadRequest),
        ({"iterations": 0}, BadRequest),
        ({"seed": -1}, BadRequest),
        ({"seed": 2**63}, BadRequest),
        ({"exclude": "decision_tree,k_neighbors"}, BadRequest),
        ({"exclude": ["forest"]}, BadRequest),
    ],
    ids=str,
)
def test_what_cannot_be_done_is_said_in_a_sentence(iris, asked, error):
    with pytest.raises(error):
        metaml.tune(iris, **FAST | asked)


def test_without_time_and_iterations_it_takes_five_minutes():
    from metaml.api import settings_of

    nothing = {"algorithms": None, "exclude": ()}

    assert settings_of(time_budget=None, iterations=None, **nothing).seconds == 300.0
    assert settings_of(time_budget=None, iterations=7, **nothing).seconds is None
    assert settings_of(time_budget="2m", iterations=7, **nothing).seconds == 120.0
    assert settings_of(time_budget=90, iterations=None, **nothing).seconds == 90.0


def test_importing_metaml_loads_nothing_and_gives_everything():
    script = (
        "import sys, metaml\n"
        "print({'numpy', 'pandas', 'sklearn', 'sqlalchemy'} & set(sys.modules))\n"
        "import metaml.tuning.session, metaml.tuning.run\n"
        "print([name for name in metaml.__all__ if not callable(getattr(metaml, name))])\n"
    )

    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)

    assert done.stdout.splitlines() == ["set()", "['__version__']"]


@pytest.mark.parametrize("names", ["zzz", ["zzz"]], ids=str)
def test_a_data_set_to_leave_out_that_nobody_knows_is_refused(iris, tmp_path, names):
    with metaml.open_kb(tmp_path / "kb.db") as kb, pytest.raises(BadRequest, match="no data set 'zzz' to leave out"):
        metaml.tune(iris, "target", **{**FAST, "kb": kb}, exclude_datasets=names)


def test_without_experience_any_data_set_may_be_left_out(iris):
    result = metaml.tune(iris, "target", **FAST, exclude_datasets=["zzz"])

    assert result.score is not None


def test_dir_shows_every_public_name():
    assert set(metaml.__all__) <= set(dir(metaml))


def test_a_saved_model_is_loaded_from_its_folder(result, iris):
    model = metaml.load(result.output)

    assert model.predict(iris).tolist() == result.model.predict(iris).tolist()


def test_predictions_are_the_same_from_a_result_a_model_and_a_folder(result, iris, tmp_path):
    iris.to_csv(tmp_path / "iris.csv", index=False)
    shuffled = iris.sample(frac=1, random_state=0)

    table = metaml.predict(result, shuffled, proba=True)

    assert table.columns.tolist() == ["prediction", "0", "1", "2"]
    assert table.index.tolist() == shuffled.index.tolist()
    assert metaml.predict(result.output, tmp_path / "iris.csv").equals(table[["prediction"]].sort_index())
    assert metaml.predict(result.model, shuffled).equals(table[["prediction"]])


def test_a_note_on_the_rows_is_a_warning(result, iris):
    with pytest.warns(UserWarning, match="petal length"):
        metaml.predict(result, iris.drop(columns="petal length (cm)"))


def test_a_number_has_no_probabilities(iris):
    regression = metaml.tune(iris, "sepal width (cm)", **FAST | {"iterations": 1, "algorithms": "decision_tree"})

    with pytest.raises(BadRequest, match="leave proba out"):
        metaml.predict(regression, iris, proba=True)


def test_an_interrupt_keeps_the_best_model_so_far_with_a_warning(iris, monkeypatch):
    def stop(progress):
        if progress.n_done == 2:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("metaml.api.display_of", lambda _, used: SearchDisplay(str, str, used=used))
    monkeypatch.setattr(SearchDisplay, "progress", lambda _, progress: stop(progress))
    # Processes that share the tests among them ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.warns(UserWarning, match=r"interrupted: the model is the best after \d evaluations"):
            result = metaml.tune(iris, **{**FAST, "iterations": 50})
    finally:
        signal.signal(signal.SIGINT, before)

    assert 2 <= len(result.leaderboard) < 50
    assert len(result.model.predict(iris)) == 150


def test_a_frame_is_called_as_its_variable_unless_that_says_nothing(iris):
    flowers, df = iris.copy(), iris.copy()
    one = {**FAST, "iterations": 1}

    assert metaml.tune(flowers, **one).model.dataset == "flowers"
    assert metaml.tune(df, **one).model.dataset == "data"
    assert metaml.tune(flowers, **one, name="iris").model.dataset == "iris"
    classifier = metaml.MetaMLClassifier(**one).fit(flowers.drop(columns="target"), flowers["target"])
    assert classifier.model_.dataset == "data"


def test_results_models_and_knowledge_bases_are_short_in_a_console_and_tables_in_a_notebook(result, kb):
    model = result.model

    assert len(repr(model)) < 200
    assert repr(model).startswith("Model('target' of 'flowers': ")
    for shown in (result, model, kb):
        assert "<table" in shown._repr_html_()
    assert "&#x27;target&#x27;" in model._repr_html_()


def test_the_public_names_are_what_dir_shows():
    assert dir(metaml) == sorted(metaml.__all__)


def test_fewer_than_one_thread_are_refused(iris):
    with pytest.raises(BadRequest, match=r"^threads is 0, but an evaluation needs at least 1\."):
        metaml.tune(iris, "target", **FAST, threads=0)
