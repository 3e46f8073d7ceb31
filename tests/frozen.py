"""Imported last by the process that forks: what is there then is left alone by garbage collection.

A forked process would otherwise copy all of it, just by looking at it.
"""

import atexit
import gc

gc.collect()
gc.freeze()
atexit.register(gc.unfreeze)
