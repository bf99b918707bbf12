"""What a session says about the columns of its data, asked of the whole model on rows that it was not fitted to."""
