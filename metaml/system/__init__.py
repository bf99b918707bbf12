"""Processes, threads, scratch folders and background writes: the interface to the operating system."""
