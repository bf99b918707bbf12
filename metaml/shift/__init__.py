"""Data set shift: whether new rows are like those that a model was trained on, and which columns differ."""
