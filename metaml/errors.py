"""The errors of metaml. Each message says what is wrong, what was seen and what to do.

MetamlError
├── BadDataset         a file or frame that cannot be used as a data set
├── BadConfig          a configuration that its space does not allow
├── BadRequest         an option that contradicts another one, or an unknown name
├── BadModel           a file that is not a metaml model, or was changed after it was saved
└── SourceError        a data source (OpenML, a folder) that could not be read

The knowledge base has its own tree in `metaml_kb.errors`; the command line catches both roots.
"""


class MetamlError(Exception):
    """An error that the user can fix. The message is one sentence that ends with what to do."""


class BadDataset(MetamlError):
    """A file or frame that cannot be used as a data set."""


class BadConfig(MetamlError):
    """A configuration that its space does not allow."""


class BadRequest(MetamlError):
    """An option that contradicts another one, or an unknown name."""


class BadModel(MetamlError):
    """A file that is not a metaml model, or was changed after it was saved."""


class SourceError(MetamlError):
    """A data source (OpenML, a folder) that could not be read, after all retries."""
