"""A run is found by the beginning of its key, with all that it refers to."""

import pytest

from metaml_kb import EnvironmentRecord, FoldPlanRecord, ProposalRecord
from metaml_kb.errors import BadQuery
from metaml_kb.lookup import find_run


def test_everything_a_run_refers_to_comes_back_as_it_was_stored(kb, run_of):
    machine = EnvironmentRecord({"python": "3.11.4"}, "host", "Linux", "cpu", 0.5)
    plan = FoldPlanRecord("2-fold", "stratified", 2, 7, None, b"packed")
    session = kb.start_session("tune", seed=3, settings={"metric": "accuracy"})
    proposal = ProposalRecord("gbqr", 0.7, 0.1, 2.0, 0.9, {"reasons": ["a"]})
    kb.add_environment(machine)
    kb.add_fold_plan(plan)
    run = run_of(1, session=session, environment=machine.key, proposal=proposal, origin="surrogate", finished_at=1e9)
    kb.add_run(run)

    found = find_run(kb, run.identity)

    assert found.key == run.identity
    assert found.run == run
    assert (found.fold_plan, found.environment) == (plan, machine)
    assert found.dataset.name == "iris"
    assert found.session is not None
    assert (found.session.key, found.session.kind, found.session.seed) == (session, "tune", 3)
    assert found.session.settings == {"metric": "accuracy"}


def test_a_run_without_companions_is_found_by_a_beginning_of_any_length(kb, run_of):
    run = run_of(1, scores={"accuracy": 0.5}, finished_at=1e9)
    kb.add_run(run)

    found = [find_run(kb, run.identity[:length]) for length in (1, 8, 31)]

    assert [item.run for item in found] == [run] * 3
    assert found[0].session is found[0].environment is None


def test_upper_case_and_blanks_do_not_matter(kb, run_of):
    run = run_of(1)
    kb.add_run(run)

    assert find_run(kb, f" {run.identity[:8].upper()} ").key == run.identity


@pytest.mark.parametrize("beginning", ["", "xyz", "0" * 33, "%"])
def test_what_is_no_key_is_refused(kb, beginning):
    with pytest.raises(BadQuery, match="is not the key of a run"):
        find_run(kb, beginning)


def test_an_unknown_key_is_told(kb):
    with pytest.raises(BadQuery, match=r"has a key that begins with abc\. See: metaml kb runs"):
        find_run(kb, "abc")


def test_an_ambiguous_beginning_names_the_runs(kb, run_of):
    runs = [run_of(number) for number in range(17)]
    kb.add_runs(runs)
    initials = [run.identity[0] for run in runs]
    shared = next(initial for initial in initials if initials.count(initial) > 1)

    with pytest.raises(BadQuery, match="Give more of it") as told:
        find_run(kb, shared)

    assert min(run.identity for run in runs if run.identity[0] == shared)[:9] in str(told.value)
