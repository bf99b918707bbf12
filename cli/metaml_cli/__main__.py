"""`python -m metaml_cli` is `metaml`."""

from metaml_cli.main import app

app()
