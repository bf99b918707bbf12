import typer

from metaml_cli.main import app


def test_every_option_of_tune_stands_under_a_heading():
    tune = typer.main.get_command(app).commands["tune"]

    without = [
        option.name for option in tune.params if option.param_type_name == "option" and not option.rich_help_panel
    ]

    assert without == []
