"""The report says what its score rests on, and headlines no gain that is smaller than its error."""

import json
import math
from dataclasses import replace

import pytest

from metaml.report import DatasetFacts, Final, ReportData, SessionFacts, render
from metaml.report.evidence import CoverageRow, Curve, Evidence, ThresholdRow
from metaml.report.summary import summary
from metaml.report.wording import comparison, is_gain_clear

EVIDENCE = Evidence(
    n_trained=7789,
    n_tested=9737,
    fold_scores=[0.8, 0.82, math.nan],
    error=0.01,
    gain_error=0.02,
    curves=[Curve("yes", [(0.0, 0.0), (1.0, 1.0)], [(0.0, 1.0), (1.0, 0.3)], 0.81, 0.62, 0.3)],
    thresholds=[ThresholdRow(0.5, 0.2, 0.7, 0.6, 0.9)],
    coverage=[CoverageRow(0.9, 0.91, 1.2)],
)
DATA = ReportData(
    dataset=DatasetFacts(name="visits", n_rows=218_300, n_features=4, task="binary", target="y"),
    metric="roc_auc",
    session=SessionFacts(used_seconds=1.0),
    baselines={"default lightgbm": 0.80},
    final=Final(kind="single", score=0.81),
    evidence=EVIDENCE,
)


def test_rows_that_trained_and_tested_are_told():
    page = render(DATA)

    assert "218,300 rows were read" in page
    assert "9,737 rows in all were tested" in page
    assert "7,789 rows" in page


@pytest.mark.parametrize("word", ["0.8100 ± 0.01", "ROC curve", "Precision and recall", "Thresholds", "Held the truth"])
def test_the_headline_has_a_spread_and_the_section_its_parts(word):
    assert word in render(DATA)


def test_the_error_of_a_headline_is_not_torn_from_its_number():
    page = render(DATA)

    assert '<span class="whole">0.8100 ± 0.01</span>' in page
    assert '0.8100 <span class="error">± 0.01</span>' in page


def test_a_gain_within_its_error_is_no_headline():
    clear = replace(DATA, evidence=replace(EVIDENCE, error=0.002, gain_error=0.001))

    assert not is_gain_clear(DATA)
    assert comparison(DATA).endswith("the difference is within the standard error.")
    assert "Gain over the best default" not in render(DATA)
    assert "Gain over the best default" in render(clear)


@pytest.mark.parametrize("gain_error", [None, 0.00005, math.nan])
def test_a_gain_within_the_error_of_the_score_is_no_headline(gain_error):
    # The demo: 0.00014 better than the best default, beside a score of ± 0.0029.
    evidence = replace(EVIDENCE, error=0.0029, gain_error=gain_error)
    demo = replace(DATA, final=Final(kind="ensemble", score=0.80014), evidence=evidence)

    assert comparison(demo).endswith("the difference is within the standard error.")
    assert "Gain over the best default" not in render(demo)
    assert "smaller" not in json.dumps(summary(demo)["headline"])


def test_a_report_without_evidence_is_written_too():
    assert "What the score rests on" not in render(replace(DATA, evidence=None))
