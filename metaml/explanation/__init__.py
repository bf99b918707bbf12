"""Explanations: what each column adds to a prediction, how predictions follow a column, which columns work together."""
