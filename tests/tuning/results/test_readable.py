"""`readable=True` ends with one model whose report shows all of it."""

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import metaml
from metaml.errors import BadRequest
from metaml_cli.main import app

pytestmark = pytest.mark.usefixtures("one_pool")


@pytest.fixture(scope="module")
def shop():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"size": rng.normal(size=120), "kind": rng.choice(["a", "b"], 120)})
    return frame.assign(bought=np.where(frame["size"] + (frame["kind"] == "a") > 0.4, "yes", "no"))


def test_the_report_shows_the_model_that_was_saved(shop, tmp_path):
    result = metaml.tune(shop, readable=True, iterations=3, folds=2, kb=":memory:", output=tmp_path)

    report = (tmp_path / "report.html").read_text()

    assert len(result.model.members) == len(result.model.members[0].estimators) == 1
    assert result.best_algorithm in ("additive", "elastic_net", "small_tree")
    assert 'id="whole"' in report
    assert set(result.leaderboard["algorithm"]) == {"additive", "elastic_net", "small_tree"}


def test_a_model_with_thousands_of_effects_is_not_written_down(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(120, 110))).add_prefix("x").assign(kind=[f"k{n % 20}" for n in range(120)])

    metaml.tune(frame, target="kind", algorithms="elastic_net", iterations=1, folds=2, kb=":memory:", output=tmp_path)

    assert 'id="whole"' not in (tmp_path / "report.html").read_text()


def test_what_nobody_can_read_is_refused(shop):
    with pytest.raises(BadRequest, match="Nobody can read a model of svm"):
        metaml.tune(shop, readable=True, algorithms="svm,additive", iterations=1, kb=":memory:")
    with pytest.raises(BadRequest, match="two layers"):
        metaml.tune(shop, readable=True, layers=2, iterations=1, kb=":memory:")


def test_the_command_line_refuses_it_too(shop, tmp_path):
    shop.to_csv(tmp_path / "shop.csv", index=False)

    result = CliRunner().invoke(
        app, ["tune", str(tmp_path / "shop.csv"), "--readable", "--algorithms", "svm", "--iterations", "1", "--no-kb"]
    )

    assert result.exit_code == 2
    assert "Nobody can read" in result.stderr


def test_the_estimators_have_it_too(shop):
    found = metaml.MetaMLClassifier(readable=True, iterations=1, folds=2, kb=":memory:")

    found.fit(shop[["size", "kind"]], shop["bought"])

    assert len(found.model_.members) == 1
