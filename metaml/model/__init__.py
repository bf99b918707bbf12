"""Models to keep: an ensemble of fitted estimators that predicts raw rows, in a file that runs no code.

`fit_member` trains, `Model` predicts and saves, `load` reads back.
"""

from metaml.model.archive import MODEL_FILE
from metaml.model.fitted import Answer, Member, Model
from metaml.model.fitting import fit_member
from metaml.model.saving import load

__all__ = ["MODEL_FILE", "Answer", "Member", "Model", "fit_member", "load"]
