"""The pages about all data sets together: algorithms, what their settings teach, and a map."""
