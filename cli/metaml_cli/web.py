"""`metaml web`: look at the knowledge base in a browser, or write its pages as files."""

from typing import Annotated

import typer

from metaml_cli.kb import KB
from metaml_cli.render import say


def web(
    kb: KB = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 is any free one.")] = 8765,
    host: Annotated[str, typer.Option(help="Address to listen at; other than this machine's own it needs --token.")] = (
        "127.0.0.1"
    ),
    token: Annotated[
        str | None, typer.Option(envvar="METAML_TOKEN", help="What visitors must know; at least 16 letters or digits.")
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the browser.")] = False,
) -> None:
    """Look at the knowledge base in a browser: data sets, runs, algorithms, sessions under way.

    The server only reads, and only this machine can reach it.

    Example: metaml web --open
    """
    from metaml.errors import BadRequest

    try:
        from metaml.web.server import check_token, listen, make_app, serve
    except ModuleNotFoundError as missing:
        raise BadRequest(f"metaml web needs {missing.name}. Run: pip install 'metaml[web]'") from None
    from metaml.web.catalogue import Catalogue
    from metaml_kb.browsing.read_only import open_read_only

    check_token(host, token)
    with open_read_only(kb) as base:
        catalogue = Catalogue(base)
        n_runs = base.n_runs()
        if n_runs > MANY_RUNS:
            say(f"Reading {n_runs:,} runs …")
        catalogue.catch_up(None)
        with listen(host, port) as opened:
            address = f"http://{_written(host)}:{opened.getsockname()[1]}/"
            typer.echo(f"{base.name} at {address}{'' if token is None else '?token=' + token}")
            say("Ctrl-C ends it.")
            if open_browser:
                typer.launch(address if token is None else f"{address}?token={token}")
            serve(make_app(catalogue, host=host, token=token), opened)


MANY_RUNS = 100_000


def _written(host: str) -> str:
    """Return an address as it stands in a URL."""
    return f"[{host}]" if ":" in host else host
