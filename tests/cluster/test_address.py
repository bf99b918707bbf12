"""Addresses of schedulers: what may be connected to, and what is said of the rest."""

import pytest

from metaml.cluster import scheduler_address
from metaml.errors import BadRequest


@pytest.mark.parametrize("text", ["tcp://127.0.0.1:8786", "tcp://localhost:8786", "tcp://[::1]:8786"])
def test_this_machine_needs_no_certificates(text):
    assert scheduler_address(text).url == text


@pytest.mark.parametrize("text", ["tcp://10.0.0.7:8786", "tcp://head-node:8786", "tcp://0.0.0.0:8786"])
def test_an_open_address_beyond_this_machine_is_refused_with_the_way_to_make_certificates(text):
    with pytest.raises(BadRequest, match=r"not encrypted.*openssl req.*--insecure-scheduler"):
        scheduler_address(text)

    assert scheduler_address(text, is_insecure=True).url == text


def test_a_file_of_a_scheduler_is_read_each_time_and_follows_the_same_rules(tmp_path):
    file = tmp_path / "scheduler.json"
    file.write_text('{"address": "tcp://127.0.0.1:1234"}')

    address = scheduler_address(str(file))
    assert address.url == "tcp://127.0.0.1:1234"

    file.write_text('{"address": "tcp://192.168.0.1:1234"}')
    with pytest.raises(BadRequest, match="not encrypted"):
        _ = address.url


@pytest.mark.parametrize("content", ["", "[1]", '{"id": 3}', "tcp://127.0.0.1:1"])
def test_a_file_that_no_scheduler_wrote_is_refused(tmp_path, content):
    (tmp_path / "s.json").write_text(content)

    with pytest.raises(BadRequest, match="is not a file that a scheduler writes"):
        scheduler_address(str(tmp_path / "s.json"))


@pytest.mark.parametrize("text", ["", "http://127.0.0.1:8787", "ws://127.0.0.1:1", "nowhere.json"])
def test_what_is_no_address_is_refused(text):
    with pytest.raises(BadRequest):
        scheduler_address(text)


def test_tls_needs_all_three_files(certificates):
    folder = certificates()
    cert, key = folder / "cert.pem", folder / "key.pem"

    with pytest.raises(BadRequest, match="needs --tls-ca"):
        scheduler_address("tls://far:8786")
    with pytest.raises(BadRequest, match="all of"):
        scheduler_address("tls://far:8786", tls_ca=cert)

    found = scheduler_address("tls://far:8786", tls_ca=cert, tls_cert=cert, tls_key=key)
    assert found.security is not None


def test_a_key_of_another_certificate_is_refused(certificates):
    one, other = certificates(), certificates()

    with pytest.raises(BadRequest, match="not a certificate and its key"):
        scheduler_address("tls://far:1", tls_ca=one / "cert.pem", tls_cert=one / "cert.pem", tls_key=other / "key.pem")
    with pytest.raises(BadRequest, match="There is no file"):
        scheduler_address("tls://far:1", tls_ca=one / "none", tls_cert=one / "cert.pem", tls_key=one / "key.pem")
