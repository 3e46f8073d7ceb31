"""The three synthetic sets of Jagannathan, Pillaipakkamnatt and Wright 2009 (section VI): a Boolean
tree with noise.

The paper gives the numbers of attributes and rows, and that each label is flipped with probability
0.05. It does not show the trees of sets 1 and 3, and that of set 2 only as a picture: all three
trees here are our own. Each uses every attribute and splits the cube about evenly.

Rows are uniform over the cube. They come from SHAKE-256 of the set's name, so they are the same on
every machine.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence

#: A leaf (the label), or the number of the attribute to look at with the trees for 0 and for 1.
NestedTree = int | tuple[int, "NestedTree", "NestedTree"]

FLIP = 0.05
_ROW_BYTES = 8

TREE_1: NestedTree = (
    1,
    (2, (4, (8, 0, 1), (9, 0, 1)), (5, 1, (10, 0, (7, 1, 0)))),
    (3, (6, (7, 1, 0), (8, 0, 1)), (9, (4, 0, 1), (10, (5, 1, 0), (2, 0, 1)))),
)
TREE_2: NestedTree = (
    1,
    (2, (3, 0, 1), (4, 1, (5, 0, 1))),
    (6, (4, (3, 1, 0), 0), (5, (2, 0, 1), 1)),
)
TREE_3: NestedTree = (
    4,
    (1, (2, 0, (3, 0, 1)), (5, (6, 1, 0), 1)),
    (7, (3, (2, 0, 1), (6, 1, 0)), (1, (5, 0, 1), 0)),
)


def classify_bits(tree: NestedTree, bits: Sequence[int]) -> int:
    """The label that the tree gives to a row; ``bits[0]`` is attribute 1."""
    while not isinstance(tree, int):
        attribute, zero, one = tree
        tree = one if bits[attribute - 1] else zero
    return tree


def generate_rdt_rows(
    name: str, tree: NestedTree, attributes: int, n: int
) -> Iterator[tuple[str, ...]]:
    """The rows of a set: its attributes and the label, which is flipped with probability 0.05."""
    stream = hashlib.shake_256(f"privet {name}".encode()).digest(n * _ROW_BYTES)
    for start in range(0, len(stream), _ROW_BYTES):
        word = int.from_bytes(stream[start : start + _ROW_BYTES], "little")
        bits = [word >> position & 1 for position in range(attributes)]
        # the upper half of the word decides the flip, the lower bits are the attributes
        flip = (word >> 32) < int(FLIP * 2**32)
        yield *(str(bit) for bit in bits), str(classify_bits(tree, bits) ^ flip)
