"""Between science and storage: evaluations as records, and stored runs made again."""
