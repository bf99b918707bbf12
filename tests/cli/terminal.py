"""The command line as a person types it."""

from click.testing import Result
from typer.testing import CliRunner

from metaml_cli.main import app


def metaml(*arguments: object, code: int = 0) -> Result:
    """Return what a command printed; it must end with this exit code."""
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == code, result.output
    return result
