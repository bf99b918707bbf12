"""Runs in exchange with OpenML: evaluations that others made come in, finished runs of ours go out if asked."""
