import pytest
from typer.testing import CliRunner

from metaml_cli.main import app


def help_of(*command: str) -> list[str]:
    return CliRunner().invoke(app, [*command, "--help"], terminal_width=80).stdout.splitlines()


def help_of_tune() -> list[str]:
    return help_of("tune")


@pytest.mark.parametrize("group", [[], ["kb"]], ids=["metaml", "kb"])
def test_what_a_command_is_for_fits_on_its_line_of_80_columns(group):
    lines = help_of(*group)

    summaries = lines[lines.index("Commands:") + 1 :]

    assert len(summaries) > 10
    assert [line for line in summaries if not line.endswith(".") or line.endswith("...")] == []


def test_help_names_what_an_option_takes_in_a_word():
    lines = help_of("bot")

    assert any(line.startswith("  --runs NUMBER ") for line in lines)
    assert not any("range>" in line or "list[" in line for line in lines)


def test_help_writes_arguments_in_capitals():
    lines = help_of("kb", "merge")

    assert lines[0].endswith("kb merge [OPTIONS] TARGET SOURCES...")
    assert any(line.startswith("  SOURCES... ") for line in lines)


def test_with_few_headings_options_without_one_come_first():
    lines = help_of("kb", "runs")

    assert lines.index("Options:") < lines.index("Knowledge base:")


def test_help_has_a_section_for_each_heading():
    headings = [line.rstrip(":") for line in help_of_tune() if line and not line[0].isspace() and line.endswith(":")]

    assert headings[:4] == ["Arguments", "Data", "Validation", "Score"]
    assert headings[-1] == "Other"


def test_help_lists_an_option_under_its_heading():
    lines = help_of_tune()

    cluster = lines[lines.index("Cluster:") : lines.index("Other:")]
    assert any("--scheduler" in line for line in cluster)
    assert not any("--target" in line for line in cluster)
