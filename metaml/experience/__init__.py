"""What a knowledge base says about one data set: lessons, earlier versions of the table, advice for a search."""
