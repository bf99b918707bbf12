import re

import typer

from metaml.algorithms import KNOWN
from metaml_cli.main import app
from metaml_cli.options import ALGORITHMS_HELP


def test_every_option_of_tune_stands_under_a_heading():
    tune = typer.main.get_command(app).commands["tune"]

    without = [
        option.name for option in tune.params if option.param_type_name == "option" and not option.rich_help_panel
    ]

    assert without == []


def test_the_help_names_the_algorithms_that_a_search_leaves_out():
    named = re.findall(r"[a-z]+_?[a-z]+", ALGORITHMS_HELP.partition("all but ")[2].replace(" and ", " "))

    assert named == sorted(known.name for known in KNOWN if not known.is_searched)
