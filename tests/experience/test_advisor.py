"""The advisor of a search: a plan at once, and a better one when all experience is read."""

from dataclasses import replace

import pytest

from metaml.evaluation import make_plan
from metaml.experience.advisor import Advisor
from metaml.metafeatures import describe
from metaml.search.settings import TuneSettings
from metaml.sources import builtin
from metaml.tuning.ledger import Ledger
from metaml_kb import DatasetRecord, open_kb
from tests.experienced import WANTED

SETTINGS = TuneSettings(algorithms=WANTED.algorithms, seconds=None, n_iterations=20, n_folds=2)


@pytest.fixture(scope="module")
def iris():
    return builtin.load("iris")


@pytest.fixture(scope="module")
def known(experienced, iris):
    """The experienced knowledge base, which has heard of the data set."""
    experienced.add_dataset(DatasetRecord(iris.fingerprint, iris.name, task=iris.task))
    experienced.add_metafeatures(iris.fingerprint, describe(iris).values)
    return experienced


def advisor_of(kb, dataset, settings=SETTINGS):
    plan = make_plan(dataset, settings.n_folds)
    return Advisor(kb, dataset, settings, metric=WANTED.metric, plan=plan, ledger=Ledger())


def test_nothing_is_read_before_a_plan_is_asked_for(iris):
    with open_kb(":memory:") as kb:
        advisor = advisor_of(kb, iris)

    assert advisor.design is None
    assert advisor.experience is None
    assert not advisor.is_done


def test_without_experience_a_plan_has_the_algorithms_and_nothing_to_open_with(iris):
    with open_kb(":memory:") as kb:
        advisor = advisor_of(kb, iris)

        plan = advisor.quick_plan()

        assert set(plan.algorithms) == set(WANTED.algorithms)
        assert plan.initial_design == ()
        assert advisor.reasons("decision_tree", {}) == {}
        assert advisor.contribution([]) is None


@pytest.mark.usefixtures("experience")
def test_a_plan_at_once_opens_with_the_portfolio(known, iris):
    advisor = advisor_of(known, iris)

    plan = advisor.quick_plan()

    assert plan.initial_design
    assert advisor.design is not None
    assert advisor.experience is None


@pytest.mark.usefixtures("experience")
def test_the_full_plan_puts_the_algorithm_that_did_better_first_and_knows_why(known, iris):
    advisor = advisor_of(known, iris)

    plan = advisor.full_plan()
    why = advisor.reasons(*plan.initial_design[-1])
    facts = advisor.contribution([("decision_tree", {})] * 3)

    assert plan.algorithms[0] == "decision_tree"
    assert why["carriers"]
    assert (facts.n_datasets, facts.n_warm_starts) == (14, 3)


@pytest.mark.usefixtures("experience")
def test_a_search_that_is_too_short_reads_no_more_than_the_portfolio_and_says_so(known, iris):
    advisor = advisor_of(known, iris, replace(SETTINGS, seconds=5.0, n_iterations=None))

    advisor.quick_plan()
    advisor.begin(is_new=False)

    assert advisor.experience is None
    assert advisor.contribution([]).text == "The search was too short to use more than its portfolio."


@pytest.mark.usefixtures("experience")
def test_a_search_that_wants_no_memory_gets_none(known, iris):
    advisor = advisor_of(known, iris, replace(SETTINGS, uses_memory=False))

    quick, full = advisor.quick_plan(), advisor.full_plan()

    assert quick == full
    assert advisor.design is None
