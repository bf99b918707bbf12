"""Stored predictions: out-of-fold and held-out predictions of runs, and the truth to judge them by.

Predictions are in the table `prediction`, apart from the runs: kept only on request, merged and exported with their
runs, and never part of a private export. The truth is in the same rows, so that it is kept on the same request and left
out with them. `metaml_kb.predictions.reading` reads them; `pack` makes what `Run.predictions` takes.
"""

from metaml_kb.predictions.packed import Form, PackedPredictions, Truth, pack, truth_in, unpack

__all__ = ["Form", "PackedPredictions", "Truth", "pack", "truth_in", "unpack"]
