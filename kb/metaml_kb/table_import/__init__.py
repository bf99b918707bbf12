"""Runs and metafeatures from a csv, parquet or ARFF table of somebody else."""
