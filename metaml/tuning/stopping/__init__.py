"""When a search ends: the goal that was asked for, what more time should gain, and progress in words."""
