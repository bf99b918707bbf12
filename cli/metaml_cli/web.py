"""`metaml web`: look at the knowledge base in a browser, or write its pages as files."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from metaml_cli.kb import KB
from metaml_cli.render import counted, say

if TYPE_CHECKING:
    from metaml.web.catalogue import Catalogue

MANY_RUNS = 100_000


def web(
    kb: KB = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 is any free one.")] = 8765,
    host: Annotated[str, typer.Option(help="Address to listen on; an address that others can reach needs --token.")] = (
        "127.0.0.1"
    ),
    token: Annotated[
        str | None, typer.Option(envvar="METAML_TOKEN", help="Password for visitors: at least 16 letters or digits.")
    ] = None,
    open_browser: Annotated[bool, typer.Option("--open", help="Open the browser.")] = False,
    sql: Annotated[bool, typer.Option("--sql", help="Add a page for SELECT statements; they only read.")] = False,
    export: Annotated[Path | None, typer.Option(metavar="DIR", help="Write the pages as files instead.")] = None,
    runs: Annotated[int, typer.Option(min=0, help="With --export: number of runs that get their own page.")] = 1000,
) -> None:
    """Look at the knowledge base in a browser.

    Pages show data sets, runs, algorithms and running sessions.

    The server only reads. By default only this machine can reach it.

    Example: metaml web --open
    """
    from metaml.errors import BadRequest
    from metaml.web.catalogue import Catalogue
    from metaml.web.site import precompute
    from metaml_kb.browsing.read_only import open_read_only

    if export is None:
        _check_extra(host, token)
    elif sql:
        raise BadRequest("SQL needs the server. Leave out --sql or --export.")
    with open_read_only(kb) as base:
        catalogue = Catalogue(base, allows_sql=sql)
        n_runs = base.n_runs()
        if n_runs > MANY_RUNS:
            say(f"Reading {n_runs:,} runs …")
        precompute(catalogue)
        if export is None:
            _serve(catalogue, host, port, token, open_browser)
        else:
            _export(catalogue, export, runs)


def _check_extra(host: str, token: str | None) -> None:
    """Raise `BadRequest` if the web libraries are missing, or if other machines could connect without a token."""
    from metaml.errors import BadRequest

    try:
        from metaml.web.server import check_token
    except ModuleNotFoundError as missing:
        raise BadRequest(f"metaml web needs {missing.name}. Run: pip install 'metaml[web]'") from None
    check_token(host, token)


def _serve(catalogue: "Catalogue", host: str, port: int, token: str | None, open_browser: bool) -> None:
    from metaml.web.server import listen, make_app, serve

    with listen(host, port) as opened:
        secret = "" if token is None else f"?token={token}"
        address = f"http://{_written(host)}:{opened.getsockname()[1]}/{secret}"
        typer.echo(f"{catalogue.kb.name} at {address}")
        say("Ctrl-C ends it.")
        if open_browser:
            typer.launch(address)
        serve(make_app(catalogue, host=host, token=token), opened)


def _export(catalogue: "Catalogue", folder: Path, most_runs: int) -> None:
    from metaml.web.export import export

    done = export(catalogue, folder, most_runs=most_runs)
    typer.echo(
        f"{counted(done.n_pages, 'page')} and {counted(done.n_tables, 'table')}; begin with {folder / 'index.html'}"
    )


def _written(host: str) -> str:
    """Return an address as it stands in a URL; for all addresses, the name of this machine."""
    import socket

    if host in ("0.0.0.0", "::"):  # noqa: S104  # It is only compared.
        return socket.gethostname()
    return f"[{host}]" if ":" in host else host
