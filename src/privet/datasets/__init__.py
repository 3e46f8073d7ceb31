"""Public data sets, each with a hand-written public schema.

- :mod:`~privet.datasets.loading`: ``load``, from a name to a :class:`Dataset`
- :mod:`~privet.datasets.catalog`: ``names`` and ``describe``, what there is and where it comes from
- :mod:`~privet.datasets.canonical`: ``canonical_hash``, the checksum that any faithful copy of a
  table has

Nine sets are computed by a few lines each, so they are there without any download:
:mod:`~privet.datasets.nursery`, :mod:`~privet.datasets.car`, :mod:`~privet.datasets.tic_tac_toe`,
:mod:`~privet.datasets.monks` (three problems) and :mod:`~privet.datasets.rdt2009` (three synthetic
sets).

Seven more are real tables. :mod:`~privet.datasets.storage` looks for ``NAME.csv`` in the folder
that ``PRIVET_DATA`` names and then in the cache; :mod:`~privet.datasets.download` fetches the
archive that :mod:`~privet.datasets.uci` knows how to read. Whatever the source, a table that does
not have the expected checksum is refused. :mod:`~privet.datasets.autos` and
:mod:`~privet.datasets.drug_consumption` derive their class column from the raw table.
"""

from privet.datasets.canonical import canonical_hash
from privet.datasets.catalog import Description, describe, names
from privet.datasets.loading import Dataset, load

__all__ = ["Dataset", "Description", "canonical_hash", "describe", "load", "names"]
