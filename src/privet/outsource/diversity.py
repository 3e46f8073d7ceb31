"""Whether groups are l-diverse in the sense of Anatomy: no value has more than one l-th of the
entries.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from privet.anonymity import Groups
from privet.outsource.anatomy import Anatomy
from privet.outsource.cells import CellText, codes_of
from privet.typed import Ints


def find_undiverse_groups(gid: Ints, codes: Ints, l: int) -> Ints:  # noqa: E741 - its name everywhere
    """The groups in which some value has more than one l-th of the entries."""
    if not len(gid):
        return np.empty(0, dtype=np.int64)
    groups = Groups.of(gid, codes)
    return groups.ids[groups.largest * l > groups.sizes]


def find_undiverse_value_groups(anatomy: Anatomy, gid: Ints, values: Sequence[CellText]) -> Ints:
    """The same for the values of a table, compared by their codes: two ages of one bin are the
    same.
    """
    return find_undiverse_groups(gid, codes_of(anatomy.sensitive_domain, values), anatomy.l)
