"""The meta-learner ranks configurations for data sets it never saw."""

import pickle

import numpy as np
import pytest

from metaml.metalearning.assessment.quality import cross_validate
from metaml.metalearning.explain import explain, input_importances
from metaml.metalearning.history import RunHistory, make_history
from metaml.metalearning.meta_learner import RECIPES, LearnerRecipe, MetaLearner
from metaml.metalearning.rank_correlation import kendall
from tests.metalearning.worlds import make_synthetic, rises_with_rows

SMALL = LearnerRecipe(n_trees=60, min_rows_per_leaf=5)
RATES = [{"rate": rate, "word": "a"} for rate in (0.1, 0.3, 0.5, 0.7, 0.9)]


@pytest.fixture(scope="module")
def learner(synthetic: RunHistory) -> MetaLearner:
    return MetaLearner([SMALL]).fit(synthetic)


def test_what_is_best_depends_on_the_data_set(learner: MetaLearner):
    few, many = ({"NumberOfInstances": n, "NumberOfFeatures": 5.0, "NumberOfClasses": 2.0} for n in (120.0, 900_000.0))

    predicted_few, predicted_many = learner.predict(RATES, few), learner.predict(RATES, many)

    assert int(predicted_few.argmax()) < int(predicted_many.argmax())


def test_unknown_metafeatures_are_missing_not_an_error(learner: MetaLearner):
    predicted = learner.predict(RATES, {})

    assert np.isfinite(predicted).all()


def test_unknown_hyperparameter_is_ignored(learner: MetaLearner):
    plain = learner.predict([{"rate": 0.3, "word": "a"}], {"NumberOfInstances": 1000.0})
    odd = learner.predict([{"rate": 0.3, "word": "a", "novelty": 7}], {"NumberOfInstances": 1000.0})

    assert plain.tolist() == odd.tolist()


def test_without_any_run_all_configurations_are_equal():
    nothing = make_history(
        "toy", "accuracy", datasets=[], groups=np.zeros(0, dtype=np.int64), configs=[], scores=np.zeros(0)
    )

    predicted = MetaLearner().fit(nothing).predict(RATES, {})

    assert predicted.tolist() == [0.0] * 5


def test_scores_that_never_differ_teach_nothing():
    flat = make_synthetic(3, 10, lambda rate, n_rows: 0.5)

    predicted = MetaLearner().fit(flat).predict(RATES, {})

    assert predicted.tolist() == [0.0] * 5


def test_metafeatures_all_missing_leave_the_hyperparameters():
    world = make_synthetic(6, 30, lambda rate, n_rows: rate)
    blind = make_history(
        "toy",
        "accuracy",
        datasets=world.datasets,
        groups=world.groups,
        configs=world.configs,
        scores=world.scores,
    )

    predicted = MetaLearner([SMALL]).fit(blind).predict(RATES, {})

    assert int(predicted.argmax()) == 4


@pytest.mark.parametrize("name", RECIPES)
def test_every_recipe_gives_a_number_for_each_configuration(name: str, synthetic: RunHistory):
    predicted = MetaLearner(RECIPES[name][-1:]).fit(synthetic).predict(RATES, {"NumberOfInstances": 500.0})

    assert predicted.shape == (5,)
    assert np.isfinite(predicted).all()


def test_same_seed_same_model(synthetic: RunHistory):
    first, second = (MetaLearner([SMALL], seed=3).fit(synthetic).predict(RATES, {}) for _ in range(2))

    assert first.tolist() == second.tolist()


def test_pickled_learner_predicts_the_same(learner: MetaLearner):
    described = {"NumberOfInstances": 1000.0}

    again = pickle.loads(pickle.dumps(learner))

    assert again.predict(RATES, described).tolist() == learner.predict(RATES, described).tolist()


def test_left_out_data_sets_are_ranked_better_with_metafeatures(synthetic: RunHistory):
    def rank_with(recipe: LearnerRecipe):
        def learn(training: RunHistory):
            model = MetaLearner([recipe]).fit(training)
            return lambda whole, k: model.predict_rows(
                whole.rows[whole.places[k]], whole.metafeatures.iloc[k].to_dict()
            )

        return learn

    both = cross_validate(synthetic, rank_with(SMALL), n_folds=4)
    blind = cross_validate(
        synthetic, rank_with(LearnerRecipe(inputs="hyperparameters", n_trees=60, has_interactions=False)), n_folds=4
    )

    assert len(both.taus) == 12
    assert both.mean > blind.mean + 0.1


def test_kendall_by_hand():
    # Pairs: (1,2) agrees, (1,3) agrees, (2,3) ties in the second: 2 / sqrt(3 · 2).
    assert kendall(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0])) == pytest.approx(2 / np.sqrt(6))


def test_explanation_names_the_hyperparameter_that_matters(learner: MetaLearner):
    explanation = explain(
        learner,
        {"rate": 0.9, "word": "a"},
        {"NumberOfInstances": 150.0, "NumberOfFeatures": 5.0},
    )

    top = explanation.contributions[0]
    assert "rate" in top.name
    assert top.effect < 0
    assert "speaks against it" in explanation.text


def test_contributions_add_up_to_the_score(synthetic: RunHistory):
    model = MetaLearner([SMALL]).fit(synthetic)
    config, described = {"rate": 0.4, "word": "b"}, {"NumberOfInstances": 5000.0}

    explanation = explain(model, config, described, n_contributions=100)

    row = model.encoder_.transform([config])
    inputs = model.inputs(SMALL, model.members_[0].metafeatures, row, {"NumberOfInstances": np.array([5000.0])})
    base = model.members_[0].booster.predict(inputs, pred_contrib=True)[0, -1]
    assert sum(item.effect for item in explanation.contributions) + base == pytest.approx(explanation.score, abs=1e-6)


def test_importances_are_shares(learner: MetaLearner):
    found = input_importances(learner, 10)

    assert any(name == "rate" for name, _ in found)
    assert sum(share for _, share in input_importances(learner, 100)) == pytest.approx(1.0)


def test_synthetic_world_is_as_described():
    assert rises_with_rows(0.2, 100) == pytest.approx(0.9)
