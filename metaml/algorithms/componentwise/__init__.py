"""Component-wise boosting: additive models that grow by the one column that helps most in each round."""
