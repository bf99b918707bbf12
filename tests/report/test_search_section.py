"""How the search went: progress, leaderboard, who was given the evaluations."""

import re
from dataclasses import replace

from metaml.report import MemberFacts, render
from tests.report.reading import section, words
from tests.report.samples import full


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
