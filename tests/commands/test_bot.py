"""The bot from Python."""

import pytest

import metaml
from metaml.errors import BadRequest

pytestmark = pytest.mark.usefixtures("one_pool")


def test_the_bot_wants_data_sets():
    with pytest.raises(BadRequest, match="builtin=True"):
        metaml.bot(runs=1, kb=":memory:")


def test_the_bot_takes_a_folder(iris, tmp_path):
    iris.to_csv(tmp_path / "iris.csv", index=False)

    with metaml.open_kb(":memory:") as kb:
        report = metaml.bot(tmp_path, algorithms=["decision_tree"], runs=1, folds=2, time_budget=60, kb=kb)
        names = kb.runs()["dataset"].tolist()

    assert (report.n_done, names) == (1, ["iris"])
