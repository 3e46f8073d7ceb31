"""Repeat what is drawn at random, for tests of your own code.

A seed lets anyone who knows it strip the noise off again, so a seeded source is locked until a test
unlocks it, and everything that was drawn from it is marked ``private: false``.

Examples
--------
>>> import privet as pv
>>> nursery = pv.datasets.load("nursery")
>>> with pv.testing.unlock_test_seeds():
...     seeded = pv.testing.SeededBits(7)
>>> curator = pv.Curator(nursery.table, nursery.schema, pv.Budget(1), bits=seeded)
>>> curator.size(epsilon=0.1).private
False
"""

from privet.mechanisms.randomness import SeededBits, unlock_test_seeds

__all__ = ["SeededBits", "unlock_test_seeds"]
