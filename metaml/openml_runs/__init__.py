"""Exchange of runs with OpenML: import the evaluations of others, and publish our own runs on request."""
