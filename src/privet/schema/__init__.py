"""What is public about a table.

- :mod:`~privet.schema.attributes`: ``Categorical`` and ``Numeric``, the public domain of a column
- :mod:`~privet.schema.schema`: ``Schema``, its JSON file and its fingerprint
- :mod:`~privet.schema.columns`: the columns of data frames and arrays, nothing coerced
- :mod:`~privet.schema.encode`: columns to small integers
- :mod:`~privet.schema.problems`: how a table can fail to fit, said without a value or a count
- :mod:`~privet.schema.draft`: a first schema from a *public* sample
"""

from privet.schema.attributes import Attribute, Categorical, Numeric, text_of
from privet.schema.schema import Neighbours, Schema

__all__ = ["Attribute", "Categorical", "Neighbours", "Numeric", "Schema", "text_of"]
