"""The store of a server: both halves of an outsourced table, the trees that were grown from one,
and what clients leave sealed.

It has no key, and nothing in it needs one. What is sealed is bytes that came and go.

- :mod:`~privet.outsource.store.base`: what every store can do, and the words for it
- :mod:`~privet.outsource.store.open`: ``make_store`` of the owner's folder, ``open_store`` of a
  place
- :mod:`~privet.outsource.store.duckdb`, :mod:`~privet.outsource.store.postgres`: the two kinds
- :mod:`~privet.outsource.store.sql`: what they share, :mod:`~privet.outsource.store.tables` its
  tables
- :mod:`~privet.outsource.store.changes`: rows that come and go, checked and applied as one
- :mod:`~privet.outsource.store.staging`: the owner's files, checked before anything opens them
- :mod:`~privet.outsource.store.checks`: what both look for
"""

from privet.outsource.store.base import Change, Store
from privet.outsource.store.open import make_store, open_store

__all__ = ["Change", "Store", "make_store", "open_store"]
