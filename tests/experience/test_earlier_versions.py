"""What a search inherits from other states of its data set, such as last week's."""

import json
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from metaml.data import from_frame
from metaml.evaluation import Limits, make_plan
from metaml.experience.earlier_versions import N_INHERITED, find_earlier_versions
from metaml.metafeatures import describe
from metaml.search.settings import TuneSettings
from metaml.tuning.replay_session import replay_session
from metaml.tuning.run import tune
from metaml.tuning.session import TuneSession
from metaml_kb import open_kb
from metaml_kb.lookup import final_models, find_run

FAST = ("decision_tree", "k_neighbors")
SETTINGS = TuneSettings(
    algorithms=FAST, seconds=None, n_iterations=8, n_folds=3, limits=Limits(30.0), seed=7, metric="accuracy"
)


def customers(n_rows: int) -> pd.DataFrame:
    """Return the first rows of a table that grows."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(400, 5))
    frame = pd.DataFrame(table, columns=["age", "visits", "spent", "calls", "months"])
    frame["leaves"] = np.where(table[:, 0] + 0.5 * table[:, 1] ** 2 > 0.6, "yes", "no")
    return frame.head(n_rows)


def dataset_of(frame: pd.DataFrame, name: str, target: str = "leaves"):
    return from_frame(frame, target=target, name=name)


@pytest.fixture(scope="module")
def last_week():
    return dataset_of(customers(200), "customers-week-1")


@pytest.fixture(scope="module")
def executor(two_workers):
    return two_workers


@pytest.fixture(scope="module")
def kb(last_week, executor, tmp_path_factory):
    """A knowledge base that knows last week's table."""
    with open_kb(tmp_path_factory.mktemp("earlier") / "kb.db") as base:
        session = TuneSession(last_week, base, SETTINGS, executor)
        session.run()
        session.close()
        yield base


def inherited(kb, dataset, **changes):
    wanted = {"metric": "accuracy", "algorithms": FAST, "simple": describe(dataset, seconds=1.0).values, **changes}
    return find_earlier_versions(kb, dataset, make_plan(dataset, 3, 0), **wanted)


def test_what_did_best_last_week_is_inherited_best_first(kb):
    this_week = dataset_of(customers(260), "customers-week-2")

    found = inherited(kb, this_week)

    best = kb.best("customers-week-1", "accuracy", n=N_INHERITED)
    assert found.inherited[0].run == best["run"].iloc[0]
    assert [item.place for item in found.inherited] == sorted(item.place for item in found.inherited)
    assert {name for name, _ in found.configs} == set(FAST)
    assert (found.names, found.n_runs) == (["customers-week-1"], 8)


@pytest.mark.parametrize(
    "change",
    [
        lambda frame: frame.rename(columns={"age": "height", "visits": "weight"}),
        lambda frame: frame.rename(columns={"leaves": "buys"}),
        lambda frame: frame.assign(leaves=np.where(np.arange(len(frame)) % 3 == 0, "perhaps", frame["leaves"])),
        lambda frame: frame.assign(leaves=np.where(np.arange(len(frame)) % 20 == 0, "yes", "no")),
    ],
    ids=["other columns", "another target", "more classes", "another majority"],
)
def test_another_table_inherits_nothing(kb, change):
    frame = change(customers(260))
    other = dataset_of(frame, "others", target=str(frame.columns[-1]))

    assert inherited(kb, other).configs == []


def test_a_table_with_one_column_more_is_still_the_same(kb):
    frame = customers(260).assign(region=np.arange(260) % 7 + 0.5)
    this_week = dataset_of(frame[["region", *customers(1).columns]], "customers-week-2")

    assert inherited(kb, this_week).names == ["customers-week-1"]


def test_what_is_left_out_is_not_inherited(kb, last_week):
    this_week = dataset_of(customers(260), "customers-week-2")

    assert inherited(kb, this_week, left_out=[last_week.fingerprint]).configs == []


