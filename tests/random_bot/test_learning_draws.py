"""The bot that runs what teaches most per second: cheap and new runs first, each with its sampling probability."""

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.errors import BadRequest
from metaml.evaluation import Limits
from metaml.random_bot.bot import BotSettings, Prepared, draws_of, run_bot
from metaml.random_bot.learning_draws import RANDOM_SHARE
from metaml.records.conversion import dataset_record, fold_plan_record
from metaml.sources import builtin
from metaml.splits import make_plan
from metaml_kb import Run, canonical_json, open_kb

NAMES = ("iris", "wine")
SPACE = ALGORITHMS["decision_tree"].space("multiclass")


def settings_of(**changes) -> BotSettings:
    fields = {"algorithms": ("decision_tree",), "seed": 3, "n_folds": 3, "limits": Limits(30.0), "goal": "learn"}
    return BotSettings(**{**fields, **changes})


def filled(kb, seconds=(1.0, 50.0), n=30):
    """Store runs of a tree on two data sets, one of which takes long; return the data sets, prepared."""
    prepared, rng = [], np.random.default_rng(0)
    for name, usual in zip(NAMES, seconds, strict=True):
        dataset = builtin.load(name)
        plan = make_plan(dataset, 3)
        kb.add_dataset(dataset_record(dataset, "sklearn", {}))
        kb.add_fold_plan(fold_plan_record(plan))
        for config in [SPACE.default(), *SPACE.sample(n - 1, rng)]:
            scores = {"neg_log_loss": (-float(config["max_depth"]) / 10 + rng.normal(0, 0.1),)}
            made = {"scores": scores, "fold_plan": plan.hash, "fit_seconds": usual, "origin": "random"}
            kb.add_run(Run(dataset=dataset.fingerprint, algorithm="decision_tree", config=config, **made))
        prepared.append(Prepared(dataset.fingerprint, name, dataset.task, len(dataset.y), plan))
    return prepared


def drawn(kb, prepared, n, **changes):
    draws = draws_of(kb, prepared, settings_of(**changes))
    return draws, [draws.next() for _ in range(n)]


def test_what_takes_long_is_drawn_less_often_but_still_drawn():
    with open_kb(":memory:") as kb:
        _, found = drawn(kb, filled(kb), 40)

    names = [item.name for item, _, _ in found]
    assert names.count("iris") > 26
    assert names.count("wine") > 0


def test_the_same_seed_draws_the_same_and_nothing_twice():
    with open_kb(":memory:") as kb:
        prepared = filled(kb)
        _, first = drawn(kb, prepared, 10)
        _, second = drawn(kb, prepared, 10)

    assert first == second
    assert len({(item.name, canonical_json(config)) for item, _, config in first}) == 10


def test_a_share_of_the_draws_is_at_random_whatever_the_models_say():
    with open_kb(":memory:") as kb:
        draws, found = drawn(kb, filled(kb), 20)

    odds = [draws.odds_of(item.fingerprint, name, config) for item, name, config in found]
    assert min(odds) >= RANDOM_SHARE
    assert np.mean(odds) > 1


def test_with_few_runs_it_is_the_bot_that_covers_all_pairs():
    with open_kb(":memory:") as kb:
        prepared = filled(kb, n=3)
        _, learning = drawn(kb, prepared, 8)
        _, covering = drawn(kb, prepared, 8, goal="cover")

    assert learning == covering


@pytest.mark.usefixtures("one_pool")
def test_a_run_is_stored_with_its_sampling_probability():
    sources = [source for source in builtin.sources() if source.name in NAMES]
    with open_kb(":memory:") as kb:
        draws, found = drawn(kb, filled(kb), 2)
        report = run_bot(kb, sources, settings_of(n_runs=2))
        made = kb.runs(algorithm="decision_tree").dropna(subset="probability")

    expected = {SPACE.density(config) * draws.odds_of(item.fingerprint, name, config) for item, name, config in found}
    assert report.n_done == 2
    assert sorted(made["probability"]) == pytest.approx(sorted(expected))


def test_goals_that_make_no_sense_are_refused():
    with pytest.raises(BadRequest, match="cover or learn"):
        settings_of(goal="win")
    with pytest.raises(BadRequest, match="Leave out --goal learn"):
        settings_of(grid={"max_depth": [1, 2]})
