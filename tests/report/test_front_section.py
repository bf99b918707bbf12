"""The front in a report: a picture for each pair of objectives, points that tell their settings, and commands."""

from dataclasses import replace

from metaml.report.data import FrontDot, FrontFacts
from metaml.report.front_section import front
from tests.report.samples import full

DOTS = [
    FrontDot(number=1, values=(0.95, 0.004, 2e6), text="svm and 1 more", members=[("svm", {"C": 1.5}), ("mlp", {})]),
    FrontDot(number=2, values=(0.9, 0.001, 1e5), text="<tree>", members=[("decision_tree", {"max_depth": 3})]),
]


def facts_of(n):
    """Return a front of the first `n` objectives."""
    return FrontFacts(
        objectives=("roc_auc", "predict_seconds", "model_bytes")[:n],
        labels=("ROC AUC", "seconds for one row", "bytes of the model")[:n],
        is_higher_better=(True, False, False)[:n],
        is_log=(False, True, True)[:n],
        dots=[replace(dot, values=dot.values[:n]) for dot in DOTS],
        evaluated=[(0.8, 0.002, 3e5)[:n], (0.7, 0.0, 2e5)[:n]],
    )


def test_two_objectives_make_one_picture_and_three_make_three():
    assert front(replace(full(), front=facts_of(2))).count("<svg") == 1
    assert front(replace(full(), front=facts_of(3))).count("<svg") == 3


def test_hovering_over_a_point_tells_its_settings():
    page = front(replace(full(), front=facts_of(2)))

    assert "Point 1: svm and 1 more" in page
    assert "svm: C 1.5" in page
    assert "&lt;tree&gt;" in page


def test_a_front_of_one_model_is_told_of_one():
    two = facts_of(2)

    page = front(replace(full(), front=replace(two, dots=two.dots[:1])))

    assert "No other model that was found beats this model in every objective" in page


def test_the_commands_name_the_folder():
    data = full()

    page = front(replace(data, session=replace(data.session, output="my result"), front=facts_of(2)))

    assert "metaml pick &#x27;my result&#x27; --max predict_seconds=0.001" in page


def test_without_objectives_there_is_no_section():
    assert front(full()) is None
