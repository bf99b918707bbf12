"""Processes, threads and scratch files: what the operating system and the libraries do for us, and to us."""
