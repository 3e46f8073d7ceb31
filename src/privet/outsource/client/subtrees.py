"""Trees as texts to be sealed: compressed, then padded to a length that depends on nothing but the
number of rows.

The length of what is sealed would tell a server how much the sensitive attribute has to say at a
leaf; one that leaves rows out on purpose could even ask about rows of its choice. So a sub-tree
gets as much room as its rows can ever need, and is cut where it would need more.
"""

from __future__ import annotations

import json
import zlib

import numpy as np

from privet.errors import SealError
from privet.model.problem import Damaged
from privet.model.structure import tree_from, tree_to
from privet.outsource.client.joining import TrueRows
from privet.schema import Schema
from privet.tree import Tree
from privet.trees.exact import grow_c45
from privet.trees.exact.pruning import cut_below
from privet.typed import Splits

_LENGTH = 4
_SHORTEST = 1024
#: Bytes of a text per row: pruned trees need a quarter of it, unpruned ones somewhat more.
_PER_ROW, _PER_CLASS = 2, 16
_LARGEST = 1 << 28  # of what a text may unfold to


def learn(schema: Schema, rows: TrueRows, splits: Splits) -> Tree:
    """A tree on true rows, pruned with those that were kept aside (as J48 does). Exact, so it must
    be sealed.
    """
    aside = rows.pruning
    if aside.all():  # nothing to grow from: the classes of the rows kept aside are all there is
        return grow_c45(schema, rows.codes, rows.classes, splits=splits, max_depth=0)
    return grow_c45(
        schema, *rows.where(~aside), splits=splits, prune=rows.where(aside) if aside.any() else None
    )


def room_for(schema: Schema, n_rows: int) -> int:
    """The length of a text that was learnt from so many rows: a power of two."""
    needed = max(_SHORTEST, _PER_ROW * n_rows, _PER_CLASS * schema.n_classes)
    return 1 << (needed - 1).bit_length()


def pad_tree(tree: Tree, n_rows: int) -> bytes:
    """The text of a tree that was learnt from so many rows. A tree that would need more room is cut
    to fewer levels.
    """
    room = room_for(tree.schema, n_rows)
    for depth in range(int(tree.depths.max(initial=0)), -1, -1):
        packed = zlib.compress(
            json.dumps(tree_to(cut_below(tree, depth)), separators=(",", ":")).encode(), 9
        )
        if _LENGTH + len(packed) <= room:
            return (len(packed).to_bytes(_LENGTH, "big") + packed).ljust(room, b"\0")
    raise AssertionError("a tree without a test always fits")


def unpad_tree(schema: Schema, text: bytes) -> Tree:
    """The tree of a text."""
    length = int.from_bytes(text[:_LENGTH], "big")
    try:
        unpacking = zlib.decompressobj()
        plain = unpacking.decompress(text[_LENGTH : _LENGTH + length], _LARGEST)
        return tree_from(schema, json.loads(plain), 1)
    except (zlib.error, ValueError, Damaged, RecursionError):
        raise SealError from None


def predict_classes(tree: Tree, codes: list[np.ndarray]) -> list[str]:
    """The class of each row: the most frequent one where it ends."""
    labels = tree.schema.label.labels
    return [labels[c] for c in tree.counts[tree.reach(codes)].argmax(axis=1).tolist()]
