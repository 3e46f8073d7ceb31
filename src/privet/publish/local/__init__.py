"""Records that people randomise themselves, before they leave them: nobody has to be trusted with
the truth.

- :mod:`~privet.publish.local.randomizer`: ``Randomizer``, one record in, one report out
- :mod:`~privet.publish.local.leaves`: ``LeafRandomizer``, one leaf of one public tree instead of a
  record
- :mod:`~privet.publish.local.values`: values to codes and back
- :mod:`~privet.publish.local.collecting`: reports to a curator, or to a model
- :mod:`~privet.publish.local.file`: the public file that all people use
"""

from privet.publish.local.collecting import collect_leaves, local_curator
from privet.publish.local.file import read_randomizer, write_randomizer
from privet.publish.local.leaves import LeafRandomizer
from privet.publish.local.randomizer import Randomizer

__all__ = [
    "LeafRandomizer",
    "Randomizer",
    "collect_leaves",
    "local_curator",
    "read_randomizer",
    "write_randomizer",
]