def test_a_data_set_that_is_itself_left_out_inherits_nothing(kb):
    this_week = dataset_of(customers(260), "customers-week-2")

    assert inherited(kb, this_week, left_out=[this_week.fingerprint]).configs == []


def test_its_own_earlier_runs_count_only_where_the_clock_decides(kb, last_week):
    assert inherited(kb, last_week).configs == []
    assert inherited(kb, last_week, budget_seconds=60.0).names == ["customers-week-1"]


def test_what_would_take_too_long_is_not_inherited(kb):
    this_week = dataset_of(customers(260), "customers-week-2")

    assert inherited(kb, this_week, budget_seconds=1e-6).configs == []


def test_a_metric_that_nobody_scored_by_is_no_reason_to_fail(kb):
    this_week = dataset_of(customers(260), "customers-week-2")

    assert inherited(kb, this_week, metric="unheard of").configs == []


@pytest.fixture(scope="module")
def this_week(kb, executor):
    """A search on this week's table that may use what is known of last week's."""
    session = TuneSession(dataset_of(customers(260), "customers-week-2"), kb, SETTINGS, executor)
    return session, session.run()


def test_a_search_opens_with_what_is_inherited_and_says_where_it_is_from(kb, this_week):
    session, found = this_week

    known = inherited(kb, session.dataset)
    first = found.trials[: len(session.search_plan.initial_design)]
    told = [trial.run.proposal.details["carriers"] for trial in first]

    assert list(session.search_plan.initial_design) == known.configs[:3]
    assert {carrier["run"] for carriers in told for carrier in carriers} == {item.run for item in known.inherited[:3]}
    assert "customers-week-1" in found.experience.inherited_from
    assert found.experience.n_runs == 8


def test_a_search_that_inherits_can_be_replayed(kb, this_week):
    _, found = this_week

    steps = replay_session(kb, found.session)

    assert len(steps) == 8
    assert all(step.is_same for step in steps)


def test_what_is_inherited_is_kept_in_the_line_up_of_the_session(kb, this_week):
    session, found = this_week

    settings = json.loads(
        kb.sql("SELECT settings FROM session WHERE key = :key", {"key": found.session})["settings"].iloc[0]
    )

    assert [tuple(item) for item in settings["search_plan"]["initial_design"]] == list(
        session.search_plan.initial_design
    )


def test_without_experience_nothing_is_inherited(kb, executor):
    this_week = dataset_of(customers(280), "customers-week-3")
    session = TuneSession(this_week, kb, replace(SETTINGS, uses_memory=False), executor)
    session.run(should_stop=lambda: True)

    assert session.search_plan.initial_design == ()


def test_the_members_of_the_last_model_come_first_the_heaviest_before(tmp_path, last_week, executor):
    with open_kb(tmp_path / "kb.db") as base:
        session = TuneSession(last_week, base, SETTINGS, executor)
        found = session.run()
        worst, best = found.ranked[-1].run.identity, found.ranked[0].run.identity
        final = {"metric": "accuracy", "score": 0.9, "members": [(best, 0.3), (worst, 0.7)]}
        session.close(final=final)

        known = inherited(base, dataset_of(customers(260), "customers-week-2"))

    assert [item.run for item in known.inherited[:2]] == [worst, best]
    assert [item.is_member for item in known.inherited[:3]] == [True, True, False]
    assert known.drift["NumberOfInstances"] == (200.0, 260.0)


def test_a_timed_search_begins_with_the_members_of_the_last_model(tmp_path, executor):
    quick = replace(SETTINGS, n_iterations=None, seconds=4.0)
    with open_kb(tmp_path / "kb.db") as base:
        tune(dataset_of(customers(200), "customers-week-1"), quick, kb=base, executor=executor)
        members = [run for run, _ in final_models(base, base.datasets()["fingerprint"].iloc[0])[0]["members"]]
        session = TuneSession(dataset_of(customers(260), "customers-week-2"), base, quick, executor)
        session.run(should_stop=lambda: True)

        heaviest = find_run(base, members[0]).run

    assert session.search_plan.initial_design[0] == (heaviest.algorithm, dict(heaviest.config))
