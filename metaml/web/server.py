"""The server: pages, tables as csv and the few files they need, for this machine only by default."""

import socket
from urllib.parse import parse_qsl

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from metaml.errors import BadRequest
from metaml.report.markup import joined
from metaml.web.catalogue import Catalogue
from metaml.web.missing import NotThere
from metaml.web.page import Asked, Page, empty, heading, whole
from metaml.web.safety import LEAST_TOKEN, RequestFilter, hosts_of, is_local
from metaml.web.site import answer, missing_page, table_of
from metaml.web.sql import MENU_ENTRY
from metaml.web.static_files import STATIC, static_text
from metaml_kb.errors import KBError, TooSlow

MOST_QUERY = 20_000
"""Letters of a query. A longer one is refused: half of it would ask for something else."""


def make_app(catalogue: Catalogue, *, host: str = "127.0.0.1", token: str | None = None) -> RequestFilter:
    """Return the application for a server that listens at `host`. Raises `BadRequest` if it needs a token."""
    check_token(host, token)

    async def page(request: Request) -> Response:
        return await run_in_threadpool(respond, catalogue, request.url.path, request.url.query)

    async def static(request: Request) -> Response:
        return _static(request.path_params["name"])

    routes = [Route("/static/{name}", static, methods=["GET"]), Route("/{path:path}", page, methods=["GET"])]
    return RequestFilter(Starlette(routes=routes), hosts=hosts_of(host), token=token)


def check_token(host: str, token: str | None) -> None:
    """Raise `BadRequest` if others can reach the server and no good token keeps them out."""
    if token is None and not is_local(host):
        raise BadRequest(f"Others can reach a server at {host}. Give a token that they must know, with --token.")
    if token is not None and (len(token) < LEAST_TOKEN or not token.isascii() or not token.isalnum()):
        raise BadRequest(f"A token needs at least {LEAST_TOKEN} letters or digits, so that it cannot be guessed.")


def respond(catalogue: Catalogue, path: str, query: str) -> Response:
    """Return the answer to a request: a page, a part of one, or a table as csv."""
    if len(query) > MOST_QUERY:
        return Response(f"An address has at most {MOST_QUERY:,} letters here.", 414, media_type="text/plain")
    words: dict[str, str] = {}
    for name, value in parse_qsl(query):
        words[name] = f"{words[name]},{value}" if name in words and name == "run" else value
    asked = Asked(path, words)
    try:
        if asked.get("csv"):
            sheet = table_of(catalogue, asked)
            headers = {"content-disposition": f'attachment; filename="{sheet.name}.csv"'}
            return Response(sheet.csv(), media_type="text/csv", headers=headers)
        found = answer(catalogue, asked)
        status = found.status
    except NotThere as missing:
        found, status = missing_page(missing), 404
    except TooSlow as slow:
        found, status = _problem("This takes too long", slow), 503
    except KBError as error:
        found, status = _problem("The knowledge base could not be read", error), 500
    except Exception as error:  # What others stored may be anything; a page must not end in a traceback.
        said = f"{type(error).__name__}: the knowledge base holds something here that this page cannot show."
        found, status = _problem("This page could not be made", BadRequest(said)), 500
    if found.is_unchanged:
        return Response(status_code=204)
    text = (
        found.content
        if found.is_part
        else whole(found, where=catalogue.kb.name, more=[MENU_ENTRY] * catalogue.allows_sql)
    )
    return Response(text, status, headers={"cache-control": "no-store"}, media_type="text/html")


def _problem(title: str, error: Exception) -> Page:
    return Page(title=title, content=joined(heading(title), empty(str(error))))


def _static(name: str) -> Response:
    if name not in STATIC:
        return Response("There is no such file.", 404, media_type="text/plain")
    return Response(static_text(name), media_type=STATIC[name][1], headers={"cache-control": "no-cache"})


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there; port 0 is any free one. Raises `BadRequest` if that is not possible."""
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except OSError:
        raise BadRequest(
            f"{host!r} is not an address of this machine. Leave --host out for this machine only."
        ) from None
    family, kind, protocol, _, address = found[0]
    opened = socket.socket(family, kind, protocol)
    opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        opened.bind(address)
    except OSError as error:
        opened.close()
        raise BadRequest(
            f"Port {port} of {host} cannot be used ({error.strerror}). Choose another with --port."
        ) from None
    opened.listen(128)
    return opened


def settings_for(app: RequestFilter) -> uvicorn.Config:
    """Return how the application is served: quietly, over plain HTTP, without trusting any proxy."""
    return uvicorn.Config(
        app,
        log_level="error",
        access_log=False,
        server_header=False,
        date_header=False,
        proxy_headers=False,
        lifespan="off",
        ws="none",
        timeout_keep_alive=5,
        limit_concurrency=64,
        timeout_graceful_shutdown=2,
    )


def serve(app: RequestFilter, opened: socket.socket) -> None:
    """Answer requests until Ctrl-C."""
    uvicorn.Server(settings_for(app)).run(sockets=[opened])
