"""The command line: parses, calls metaml, fingerprints."""
