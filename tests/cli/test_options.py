from typer.testing import CliRunner

from metaml_cli.main import app


def help_of_tune() -> list[str]:
    return CliRunner().invoke(app, ["tune", "--help"], terminal_width=80).stdout.splitlines()


def test_help_has_a_section_for_each_heading():
    headings = [line.rstrip(":") for line in help_of_tune() if line and not line[0].isspace() and line.endswith(":")]

    assert headings[:4] == ["Arguments", "Data", "Validation", "Score"]
    assert headings[-1] == "Other"


def test_help_lists_an_option_under_its_heading():
    lines = help_of_tune()

    cluster = lines[lines.index("Cluster:") : lines.index("Other:")]
    assert any("--scheduler" in line for line in cluster)
    assert not any("--target" in line for line in cluster)
