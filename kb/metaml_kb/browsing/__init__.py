"""Look at a large knowledge base page by page: read-only, with answers that do not need all runs at once."""
