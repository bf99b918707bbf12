"""The page shows what is known, leaves out the rest, and can hold any text."""

import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from metaml.data import Repair
from metaml.report import Confusion, ExperienceFacts, FeatureImportance, MemberFacts, render
from metaml.report.account import ledger_rows
from metaml.report.page import SECTIONS
from tests.report.samples import failed, full, least, numeric, trials

HOSTILE = '<script>alert("x")</script>&amp;\x00\ud800'
VOID = {"meta", "col", "br"}


class Reader(HTMLParser):
    """Collects the text of a page, its elements and its attributes, and checks that elements nest."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str | None]] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    reader.close()
    assert reader.open == []
    return reader


def sections(page: str) -> set[str]:
    return set(re.findall(r'<section id="(\w+)"', page))


def section(name: str, page: str) -> str:
    """Return one section of a page."""
    begun = page.index(f'<section id="{name}"')
    return page[begun : page.index("</section>", begun) + len("</section>")]


def words(page: str) -> str:
    return re.sub(r"\s+", " ", "".join(read(page).texts))


def test_a_full_report_has_every_section():
    assert sections(render(full())) == set(SECTIONS)


def test_the_opening_says_what_was_found_against_the_best_default():
    text = words(render(full()))

    assert "A weighted ensemble of 2 models predicts repaid with a cross-validated ROC AUC 0.9600." in text
    assert "The best default, random_forest, reached 0.9200; the distance to a perfect ROC AUC is 50% smaller." in text


def test_a_loss_is_shown_positive():
    text = words(render(numeric()))

    assert "A single svm model predicts price with a cross-validated RMSE 9.0000." in text
    assert "the RMSE is 25% lower" in text
    assert "Truth against prediction" in text


def test_what_is_not_known_is_left_out_or_explained():
    page = render(least())

    assert sections(page) == {"data", "progress", "experience", "versions"}
    assert "No model was found." in words(page)
    assert "No evaluation finished" in words(page)
    assert "No knowledge base took part" in words(page)


def test_a_fallback_is_labelled():
    text = words(render(failed()))

    assert "This is a fallback" in text
    assert "1 failed" in text


def test_a_fallback_tells_its_reason_once():
    data = failed()
    text = words(render(replace(data, final=replace(data.final, why="the time was up; give more"))))

    assert text.count("the time was up") == 1
    assert "This is a fallback: the time was up; give more." in text


def test_a_reason_that_is_given_is_shown():
    page = render(replace(failed(), absent={"features": "The budget was too short to measure it."}))

    assert "The budget was too short to measure it." in words(page)


def test_an_empty_knowledge_base_is_no_contribution():
    assert "The knowledge base was empty." in words(
        render(replace(full(), experience=ExperienceFacts(n_datasets=0, n_runs=0)))
    )


def test_experience_that_could_not_be_used_is_not_called_empty():
    text = "Experience could not be used (OSError: no such file)."

    page = words(render(replace(full(), experience=ExperienceFacts(n_datasets=0, n_runs=0, text=text))))

    assert text in page
    assert "was empty" not in page


def test_the_guard_is_reported_either_way():
    never = replace(full(), experience=ExperienceFacts(n_datasets=2, n_runs=9, is_judged=True))

    assert "The guard switched experience off for svm and mlp, because" in words(render(full()))
    assert "the guard left it on to the end" in words(render(never))


def test_a_guard_that_had_nothing_to_judge_is_not_said_to_agree():
    unjudged = replace(full(), experience=ExperienceFacts(n_datasets=2, n_runs=9), trials=[])

    assert "guard" not in words(render(unjudged))


def test_text_from_a_user_is_only_ever_text():
    data = full()
    hostile = replace(
        data,
        dataset=replace(
            data.dataset,
            name=HOSTILE,
            target=HOSTILE,
            class_counts={HOSTILE: 3},
            repairs=[Repair(HOSTILE, HOSTILE, HOSTILE)],
        ),
        session=replace(data.session, output=HOSTILE, session=HOSTILE, versions={HOSTILE: HOSTILE}),
        trials=[replace(row, algorithm=HOSTILE, config={HOSTILE: HOSTILE}) for row in data.trials],
        features=[FeatureImportance(HOSTILE, 1.0, 0.1)],
        confusion=Confusion([HOSTILE, HOSTILE], [[1, 2], [3, 4]]),
        baselines={HOSTILE: 0.9},
        hyperparameters={HOSTILE: [(HOSTILE, 0.5)]},
        experience=ExperienceFacts(n_datasets=1, n_runs=1, similar=[(HOSTILE, 0.1)], text=HOSTILE),
        ledger={HOSTILE: 30.0},
        absent={},
    )

    page = render(hostile)

    reader = read(page)
    assert "script" not in reader.tags
    assert '<script>alert("x")</script>&amp;' in "".join(reader.texts)
    assert not any(name.startswith("on") for name, _ in reader.attributes)
    page.encode("utf-8")
    assert "\x00" not in page


def test_nothing_is_fetched_from_anywhere():
    for data in (full(), numeric(), least()):
        page = render(data)

        assert "http://" not in page
        assert "https://" not in page
        assert {name for name, _ in read(page).attributes}.isdisjoint({"src", "srcset", "action", "data"})
        assert all(value.startswith("#") for name, value in read(page).attributes if name == "href")
        assert "@import" not in page
        assert "url(" not in page


def test_a_huge_session_makes_a_small_page():
    data = full()
    many = replace(
        data,
        dataset=replace(
            data.dataset,
            repairs=[Repair(f"column {number}", "dropped", "constant") for number in range(20_000)],
            class_counts={str(number): 2 for number in range(500)},
        ),
        trials=trials(20_000),
        features=[FeatureImportance("x" * 300, 1.0, 0.1)] * 20_000,
        confusion=Confusion([str(number) for number in range(300)], [[1.0] * 300] * 300),
        residuals=[(1.0, 2.0)] * 30_000,
    )

    assert len(render(many).encode()) < 1_500_000
    assert len(render(full()).encode()) < 200_000


def test_the_ledger_adds_up_to_the_wall_time():
    complete = full()
    short = replace(complete, ledger={"evaluations": 20.0})

    assert ledger_rows(complete)[0] == ("describing the data set", 1.0)
    assert sum(seconds for _, seconds in ledger_rows(complete)) == pytest.approx(30.0)
    assert sum(seconds for _, seconds in ledger_rows(short)) == pytest.approx(30.0)
    assert ledger_rows(short)[-1] == ("not accounted for", 10.0)


def test_tuned_decisions_are_shown_as_a_threshold():
    assert "class yes is predicted from a probability of 0.8000" in words(render(full()))


def test_scores_that_are_all_equal_can_be_drawn():
    data = full()
    flat = replace(data, trials=[replace(row, score=0.9) for row in data.trials], baselines={"default svm": 0.9})

    assert "nan" not in render(flat)


def ticks_of(picture: str) -> list[str]:
    """Return the labels along the upright axis of a picture, from below."""
    return re.findall(r'<text [^>]*text-anchor="end">([^<]*)</text>', picture)


def test_scores_that_are_equal_but_for_rounding_look_equal():
    data = full()
    rounded = replace(
        data,
        trials=[replace(data.trials[0], status="ok", score=0.9)],
        baselines={},
        final=replace(data.final, score=0.9 - 1e-9),
    )

    picture = section("progress", render(rounded)).split("</svg>")[0]

    ticks = ticks_of(picture)
    assert len(ticks) == len(set(ticks)) > 2
    assert float(ticks[0]) < 0.88


@pytest.mark.parametrize("unit", [1.0, 1e3, 1e6, 1e-6])
@pytest.mark.parametrize("middle", [0.0, 1000.2, 10.3])
def test_an_axis_has_no_two_equal_labels(middle, unit):
    points = [(unit * (middle + 0.01 * k), unit * (middle + 0.01 * k)) for k in range(100)]

    page = render(replace(numeric(), residuals=points))

    for picture in section("errors", page).split("</svg>")[:2]:
        ticks = ticks_of(picture)
        assert len(ticks) == len(set(ticks)) > 1


def columns_text(means, std=0.01):
    """Return the text about columns of a report in which shuffling them costs `means`, plus or minus `std`."""
    found = [FeatureImportance(f"column {place}", mean, std) for place, mean in enumerate(means)]
    return words(section("features", render(replace(full(), features=found))))


def test_the_importance_of_columns_says_which_member_was_looked_at():
    data = full()
    alone = replace(data.final, members=data.final.members[:1])
    heaviest = data.final.members[0].algorithm

    assert f"ROC AUC of {heaviest}, the member with the most weight, falls" in section("features", render(data))
    assert "ROC AUC falls" in section("features", render(replace(data, final=alone)))


@pytest.mark.parametrize("n_classes", [2, 8])
def test_the_table_of_classes_has_a_title(n_classes):
    labels = [f"class {k}" for k in range(n_classes)]
    confused = Confusion(labels, (5 * np.eye(n_classes) + 1).tolist())

    assert "Class by class" in section("errors", render(replace(full(), confusion=confused)))


def test_only_columns_that_matter_measurably_are_shown():
    text = columns_text([0.2, 0.1, *[0.0] * 28])

    assert "column 1" in text
    assert "column 2" not in text
    assert text.endswith("28 other columns do not matter measurably.")


def test_columns_that_matter_but_are_not_shown_are_counted():
    assert columns_text([*[0.5] * 23, 0.0]).endswith(
        "3 more columns matter measurably; 1 other column does not matter measurably."
    )


def test_where_no_column_matters_measurably_the_best_are_shown():
    text = columns_text([0.009, 0.008, 0.007, 0.006])

    assert "column 2" in text
    assert "column 3" not in text
    assert text.endswith("No column matters measurably by itself; the best 3 of 4 are shown.")


def test_where_every_column_is_shown_nothing_is_counted():
    assert columns_text([0.2, 0.1]).endswith("0.100 ± 0.010")


def test_members_of_the_model_are_on_the_leaderboard_however_low_they_stand():
    data = full()
    last = min((row for row in data.trials if row.status == "ok"), key=lambda row: row.score)
    low = MemberFacts(algorithm=last.algorithm, weight=1.0, score=last.score, config=last.config)

    board = section("leaderboard", render(replace(data, final=replace(data.final, members=[low]))))

    assert board.count("<tr") == 1 + 20 + 1
    assert re.findall(r'<tr class="marked"><td class="number">(\d+)', board) == ["35"]
    assert "The best 20 of 35 complete evaluations, and 1 member of the saved model further down." in words(board)


def test_settings_that_are_folded_up_say_what_is_counted():
    data = full()
    one = replace(data, trials=[replace(row, config={"depth": 3}) for row in data.trials])

    assert "2 settings" in words(section("leaderboard", render(data)))
    assert "1 setting" in words(section("leaderboard", render(one)))


def test_strokes_at_the_edge_of_a_picture_are_explained_where_there_are_some():
    data = full()
    poor = replace(data, trials=[*data.trials, replace(data.trials[0], number=41, score=0.1)])

    assert "off the scale" in words(section("progress", render(poor)))
    assert "off the scale" not in words(section("progress", render(data)))
