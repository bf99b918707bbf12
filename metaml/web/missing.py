"""What is raised for an address that leads nowhere."""

from metaml.errors import MetamlError


class NotThere(MetamlError):
    """A page that does not exist, and where to go instead."""

    def __init__(self, message: str, path: str = "/", title: str = "Overview") -> None:
        super().__init__(message)
        self.path, self.title = path, title
