"""The command line: parses, calls metaml, prints."""
