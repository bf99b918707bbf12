"""A landscape from few runs of each of many data sets, and one scale for all algorithms."""

import numpy as np

from metaml.metalearning.history import RunHistory, make_history
from metaml.metalearning.landscape import make_landscape
from metaml.metalearning.meta_learner import MetaLearner
from metaml.metalearning.pooled_landscape import on_one_scale, pooled_landscape
from metaml.metalearning.rank_correlation import kendall


def test_a_pooled_landscape_of_few_runs_is_nearer_to_the_truth_than_forests(synthetic: RunHistory):
    few = synthetic.thinned(4)
    learner = MetaLearner("simple").fit(few)

    pooled, forests = pooled_landscape(few, learner), make_landscape(few)

    def agreement(landscape) -> float:
        return float(
            np.mean(
                [
                    kendall(
                        landscape.levels_at(synthetic.rows[synthetic.places[k]])[place],
                        synthetic.scores[synthetic.places[k]],
                    )
                    for place, fingerprint in enumerate(landscape.datasets)
                    for k in [synthetic.datasets.index(fingerprint)]
                ]
            )
        )

    assert agreement(pooled) > agreement(forests)


def test_one_run_of_a_data_set_is_enough_to_be_in_the_landscape():
    worlds = [one_run(score) for score in (0.2, 0.9)]
    shared = on_one_scale({"a": worlds[0], "b": worlds[1], "c": many_runs()})

    landscape = pooled_landscape(shared["b"], MetaLearner("simple").fit(shared["b"]))

    assert landscape.datasets == ("d",)


def test_on_one_scale_algorithms_can_be_compared():
    shared = on_one_scale({"bad": one_run(0.1), "good": one_run(0.9), "usual": many_runs()})

    assert shared["bad"].standard[0] < np.median(shared["usual"].standard) < shared["good"].standard[0]
    assert shared["bad"].normal[0] < 0 < shared["good"].normal[0]
    assert shared["bad"].spread[0] == shared["good"].spread[0] == shared["usual"].spread[0]


def test_extreme_scores_are_clipped():
    shared = on_one_scale({"broken": one_run(-1e9), "usual": many_runs()})

    assert shared["broken"].standard.tolist() == [-3.0]


def one_run(score: float) -> RunHistory:
    return make_history(
        "x", "accuracy", datasets=["d"], groups=np.array([0]), configs=[{"rate": 0.5}], scores=np.array([score])
    )


def many_runs() -> RunHistory:
    scores = np.linspace(0.4, 0.6, 20)
    configs = [{"rate": float(rate)} for rate in scores]
    return make_history("y", "accuracy", datasets=["d"], groups=np.zeros(20, np.int64), configs=configs, scores=scores)
