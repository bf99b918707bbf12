"""Who may ask the server: hosts, methods, other sites, tokens."""

import socket

import pytest

from metaml.web.safety import LOCAL_HOSTS, POLICY, has_token, hosts_of, is_known_host, is_local, refusal

OWN = {"host": "127.0.0.1:8765"}


@pytest.mark.parametrize(
    "host", ["localhost", "127.0.0.1", "[::1]", "localhost:80", "127.0.0.1:8765", "[::1]:8765", "LOCALHOST."]
)
def test_the_names_of_this_machine_are_answered(host):
    assert refusal("GET", {"host": host}, LOCAL_HOSTS) is None


@pytest.mark.parametrize(
    "host",
    [
        *("", "evil.example", "evil.example:8765", "127.0.0.1.evil.example", "localhost@evil.example", "127.0.0.1:x"),
        *("[::1", "::1", "0.0.0.0:8765", "localhost:8765:8765", "evil.example#localhost", "[::1]evil:80"),
    ],
)  # fmt: skip
def test_any_other_name_is_refused(host):
    status, _ = refusal("GET", {"host": host}, LOCAL_HOSTS)

    assert status == 403


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "get"])
def test_only_reading_is_answered(method):
    assert refusal(method, OWN, LOCAL_HOSTS)[0] == 405


@pytest.mark.parametrize(
    "headers",
    [
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site"},
        {"origin": "https://evil.example"},
        {"origin": "null"},
        {"origin": "http://127.0.0.1:9999"},
    ],
)
def test_requests_of_other_sites_are_refused(headers):
    assert refusal("GET", {**OWN, **headers}, LOCAL_HOSTS)[0] == 403


@pytest.mark.parametrize(
    "headers", [{"sec-fetch-site": "same-origin"}, {"sec-fetch-site": "none"}, {"origin": "http://127.0.0.1:8765"}]
)
def test_requests_of_its_own_pages_are_answered(headers):
    assert refusal("GET", {**OWN, **headers}, LOCAL_HOSTS) is None


def test_a_server_for_others_is_asked_by_its_own_address_too():
    assert is_known_host("192.168.0.7:80", hosts_of("192.168.0.7"))
    assert is_known_host("[fe80::1]:80", hosts_of("fe80::1"))
    assert not is_known_host("evil.example", hosts_of("192.168.0.7"))


def test_a_server_at_all_addresses_is_asked_by_any_of_them_and_by_no_other_name():
    hosts = hosts_of("0.0.0.0")

    assert all(is_known_host(host, hosts) for host in ("192.168.0.7:8765", "[fe80::1]:80", "localhost"))
    assert is_known_host(f"{socket.gethostname()}:8765", hosts)
    assert not any(is_known_host(host, hosts) for host in ("evil.example:8765", "any address", "1.2.3.4.evil.example"))


def test_only_loopback_addresses_are_local():
    assert [is_local(host) for host in ("127.0.0.1", "::1", "localhost", "127.3.2.1")] == [True] * 4
    assert [is_local(host) for host in ("0.0.0.0", "::", "192.168.0.7", "example.org", "localhost.evil")] == [False] * 5


def test_a_token_is_in_a_cookie_or_a_header():
    token = "abcdefgh12345678"

    assert has_token({"cookie": f"a=b; metaml_token={token}"}, token)
    assert has_token({"authorization": f"Bearer {token}"}, token)
    for headers in ({}, {"cookie": "metaml_token=x"}, {"authorization": f"Basic {token}"}, {"cookie": "=;=,\x00"}):
        assert not has_token(headers, token)


def test_the_policy_allows_nothing_inline_and_nothing_evaluated():
    assert "unsafe" not in POLICY
    assert POLICY.startswith("default-src 'none'")
