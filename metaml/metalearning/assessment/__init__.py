"""How good the meta-learner is: its rankings on data sets that were left out."""
