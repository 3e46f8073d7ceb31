"""Randomise each person's record on their own device, and learn from the reports.

- :mod:`~privet.local.randomizer`, :mod:`~privet.local.leaf_randomizer`: what a person does
- :mod:`~privet.local.randomizer_file`: the public file that says how to randomise
- :mod:`~privet.local.records`: records and reports as CSV, and what a ledger is charged for them
- :mod:`~privet.local.collecting`: what the collector does with reports
- :mod:`~privet.local.curator`: a curator that answers queries from reports
- :mod:`~privet.local.spending`: the records have paid when they were randomised
- :mod:`~privet.local.counts`, :mod:`~privet.local.reports`: counts corrected for the randomness
- :mod:`~privet.local.gains`: whether a split stands out from the noise
"""

from privet.local.collecting import collect_leaves, local_curator
from privet.local.leaf_randomizer import LeafRandomizer
from privet.local.randomizer import Randomizer
from privet.local.randomizer_file import read_randomizer, write_randomizer

__all__ = [
    "LeafRandomizer",
    "Randomizer",
    "collect_leaves",
    "local_curator",
    "read_randomizer",
    "write_randomizer",
]
