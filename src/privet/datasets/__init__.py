"""Load public data sets, each with a hand-written public schema.

- :mod:`~privet.datasets.loading`: ``load``, from a name to a :class:`Dataset`
- :mod:`~privet.datasets.catalog`: ``names`` and ``describe``, what there is and where it comes from
- :mod:`~privet.datasets.generated`: nine sets that are computed, without any download
- :mod:`~privet.datasets.fetching`, :mod:`~privet.datasets.uci`: seven real tables, from the folder
  that ``PRIVET_DATA`` names, from the cache, or downloaded
- :mod:`~privet.datasets.canonical`: ``canonical_hash``, the checksum of any faithful copy

A table that does not have the expected checksum is refused, wherever it came from.

Examples
--------
>>> import privet as pv
>>> nursery = pv.datasets.load("nursery")
>>> nursery.schema
<Schema: 8 attributes (parents, has_nurs, form, ...), target 'class' with 5 classes>
"""

from privet.datasets.canonical import canonical_hash
from privet.datasets.catalog import Description, describe, names
from privet.datasets.loading import Dataset, load

__all__ = ["Dataset", "Description", "canonical_hash", "describe", "load", "names"]
