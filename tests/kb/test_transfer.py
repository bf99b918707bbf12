"""Merging is a set union by run identity; the difference is what the other knows more."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from metaml_kb import DatasetRecord, KnowledgeBase, ProposalRecord, Run, open_kb
from metaml_kb.transfer import difference, merge

RUNS = st.builds(
    lambda dataset, algorithm, depth, seed, status: Run(
        dataset=dataset,
        algorithm=algorithm,
        config={"depth": depth},
        seed=seed,
        status=status,
        # The score follows from the run, as it does in life: the same run has the same score.
        scores={} if status == "timeout" else {"accuracy": [hash((dataset, algorithm, depth, seed)) % 97 / 97]},
        fold_plan="5-fold",
    ),
    st.sampled_from(["iris", "wine"]),
    st.sampled_from(["svm", "tree"]),
    st.one_of(st.none(), st.integers(0, 2)),
    st.integers(0, 1),
    st.sampled_from(["ok", "timeout"]),
)
CONTENTS = st.lists(RUNS, max_size=6)


def filled(runs: list[Run]) -> KnowledgeBase:
    kb = open_kb(":memory:")
    for name in sorted({run.dataset for run in runs}):
        kb.add_dataset(DatasetRecord(name, name))
    kb.add_runs(runs)
    return kb


def content(kb: KnowledgeBase) -> dict[str, tuple[object, ...]]:
    frame = kb.runs(folds=True)
    return {
        row["run"]: (row["dataset"], row["algorithm"], row["status"], str(row.get("accuracy")))
        for row in frame.to_dict("records")
    }


def union(first: list[Run], second: list[Run]) -> KnowledgeBase:
    target = filled(first)
    merge(target, filled(second))
    return target


def scored(*folds: float) -> Run:
    return Run(dataset="iris", algorithm="svm", config={"C": 1.0}, scores={"r2": list(folds)})


def test_scores_that_were_rounded_to_float32_do_not_clash():
    exact = (0.123456789, -0.123456123)
    rounded = tuple(float(np.float32(value)) for value in exact)

    assert merge(filled([scored(*rounded)]), filled([scored(*exact)])).clashes == ()
    assert merge(filled([scored(*exact)]), filled([scored(*rounded)])).clashes == ()
    assert len(merge(filled([scored(*exact)]), filled([scored(0.12345, -0.12345)])).clashes) == 1


@settings(max_examples=8)
@given(CONTENTS, CONTENTS)
def test_merging_is_idempotent_and_commutative(first, second):
    once, other_way = union(first, second), union(second, first)
    before = content(once)

    again = merge(once, filled(second))

    assert (again.n_runs, again.clashes) == (0, ())
    assert content(once) == before == content(other_way)


@settings(max_examples=5)
@given(CONTENTS, CONTENTS, CONTENTS)
def test_merging_is_associative(first, second, third):
    left, right = union(first, second), filled(first)

    merge(left, filled(third))
    merge(right, union(second, third))

    assert content(left) == content(right)


def test_a_merge_brings_everything(kb, run_of):
    session = kb.start_session("tune", seed=1, settings={"budget": 60})
    kb.add_event(session, "chosen", {"arm": 2})
    kb.add_metafeatures("f" * 32, {"NumberOfInstances": 150.0}, seconds={"simple": 0.25}, n_rows={"simple": 150})
    run = run_of(1, session=session, proposal=ProposalRecord("gbqr", 0.5, details={"because": "iris"}))
    kb.add_run(run)

    with open_kb(":memory:") as other:
        merge(other, kb)

        assert other.runs().equals(kb.runs())
        assert other.metafeatures().equals(kb.metafeatures())
        for table in ("session", "event", "proposal", "metafeature_group", "fold_plan"):
            query = f"SELECT * FROM {table}"
            assert other.sql(query).equals(kb.sql(query))


def test_a_clash_is_reported_and_ours_is_kept(kb, run_of):
    kb.add_run(run_of(1, scores={"accuracy": [0.5]}))
    theirs = filled([])
    theirs.add_dataset(DatasetRecord("f" * 32, "iris"))
    theirs.add_run(run_of(1, scores={"accuracy": [0.9]}))

    merged = merge(kb, theirs)

    assert [(clash.stored, clash.offered) for clash in merged.clashes] == [(0.5, 0.9)]
    assert kb.runs()["accuracy"].tolist() == [0.5]


def test_a_plan_known_only_by_its_key_learns_the_rest(kb, run_of):
    from metaml_kb import FoldPlanRecord

    kb.add_run(run_of(1, fold_plan="plan"))
    with open_kb(":memory:") as other:
        other.add_fold_plan(FoldPlanRecord("plan", "stratified", 5))
        merge(kb, other)

    assert kb.sql("SELECT strategy, n_folds FROM fold_plan").values.tolist() == [["stratified", 5]]


def test_the_difference_is_what_the_other_knows_more(kb, run_of):
    kb.add_run(run_of(1))
    with open_kb(":memory:") as other:
        merge(other, kb)
        other.add_dataset(DatasetRecord("e" * 32, "wine"))
        other.add_runs([run_of(2), run_of(3), run_of(4, dataset="e" * 32)])

        assert difference(kb, other).values.tolist() == [
            ["iris", "random_forest", 2, False],
            ["wine", "random_forest", 1, True],
        ]
        assert difference(other, kb).empty
