"""The loop of `metaml tune`: from a data set to a model, a report and new runs in the knowledge base.

The walk, one module per step: `run` opens everything and calls the others in this order; `session` searches (ask,
evaluate, store, tell); `final_model` makes the ensemble; `column_importance` measures the columns; `outputs` writes the
files. `settings` says what was asked for, `trials` what was found, `resume` and `replay_session` read a stored session.
"""
