"""best.json and leaderboard.csv hold the same facts as the report, for programs."""

import csv
import io
import json
import math
from dataclasses import replace

from metaml.report import leaderboard_csv, render, summary
from tests.report.samples import failed, full, least, numeric


def test_a_summary_survives_json():
    for data in (full(), numeric(), least(), failed()):
        facts = summary(data)

        assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def test_a_summary_has_the_model_and_the_single_best():
    facts = summary(numeric())

    assert facts["metric"] == {"name": "neg_rmse", "label": "RMSE", "is_loss": True, "is_after_thresholds": False}
    assert facts["model"]["score"] == -9.0
    assert facts["model"]["shown"] == 9.0
    assert facts["best"]["score"] == max(row.score for row in numeric().trials if row.status == "ok")
    assert facts["evaluations"] == {"ok": 35, "partial": 5}


def test_a_score_after_thresholds_is_called_so_and_a_plain_one_is_not():
    plain = replace(full(), metric="accuracy")
    data = replace(plain, is_after_thresholds=True)

    facts = summary(data)

    assert facts["metric"]["is_after_thresholds"]
    assert "cross-validated accuracy after thresholds" in facts["headline"]
    assert "accuracy is that after thresholds" in render(data)
    assert "after thresholds" not in summary(plain)["headline"] + render(plain)


def test_the_leaderboard_has_every_run_the_complete_ones_ranked():
    rows = list(csv.DictReader(io.StringIO(leaderboard_csv(full()))))

    ranked = [float(row["score"]) for row in rows if row["rank"]]
    assert len(rows) == 40
    assert len(ranked) == 35
    assert ranked == sorted(ranked, reverse=True)
    assert json.loads(rows[0]["config"]).keys() == {"depth", "rate"}
    assert {row["status"] for row in rows[35:]} == {"partial"}


def test_the_headline_says_that_a_score_is_not_known():
    data = failed()

    headline = summary(replace(data, final=replace(data.final, score=math.nan, why="the time was up")))["headline"]

    assert headline.startswith("A simple fallback model; its score is not known. It was saved because the time was up.")
