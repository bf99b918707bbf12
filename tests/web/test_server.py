"""The server over real HTTP: pages, tables, refusals, headers, tokens."""

import socket
from contextlib import closing

import pytest

from metaml.errors import BadRequest
from metaml.web.catalogue import Catalogue
from metaml.web.safety import HEADERS
from metaml.web.server import STATIC, check_token, listen, respond
from metaml_kb.browsing.read_only import open_read_only
from tests.web.samples import BOT, TUNE, fingerprint
from tests.web.serving import served

TOKEN = "abcdefgh12345678"


@pytest.fixture(scope="module")
def server(filled_file):
    with open_read_only(filled_file) as kb, served(Catalogue(kb)) as running:
        yield running


def test_a_page_has_every_protective_header(server):
    answer = server.ask("/")

    assert answer.status == 200
    assert answer.text.startswith("<!doctype html>")
    assert {name: answer.headers[name.lower()] for name in HEADERS} == HEADERS
    assert "server" not in answer.headers


def test_another_name_for_this_machine_is_forbidden(server):
    answer = server.ask("/", Host="evil.example")

    assert answer.status == 403
    assert "doctype" not in answer.text
    assert answer.headers["content-security-policy"]


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "OPTIONS"])
def test_nothing_but_reading_is_allowed(server, method):
    answer = server.ask("/", method)

    assert (answer.status, answer.headers["allow"]) == (405, "GET, HEAD")


def test_head_has_the_headers_of_a_page_and_no_body(server):
    answer = server.ask("/datasets", "HEAD")

    assert (answer.status, answer.text) == (200, "")


def test_a_request_of_another_site_is_forbidden(server):
    assert server.ask("/runs?csv=runs", Sec_Fetch_Site="cross-site").status == 403
    assert server.ask("/runs", Origin="https://evil.example").status == 403


def test_a_table_is_downloaded_as_csv(server):
    answer = server.ask("/datasets?csv=datasets")

    assert answer.headers["content-type"].startswith("text/csv")
    assert answer.headers["content-disposition"] == 'attachment; filename="datasets.csv"'
    assert answer.text.startswith("name,task,n_rows")
    assert server.ask("/datasets?csv=unknown").status == 404


@pytest.mark.parametrize("name", STATIC)
def test_the_files_of_the_pages_are_served(server, name):
    assert server.ask(f"/static/{name}").status == 200


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/%2e%2e%2fserver.py", "/static/page.py", "/nothing", "//evil.example/"]
)
def test_what_is_not_there_is_not_found(server, path):
    assert server.ask(path).status == 404


def test_several_runs_can_be_chosen_to_compare(server):
    assert server.ask(f"/compare?run={TUNE}&run={BOT}").text.count("/sessions/") >= 2


def test_a_part_that_has_not_changed_has_no_content(in_file):
    in_file.catch_up()
    page = respond(in_file, f"/sessions/{TUNE}", "").body.decode()

    assert "hx-trigger" not in page
    assert respond(in_file, f"/datasets/{fingerprint(1)}", "part=suggestions").body.startswith(b"<div")


def test_a_token_is_demanded_and_then_kept_in_a_cookie(in_file):
    with served(in_file, token=TOKEN) as server:
        without, wrong = server.ask("/"), server.ask("/?token=wrong")
        given = server.ask(f"/datasets?task=binary&token={TOKEN}")
        outside = server.ask(f"//evil.example/?token={TOKEN}")
        cookie = given.headers["set-cookie"].split(";")[0]
        after = server.ask("/datasets", Cookie=cookie)

    assert (without.status, wrong.status, given.status, after.status) == (401, 401, 303, 200)
    assert given.headers["location"] == "/datasets?task=binary"
    assert outside.headers["location"] == "/evil.example/"
    assert "HttpOnly; SameSite=Strict" in given.headers["set-cookie"]


def test_others_are_only_served_with_a_good_token():
    for host, token in (("0.0.0.0", None), ("127.0.0.1", "short"), ("::", "a b" * 9), ("example.org", None)):
        with pytest.raises(BadRequest, match="token"):
            check_token(host, token)

    check_token("127.0.0.1", None)
    check_token("0.0.0.0", TOKEN)


def test_a_port_that_is_in_use_is_explained():
    with closing(socket.create_server(("127.0.0.1", 0))) as taken, pytest.raises(BadRequest, match="--port"):
        listen("127.0.0.1", taken.getsockname()[1])

    with pytest.raises(BadRequest, match="not an address"):
        listen("no such host.invalid", 0)
