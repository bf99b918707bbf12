import re

import typer

from metaml.algorithms import KNOWN
from metaml_cli.main import app
from metaml_cli.options import ALGORITHMS_HELP
from metaml_cli.tune_options import SEARCHED_HELP


def names_in(text):
    return re.findall(r"[a-z]+_?[a-z]+", text.replace(" and ", " "))


def test_every_option_of_tune_stands_under_a_heading():
    tune = typer.main.get_command(app).commands["tune"]

    without = [
        option.name for option in tune.params if option.param_type_name == "option" and not option.rich_help_panel
    ]

    assert without == []


def test_the_help_names_the_algorithms_that_a_search_leaves_out():
    never, _, only_long = SEARCHED_HELP.partition("all but ")[2].partition("; ")

    assert names_in(never) == sorted(known.name for known in KNOWN if known.least_budget is None)
    assert only_long == "neural_network from 2m on."
    assert [(known.name, known.least_budget) for known in KNOWN if known.least_budget] == [("neural_network", 120.0)]


def test_the_help_names_the_algorithms_that_a_bot_leaves_out():
    named = names_in(ALGORITHMS_HELP.partition("all but ")[2])

    assert named == sorted(known.name for known in KNOWN if known.least_budget != 0)
