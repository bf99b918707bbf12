"""Neural networks in NumPy alone."""
