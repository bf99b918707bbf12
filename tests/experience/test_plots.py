"""Every picture of a small knowledge base is valid SVG, and what cannot be drawn is said."""

from xml.etree import ElementTree

import numpy as np
import pytest

from metaml.algorithms import ALGORITHMS
from metaml.errors import BadRequest
from metaml.experience.plots import PLOTS, PlotRequest, picture_size, plot
from metaml_kb import DatasetRecord, Run, open_kb


@pytest.fixture(scope="module")
def stored():
    """Four data sets with the default and random runs of two algorithms."""
    rng = np.random.default_rng(0)
    with open_kb(":memory:") as kb:
        for k in range(4):
            name = f"<set & {k}>"
            kb.add_dataset(DatasetRecord(f"f{k}", name, task="binary", n_rows=100 * 10**k, n_columns=4, n_classes=2))
            kb.add_metafeatures(f"f{k}", {"NumberOfInstances": 100.0 * 10**k, "Skew": float(rng.random())})
            for algorithm in ("decision_tree", "k_neighbors"):
                space = ALGORITHMS[algorithm].space("binary")
                runs = [(space.default(), "default"), *((config, "random") for config in space.sample(22, rng))]
                kb.add_runs(
                    Run(
                        dataset=f"f{k}",
                        algorithm=algorithm,
                        config=config,
                        scores={"accuracy": float(rng.random())},
                        origin=origin,
                        probability=space.density(config) if origin == "random" else None,
                    )
                    for config, origin in runs
                )
        yield kb


@pytest.mark.parametrize("kind", PLOTS)
def test_every_picture_is_valid_svg_with_a_title(stored, kind):
    picture = plot(stored, kind, PlotRequest(metric="accuracy", algorithm="decision_tree"))

    root = ElementTree.fromstring(picture)
    assert root.tag.endswith("svg")
    assert root.attrib["aria-label"]
    assert min(picture_size(picture)) > 50


def test_tunability_without_an_algorithm_compares_all(stored):
    picture = plot(stored, "tunability", PlotRequest(metric="accuracy"))

    assert "decision_tree (4)" in picture
    assert "k_neighbors (4)" in picture


@pytest.mark.parametrize(
    ("kind", "request_", "says"),
    [
        ("pie", PlotRequest(metric="accuracy"), "Choose among: importance, tunability, values, ranks, map"),
        ("values", PlotRequest(metric="accuracy"), "Name it with --algorithm"),
        ("values", PlotRequest(metric="accuracy", algorithm="k_neighbors", hyperparameter="C"), "No runs vary 'C'"),
        ("ranks", PlotRequest(metric="accuracy", rows=(1, 2)), "Fewer than two algorithms"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_sentence(stored, kind, request_, says):
    with pytest.raises(BadRequest, match=says):
        plot(stored, kind, request_)
