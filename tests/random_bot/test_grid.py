"""A grid study: complete, resumable, and of one algorithm."""

import pytest

from metaml.errors import BadConfig, BadRequest
from metaml.evaluation import Limits
from metaml.random_bot.bot import BotSettings, run_bot
from metaml.random_bot.grid import grid_of
from metaml.sources import builtin
from metaml_kb import open_kb
from metaml_kb.predictions.reading import read_predictions, read_truth

pytestmark = pytest.mark.usefixtures("one_pool")
GRID = {"max_depth": [1, 3], "min_samples_leaf": [1, 5, 9]}


def settings(**changes) -> BotSettings:
    fields = {"algorithms": ("decision_tree",), "grid": GRID, "n_folds": 2, "limits": Limits(30.0, 2000.0)}
    return BotSettings(**{**fields, **changes})


def some(*names):
    return [source for source in builtin.sources() if source.name in names]


@pytest.fixture(scope="module")
def kb(tmp_path_factory, one_pool):
    """A grid study that was cut short after 5 runs and then went on."""
    with open_kb(tmp_path_factory.mktemp("grid") / "kb.db") as base:
        run_bot(base, some("iris", "wine"), settings(n_runs=5, keep_predictions="float16"))
        run_bot(base, some("iris", "wine"), settings(keep_predictions="float16"))
        yield base


def test_every_data_set_gets_the_default_and_the_whole_grid_once(kb):
    frame = kb.runs()

    assert frame["origin"].value_counts().to_dict() == {"grid": 12, "default": 2}
    points = frame[frame["origin"] == "grid"].groupby("dataset")[["max_depth", "min_samples_leaf"]]
    assert {name: len(set(map(tuple, part.to_numpy()))) for name, part in points} == {"iris": 6, "wine": 6}
    assert frame["probability"].isna().all()


def test_predictions_are_kept_with_the_truth(kb):
    known = kb.datasets().set_index("name")["fingerprint"]

    assert len(list(read_predictions(kb, known["iris"]))) == 7
    assert len(read_truth(kb, known["wine"]).labels) == 3


def test_a_grid_is_of_one_algorithm():
    with pytest.raises(BadRequest, match="Name it with --algorithm"):
        settings(algorithms=("svm", "mlp"))
    with pytest.raises(BadRequest, match="Name it with --algorithm"):
        grid_of(["C=1"], ("svm", "mlp"))


def test_a_grid_that_fits_no_data_set_is_refused(tmp_path):
    with open_kb(tmp_path / "kb.db") as base, pytest.raises(BadConfig, match="squared_error"):
        run_bot(base, some("iris"), settings(grid={"criterion": ["squared_error"]}))


def test_texts_are_checked_against_all_tasks():
    assert grid_of(["loss=absolute_error"], ("gradient_boosting",)) == {"loss": ["absolute_error"]}
