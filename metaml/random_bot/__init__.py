"""The random bot: makes experience by running random configurations on many data sets."""
