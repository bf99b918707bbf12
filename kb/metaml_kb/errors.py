"""What the knowledge base says when it cannot go on: one sentence, what was seen, what to do.

KBError
├── CannotOpen         missing, unreadable, not a database, no driver
├── SchemaMismatch     written by an older or a newer metaml
├── BadRecord          a run, data set or configuration that cannot be stored as given
├── BadQuery           a query that is wrong or would write
├── BadTable           a third-party table that does not hold what was said of it
└── StorageFull        the disk or the server refused the write
"""


class KBError(Exception):
    """Anything a user can mend; its text is one sentence that ends with what to do."""


class CannotOpen(KBError):
    """The knowledge base is missing, unreadable, or not one."""


class SchemaMismatch(KBError):
    """The knowledge base was written by another version of metaml."""


class BadRecord(KBError):
    """A record that cannot be stored as given."""


class BadQuery(KBError):
    """A query that is wrong, or that would write."""


class BadTable(KBError):
    """A third-party table that does not hold what was said of it."""


class StorageFull(KBError):
    """The disk is full, or the server refused the write."""
