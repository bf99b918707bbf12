"""AutoML with a memory: every run it has ever made helps the next data set."""
