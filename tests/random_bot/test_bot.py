"""The bot: even, reproducible, resumable experience."""

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.errors import BadRequest
from metaml.evaluation import Limits
from metaml.random_bot.bot import BotSettings, run_bot
from metaml.random_bot.forecast import plan_runs
from metaml.sources import builtin, folder
from metaml_kb import DatasetRecord, open_kb

FAST = ("decision_tree", "k_neighbors")
pytestmark = pytest.mark.usefixtures("one_pool")


def some(*names):
    return [source for source in builtin.sources() if source.name in names]


def settings_of(**changes) -> BotSettings:
    fields = {"algorithms": FAST, "n_runs": 8, "seed": 3, "n_folds": 3, "limits": Limits(30.0, 2000.0)}
    return BotSettings(**{**fields, **changes})


@pytest.fixture(scope="module")
def made(tmp_path_factory, one_pool):
    """A knowledge base after a first bot, and that bot's report."""
    kb = open_kb(tmp_path_factory.mktemp("bot") / "kb.db")
    report = run_bot(kb, some("iris", "diabetes"), settings_of())
    yield kb, report
    kb.close()


def configs(kb, **wanted) -> set[str]:
    frame = kb.runs(**wanted)
    return set(frame["run"])


def test_a_bot_makes_the_runs_it_was_asked_for(made):
    kb, report = made

    frame = kb.runs()

    assert (report.n_done, report.n_failed) == (8, 0)
    assert frame["status"].tolist() == ["ok"] * 8
    assert frame["session"].nunique() == 1
    assert (frame["fit_seconds"] > 0).all()


def test_every_pair_gets_the_same_number_of_runs(made):
    kb, _ = made

    assert set(kb.run_counts().values()) == {2}
    assert len(kb.run_counts()) == 4


def test_the_default_comes_first_and_the_others_have_their_sampling_density(made):
    kb, _ = made

    frame = kb.runs(dataset="iris", algorithm="decision_tree")

    assert frame["origin"].tolist() == ["default", "random"]
    fingerprint = kb.datasets().set_index("name")["fingerprint"]["iris"]
    assert ALGORITHMS["decision_tree"].space("multiclass").default() in kb.configs(fingerprint, "decision_tree")
    assert frame["probability"].isna().tolist() == [True, False]


def test_what_all_data_sets_should_get_comes_after_the_default_where_it_fits(tmp_path):
    wanted = ALGORITHMS["decision_tree"].space("multiclass").sample(1, np.random.default_rng(0))[0]
    settings = settings_of(algorithms=("decision_tree",), n_runs=None, first=(("decision_tree", wanted),), draws=False)

    with open_kb(tmp_path / "kb.db") as kb:
        run_bot(kb, some("iris", "wine", "diabetes"), settings)
        frame = kb.runs()

    assert frame.groupby("dataset").size().to_dict() == {"diabetes": 1, "iris": 2, "wine": 2}
    assert (frame["min_samples_leaf"] == wanted["min_samples_leaf"]).sum() == 2


def test_every_metric_of_the_task_is_kept_for_each_fold(made):
    kb, _ = made

    classification = kb.runs(dataset="iris", folds=True).iloc[0]
    regression = kb.runs(dataset="diabetes", folds=True).iloc[0]

    assert [len(classification[name]) for name in ("accuracy", "neg_log_loss", "roc_auc", "kappa")] == [3] * 4
    assert [len(regression[name]) for name in ("neg_rmse", "neg_mae", "r2", "spearman")] == [3] * 4


def test_data_sets_are_kept_with_metafeatures_and_a_fold_plan(made):
    kb, _ = made

    assert kb.datasets().set_index("name").loc["iris", ["task", "n_rows", "source"]].tolist() == [
        "multiclass",
        150,
        "builtin",
    ]
    assert sorted(kb.metafeatures()["NumberOfInstances"]) == [150, 442]
    assert set(kb.sql("SELECT strategy, n_folds FROM fold_plan")["strategy"]) == {"stratified", "kfold"}


def test_started_again_it_goes_on_without_repeating(made, tmp_path):
    kb, _ = made
    copy = tmp_path / "copy.db"
    copy.write_bytes(open_and_checkpoint(kb))

    with open_kb(copy) as again:
        report = run_bot(again, some("iris", "diabetes"), settings_of(n_runs=4))

        assert (report.n_done, report.n_known) == (4, 0)
        assert set(again.run_counts().values()) == {3}


