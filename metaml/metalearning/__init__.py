"""Meta-learning: ranks configurations for a new data set from runs on earlier ones (van Hoof 2018, chapter 6)."""
