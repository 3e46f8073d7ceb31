"""Measure how anonymous a table is: k-anonymity, l-diversity and t-closeness.

These are exact numbers for the owner alone. They came before differential privacy and are none of
it: nothing here adds noise. Rows that agree in the quasi-identifiers, which somebody may know from
elsewhere, form an equivalence class. The measures say how small such a class gets, and how much it
tells about a sensitive attribute.

- :mod:`~privet.anonymity.measures`: the measures, from counts of values in classes
- :mod:`~privet.anonymity.report`: ``examine`` a table; ``Report``, with the worst classes
- :mod:`~privet.anonymity.picture`: ``draw_anonymity``, class sizes, l and t
"""

from privet.anonymity.measures import Groups
from privet.anonymity.report import Report, examine

__all__ = ["Groups", "Report", "examine"]
