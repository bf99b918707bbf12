"""Python twins of the other commands: `metaml.suggest` does what `metaml suggest` does, and so on.

Where a command takes `--kb`, its twin takes `kb`: a file, a URL or an open `KnowledgeBase`, by default METAML_KB, else
the user's own.
"""
