"""Which data sets are near by their metafeatures, and what their runs say."""

from dataclasses import replace

from metaml.metalearning.assessment.neighbours import Neighbours
from metaml.metalearning.dataset_distances import distances, nearest_datasets
from metaml.metalearning.history import RunHistory


def test_nearest_data_set_is_the_one_of_similar_size(synthetic: RunHistory):
    like = synthetic.metafeatures.iloc[4].to_dict()

    assert nearest_datasets(synthetic, like, 1).tolist() == [4]


def test_without_metafeatures_all_data_sets_are_equally_near(synthetic: RunHistory):
    assert distances(synthetic, {}).tolist() == [0.0] * 12


def test_counts_are_compared_by_their_logarithm(synthetic: RunHistory):
    # Sizes grow by a factor from 100 to 1,000,000: a third of the way up is 2,154 rows, not 333,400.
    like = synthetic.metafeatures.iloc[0].to_dict() | {"NumberOfInstances": 2154.0}

    assert abs(int(nearest_datasets(synthetic, like, 1)[0]) - 11 / 3) < 3


def test_other_metafeatures_count_only_if_those_of_the_thesis_are_unknown(synthetic: RunHistory):
    table = synthetic.metafeatures.assign(CfsSubsetEvalDecisionStumpAUC=range(12))
    world = replace(synthetic, metafeatures=table)
    like = table.iloc[4].to_dict() | {"CfsSubsetEvalDecisionStumpAUC": 11.0}

    assert nearest_datasets(world, like, 1).tolist() == [4]
    assert nearest_datasets(world, {"CfsSubsetEvalDecisionStumpAUC": 11.0}, 1).tolist() == [11]


def test_neighbours_rank_by_the_runs_of_the_nearest_datasets(synthetic: RunHistory):
    like = synthetic.metafeatures.iloc[0].to_dict()

    predicted = Neighbours().fit(synthetic).predict([{"rate": 0.2, "word": "a"}, {"rate": 0.9, "word": "a"}], like)

    assert predicted[0] > predicted[1]
