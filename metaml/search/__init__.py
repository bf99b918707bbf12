"""The search on one data set: an optimizer per algorithm, a bandit over them, and the plan that both are made from."""
