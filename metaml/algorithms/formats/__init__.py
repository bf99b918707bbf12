"""Checks of the formats of boosters, before a library reads what a model file says."""
