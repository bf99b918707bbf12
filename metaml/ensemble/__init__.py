"""Ensembles: which models are averaged, and where the line between classes is drawn."""
