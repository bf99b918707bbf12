"""What a search gives back to Python, and how it is logged elsewhere."""
