"""How anonymous a table is by the measures that came before differential privacy. Exact numbers,
for its owner alone.

Rows that agree in the quasi-identifiers, which somebody may know from elsewhere, form an
equivalence class. The measures ask how small a class gets, and how much it tells about a sensitive
attribute.

- :mod:`~privet.anonymity.groups`: ``Groups``, how often each value occurs in each class, as flat
  arrays
- :mod:`~privet.anonymity.measures`: k-anonymity, four kinds of l-diversity, t-closeness, vectorised
- :mod:`~privet.anonymity.report`: ``examine`` a table; ``Report``, what was found, with the worst
  classes

None of it is differential privacy, and nothing here adds noise. pyCANON computes the same measures,
one pandas slice per class, and needs one exact version each of NumPy and pandas; DuckDB, which is
here anyway, groups a million rows in a second.
"""

from privet.anonymity.groups import Groups
from privet.anonymity.report import Report, examine

__all__ = ["Groups", "Report", "examine"]
