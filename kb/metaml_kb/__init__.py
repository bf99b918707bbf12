"""The knowledge base: records, SQL and data frames; no machine learning."""
