"""Processes that share a knowledge base do not make the same run."""

import pytest

from metaml_kb import DatasetRecord, open_kb
from metaml_kb.lookup import Claims

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning")
ONE, OTHER = "0f" * 16, "f0" * 16


@pytest.fixture
def url(postgres_url, request):
    return postgres_url(f"claims_{abs(hash(request.node.name)) % 10**9}")


def test_a_claim_is_granted_once_until_it_is_given_up(url):
    with open_kb(url) as kb, open_kb(url) as other, Claims(kb) as ours, Claims(other) as theirs:
        assert ours.take(ONE)
        assert not theirs.take(ONE)
        assert theirs.take(OTHER)

        ours.release([ONE])

        assert theirs.take(ONE)


def test_a_process_that_is_gone_has_no_claims(url):
    with open_kb(url) as kb, open_kb(url) as other, Claims(other) as theirs:
        with Claims(kb) as ours:
            ours.take(ONE)

        assert theirs.take(ONE)


def test_a_run_that_is_stored_is_not_claimed_again(url, run_of):
    run = run_of(1)
    with open_kb(url) as kb, Claims(kb) as ours:
        kb.add_dataset(DatasetRecord("f" * 32, "iris", task="multiclass"))
        assert ours.take(run.identity)
        kb.add_run(run)
        ours.release([run.identity])

        with open_kb(url) as other, Claims(other) as theirs:
            assert not theirs.take(run.identity)
            assert theirs.take(run_of(2).identity)


def test_in_a_file_every_claim_is_granted(kb):
    with Claims(kb) as ours, Claims(kb) as theirs:
        assert ours.take(ONE)
        assert theirs.take(ONE)
        ours.release([ONE])
