"""Learning libraries are imported by one thread at a time.

Their modules import one another in circles: two threads that enter a circle at different places see half a module each.
Where a search runs, every import of them that is not at the top of a file is made holding `importing`.
"""

from threading import RLock

importing = RLock()
