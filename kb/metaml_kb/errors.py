"""The errors of the knowledge base. Each message says what is wrong, what was seen and what to do.

KBError
├── CannotOpen         missing, unreadable, not a database, no driver
├── SchemaMismatch     written by an older or a newer metaml
├── BadRecord          a run, data set or configuration that cannot be stored as given
├── BadQuery           a query that is wrong or would write
├── TooSlow            a statement that took longer than a read-only knowledge base allows
├── BadTable           an imported file that is damaged or does not have the expected content
├── FileReplaced       the file was deleted or replaced while it was in use
└── StorageFull        the disk or the server refused the write
"""


class KBError(Exception):
    """An error that the user can fix. Its message ends with what to do."""


class CannotOpen(KBError):
    """A file or database is missing, cannot be read or written, or is not a knowledge base."""


class SchemaMismatch(KBError):
    """The knowledge base was written by an older or a newer version of metaml."""


class BadRecord(KBError):
    """A record that cannot be stored as given."""


class BadQuery(KBError):
    """A query that is wrong, or that would write."""


class TooSlow(KBError):
    """A statement that took longer than a read-only knowledge base allows."""


class BadTable(KBError):
    """An imported file that is damaged or does not have the expected content."""


class FileReplaced(KBError):
    """Another program deleted the file of a knowledge base, or put another one in its place, while it was in use."""


class StorageFull(KBError):
    """The disk is full, or the server refused the write."""
