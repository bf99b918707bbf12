"""Which pair comes next, and which configuration it runs."""

import pytest

from metaml.algorithms import ALGORITHMS
from metaml.random_bot.draws import BotSettings, Draws, Prepared
from metaml.records.conversion import dataset_record
from metaml.sources import builtin
from metaml.splits import make_plan
from metaml_kb import canonical_json, open_kb

FAST = ("decision_tree", "k_neighbors")


@pytest.fixture
def kb():
    with open_kb(":memory:") as base:
        yield base


def prepared(kb) -> list[Prepared]:
    found = []
    for name in ("iris", "wine"):
        dataset = builtin.load(name)
        kb.add_dataset(dataset_record(dataset, "sklearn", {}))
        found.append(Prepared(dataset.fingerprint, name, dataset.task, len(dataset.y), make_plan(dataset, 3)))
    return found


def drawn(kb, n, **settings):
    draws = Draws(kb, prepared(kb), BotSettings(**{"algorithms": FAST, "seed": 1, **settings}))
    return [draws.next() for _ in range(n)]


def test_all_pairs_come_in_turn_and_begin_with_the_default(kb):
    found = drawn(kb, 8)

    assert len({(item.name, algorithm) for item, algorithm, _ in found[:4]}) == 4
    assert all(config == ALGORITHMS[name].space(item.task).default() for item, name, config in found[:4])
    assert len({(item.name, name, canonical_json(config)) for item, name, config in found}) == 8


def test_the_seed_decides_the_configurations(kb):
    first, again, other = (
        [(item.name, name, config) for item, name, config in drawn(kb, 8, seed=seed)] for seed in (1, 1, 2)
    )

    assert first == again
    assert first != other


def test_without_random_ones_it_ends_after_what_was_given(kb):
    assert [found is None for found in drawn(kb, 5, draws=False)] == [False] * 4 + [True]


def test_every_draw_is_as_probable_as_at_random(kb):
    draws = Draws(kb, prepared(kb), BotSettings(algorithms=FAST))
    item, algorithm, config = draws.next()

    assert draws.odds_of(item.fingerprint, algorithm, config) == 1.0
