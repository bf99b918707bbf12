"""Recorded runs compared from Python."""

import metaml


def test_optimisers_are_compared_on_recorded_runs(experienced):
    found = metaml.replay(
        optimisers="forest,random", algorithms="decision_tree", seeds=1, evaluations=10, kb=experienced
    )

    assert found.regret["optimiser"].tolist() == ["forest", "random"]
    assert found.regret["data sets"].tolist() == [14, 14]
