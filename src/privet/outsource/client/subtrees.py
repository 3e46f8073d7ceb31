"""Trees as texts to be sealed: compressed, then padded, so that most are of one length.

The length of what is sealed would tell a server how much the sensitive attribute has to say at a leaf. Lengths are powers of two,
the least one holding dozens of nodes; a longer text tells of a large sub-tree still.
"""

from __future__ import annotations

import json
import zlib

import numpy as np

from privet.errors import SealError
from privet.outsource.client.joining import TrueRows
from privet.release.problem import Damaged
from privet.release.structure import tree_from, tree_to
from privet.schema import Schema
from privet.tree import Tree
from privet.trees.exact import grow_c45
from privet.trees.exact.c45 import Splits

SHORTEST = 2048
_LENGTH = 4
_LARGEST = 1 << 28  # of what a text may unfold to


def learn(schema: Schema, rows: TrueRows, splits: Splits) -> Tree:
    """A tree on true rows, pruned with those that were kept aside (as J48 does). Exact, so it must be sealed."""
    aside = rows.pruning
    if aside.all():  # nothing to grow from: the classes of the rows kept aside are all there is
        return grow_c45(schema, rows.codes, rows.classes, splits=splits, max_depth=0)
    return grow_c45(schema, *rows.where(~aside), splits=splits, prune=rows.where(aside) if aside.any() else None)


def padded(tree: Tree) -> bytes:
    """The text of a tree."""
    packed = zlib.compress(json.dumps(tree_to(tree), separators=(",", ":")).encode(), 9)
    text = len(packed).to_bytes(_LENGTH, "big") + packed
    return text.ljust(max(SHORTEST, 1 << (len(text) - 1).bit_length()), b"\0")


def unpadded(schema: Schema, text: bytes) -> Tree:
    """The tree of a text."""
    length = int.from_bytes(text[:_LENGTH], "big")
    try:
        unpacking = zlib.decompressobj()
        plain = unpacking.decompress(text[_LENGTH : _LENGTH + length], _LARGEST)
        return tree_from(schema, json.loads(plain), 1)
    except (zlib.error, ValueError, Damaged, RecursionError):
        raise SealError from None


def says(tree: Tree, codes: list[np.ndarray]) -> list[str]:
    """The class of each row: the most frequent one where it ends."""
    labels = tree.schema.label.labels
    return [labels[c] for c in tree.counts[tree.reach(codes)].argmax(axis=1).tolist()]
