"""A configuration: a point of a space, as plain JSON."""

Value = str | int | float | bool | None
Config = dict[str, Value]
"""What the knowledge base stores and `build()` receives. A missing key is an inactive parameter; None is a value."""
