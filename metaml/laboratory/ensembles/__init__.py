"""Replay of whole searches on kept predictions, judged by what the final ensemble loses on new rows."""
