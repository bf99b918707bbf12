"""What metaml says when it cannot go on: one sentence, what was seen, what to do.

MetamlError
├── BadDataset         a file or frame that cannot be used as a data set
├── BadConfig          a configuration that its space does not allow
├── BadRequest         an option that contradicts another or names nothing we know
├── BadModel           a file that is no model of ours, or no longer the one that was saved
└── SourceError      a data source (OpenML, a folder) that did not deliver

The knowledge base has its own tree in `metaml_kb.errors`; the command line catches both roots.
"""


class MetamlError(Exception):
    """Anything a user can mend; its text is one sentence that ends with what to do."""


class BadDataset(MetamlError):
    """A file or frame that cannot be used as a data set."""


class BadConfig(MetamlError):
    """A configuration that its space does not allow."""


class BadRequest(MetamlError):
    """An option that contradicts another or names nothing we know."""


class BadModel(MetamlError):
    """A file that is no model of ours, or no longer the one that was saved."""


class SourceError(MetamlError):
    """A data source that did not deliver, after all retries."""
