"""The Pareto front of a session: which models are on it, and what they take."""
