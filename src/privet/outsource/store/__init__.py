"""Store both halves of an outsourced table, its trees, and what clients leave sealed.

It has no key, and nothing in it needs one.

- :mod:`~privet.outsource.store.base`: what every store can do
- :mod:`~privet.outsource.store.open`: ``make_store`` of an owner's folder, ``open_store``
- :mod:`~privet.outsource.store.duckdb`, :mod:`~privet.outsource.store.postgres`: the two kinds
- :mod:`~privet.outsource.store.sql`, :mod:`~privet.outsource.store.tables`: what they share
- :mod:`~privet.outsource.store.changes`: rows that come and go, checked and applied as one
- :mod:`~privet.outsource.store.staging`: the owner's files, checked before anything opens them
"""

from privet.outsource.store.base import Change, Store
from privet.outsource.store.open import make_store, open_store

__all__ = ["Change", "Store", "make_store", "open_store"]