def open_and_checkpoint(kb) -> bytes:
    with kb.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    from pathlib import Path

    return Path(kb.name).read_bytes()


def test_the_same_seed_makes_the_same_runs_and_scores(made, two_workers, tmp_path):
    kb, _ = made

    with open_kb(tmp_path / "second.db") as second:
        run_bot(second, some("iris", "diabetes"), settings_of(), executor=two_workers)
        ours, theirs = (base.runs().sort_values("run") for base in (kb, second))

    assert ours["run"].tolist() == theirs["run"].tolist()
    assert ours["accuracy"].fillna(0).tolist() == theirs["accuracy"].fillna(0).tolist()


def test_a_file_that_cannot_be_used_is_set_aside_with_its_reason(tmp_path):
    (tmp_path / "good.csv").write_text("a,b,y\n" + "".join(f"{i},{i % 3},{'pq'[i % 2]}\n" for i in range(40)))
    (tmp_path / "bad.csv").write_text("only,a,header\n")
    notes = []

    with open_kb(":memory:") as kb:
        report = run_bot(
            kb, folder.sources([tmp_path]), settings_of(n_runs=1, algorithms=("decision_tree",)), on_note=notes.append
        )

    assert report.n_done == 1
    assert list(report.set_aside) == ["bad.csv"]
    assert any("predicting 'y', its last column" in note for note in notes)


def test_a_knowledge_base_that_is_deleted_under_a_bot_is_rescued(tmp_path):
    def delete_once(progress) -> None:
        if progress.n_done == 3:
            (tmp_path / "kb.db").unlink()

    with open_kb(tmp_path / "kb.db") as kb:
        report = run_bot(kb, some("iris", "diabetes"), settings_of(), on_progress=delete_once)
        n_runs = kb.n_runs()

    assert (report.n_done, n_runs) == (8, 8)
    assert "was deleted or replaced by another program" in report.rescue
    assert [path.suffix for path in tmp_path.iterdir()] == [".db"]
    assert not (tmp_path / "kb.db").exists()


def test_nothing_usable_is_said(tmp_path):
    (tmp_path / "bad.csv").write_text("only,a,header\n")

    with open_kb(":memory:") as kb, pytest.raises(BadRequest, match=r"No data set can be used \(bad.csv"):
        run_bot(kb, folder.sources([tmp_path]), settings_of())


def test_a_limit_that_is_overrun_is_a_result(tmp_path):
    with open_kb(":memory:") as kb:
        report = run_bot(kb, some("digits"), settings_of(algorithms=("mlp",), n_runs=1, limits=Limits(0.05, 2000.0)))

        assert report.statuses == {("mlp", "timeout"): 1}
        assert kb.runs()["status"].tolist() == ["timeout"]


def test_an_unknown_algorithm_is_refused():
    with pytest.raises(BadRequest, match=r"no algorithm forest. Choose among: random_forest"):
        BotSettings(algorithms=("forest",))


def test_a_plan_tells_what_would_be_done(made):
    kb, _ = made

    frame, summary = plan_runs(kb, some("iris", "diabetes"), settings_of(n_runs=4))

    assert frame["planned_runs"].tolist() == [1, 1, 1, 1]
    assert frame["known_runs"].tolist() == [2, 2, 2, 2]
    assert summary.startswith("4 runs, about ")
    assert "runtimes in the knowledge base" in summary


def test_runs_on_data_sets_of_unknown_size_do_not_tell_how_long_others_take(run_of):
    with open_kb(":memory:") as kb:
        kb.add_dataset(DatasetRecord("name:3", "3"))
        kb.add_run(run_of(dataset="name:3", algorithm="decision_tree", fit_seconds=20.0, origin="imported"))

        frame, summary = plan_runs(kb, some("iris"), settings_of(n_runs=4))

    assert frame["planned_runs"].tolist() == [2, 2]
    assert (frame["expected_seconds_each"] < 1).all()
    assert "a guess: no runtimes are known yet" in summary


def test_a_number_that_cannot_be_a_seed_is_refused():
    with pytest.raises(BadRequest, match="seed -1 cannot be used"):
        settings_of(seed=-1)
