"""Learn trees from joined rows, and pad them so that a sealed tree's length says nothing.

A tree is compressed, then padded to a length that depends only on the number of rows. Otherwise the
length would tell a server how much the sensitive attribute has to say at a leaf; one that leaves
rows out on purpose could even ask about rows of its choice. So a sub-tree gets as much room as its
rows can ever need, and is cut where it would need more.
"""

from __future__ import annotations

import json
import struct
import zlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from privet._types import Codes, Splits
from privet.domain import Schema
from privet.domain.encode.rows import encode
from privet.domain.tree import Tree, sum_upwards
from privet.errors import Conflict, SealError
from privet.learners.baselines import grow_c45
from privet.learners.baselines.growing import cut_below
from privet.model.structure import Damaged, tree_from, tree_to
from privet.outsource.anatomy import Anatomy, CellText
from privet.outsource.cipher.sealing import open_true_entry
from privet.outsource.client.replies import CandidateRow, TablePage
from privet.outsource.client.table import OutsourcedTable, retry_step

# Joining: from rows with all candidates to the true rows, one small integer per column.


@dataclass(frozen=True, eq=False)
class TrueRows:
    """Joined rows: codes by attribute of the whole schema, classes, and which rows are for pruning.

    ``version`` is that of the table they are of; ``seqs`` are their sequence numbers.
    """

    version: int
    codes: list[Codes]
    classes: Codes
    pruning: npt.NDArray[np.bool_]
    seqs: npt.NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))

    def __len__(self) -> int:
        return len(self.classes)

    def between(self, start: int, end: int) -> TrueRows:
        """Return the rows from one place up to another."""
        some = slice(start, end)
        return TrueRows(
            self.version,
            [column[some] for column in self.codes],
            self.classes[some],
            self.pruning[some],
            self.seqs[some],
        )

    def where(self, chosen: npt.NDArray[np.bool_]) -> tuple[list[Codes], Codes]:
        """Return the codes and classes of some rows."""
        return [column[chosen] for column in self.codes], self.classes[chosen]


def join_rows(table: OutsourcedTable, pages: Callable[[], Iterable[TablePage]]) -> TrueRows:
    """Open every row's sequence number and keep its true value.

    Raises :class:`SealError` if one row is not what was sealed.

    Begins again where the table changes while it is read.
    """
    return retry_step(lambda: _join_pages(table, pages()))


def _join_pages(table: OutsourcedTable, pages: Iterable[TablePage]) -> TrueRows:
    parts: list[TrueRows] = []
    held = 0
    seen: set[int] = set()
    for page in pages:
        if parts and page.version != parts[0].version:
            raise Conflict("the table has changed")
        table.holds(held + sum(max(1, len(row.candidates)) for row in page.rows))
        parts.append(join_page(table, page))
        held += len(parts[-1])
        seen.update(parts[-1].seqs.tolist())
        if len(seen) < held:
            raise SealError  # a row that is sent twice would count twice
    return concatenate(parts)


def join_page(table: OutsourcedTable, page: TablePage) -> TrueRows:
    """Return the true rows of one page."""
    opened = [(row, *open_true_entry(table.sealer, row.eseq, row.place)) for row in page.rows]
    return _encode_true_rows(table.anatomy, page.version, opened)


def concatenate(parts: Sequence[TrueRows]) -> TrueRows:
    """Return the rows of parts that are of one version."""
    if len(parts) == 1:
        return parts[0]
    codes = [np.concatenate(columns) for columns in zip(*(p.codes for p in parts), strict=True)]
    seqs, classes, pruning = (
        np.concatenate([getattr(part, name) for part in parts])
        for name in ("seqs", "classes", "pruning")
    )
    return TrueRows(parts[0].version, codes, classes, pruning, seqs)


def _encode_true_rows(
    anatomy: Anatomy, version: int, rows: list[tuple[CandidateRow, int, CellText]]
) -> TrueRows:
    cells = np.array([row.cells for row, _, _ in rows], dtype=object).reshape(
        len(rows), len(anatomy.columns)
    )
    frame = {name: cells[:, i] for i, name in enumerate(anatomy.columns)}
    frame[anatomy.sensitive] = np.array([value for _, _, value in rows], dtype=object)
    encoded = encode(anatomy.schema, frame)
    assert encoded.classes is not None
    seqs = np.array([seq for _, seq, _ in rows], dtype=np.int64)
    marks = np.array([row.pruning for row, _, _ in rows], dtype=bool)
    return TrueRows(version, encoded.codes, encoded.classes, marks, seqs)


_LENGTH = 4
_SHORTEST = 1024
#: Bytes of a text per row: pruned trees need a quarter of it, unpruned ones somewhat more.
_PER_ROW, _PER_CLASS = 2, 16
_LARGEST = 1 << 28  # of what a text may unfold to


def learn(schema: Schema, rows: TrueRows, splits: Splits) -> Tree:
    """Learn a tree on true rows, pruned with held-out rows (as J48 does).

    It is exact, so it must be sealed.
    """
    aside = rows.pruning
    if aside.all():  # nothing to grow from: the classes of the rows kept aside are all there is
        return grow_c45(schema, rows.codes, rows.classes, splits=splits, max_depth=0)
    return grow_c45(
        schema, *rows.where(~aside), splits=splits, prune=rows.where(aside) if aside.any() else None
    )


def room_for(schema: Schema, n_rows: int) -> int:
    """Return the length of a text that was learnt from so many rows: a power of two."""
    needed = max(_SHORTEST, _PER_ROW * n_rows, _PER_CLASS * schema.n_classes)
    return 1 << (needed - 1).bit_length()


def pad_tree(tree: Tree, n_rows: int, rows: TrueRows | None = None) -> bytes:
    """Return the padded text of a tree that was learnt from so many rows.

    A tree that would need more room is cut to fewer levels. ``rows`` follow it where they are to be
    kept with it, each in as many bytes as the schema says: 0.1 reads the tree and ignores them.
    """
    after = b"" if rows is None else _write_rows(rows)
    room = room_for(tree.schema, n_rows)
    for depth in range(int(tree.depths.max(initial=0)), -1, -1):
        packed = zlib.compress(
            json.dumps(tree_to(cut_below(tree, depth)), separators=(",", ":")).encode(), 9
        )
        if _LENGTH + len(packed) <= room:
            return (len(packed).to_bytes(_LENGTH, "big") + packed).ljust(room, b"\0") + after
    raise AssertionError("a tree without a test always fits")


def unpad_tree(schema: Schema, text: bytes) -> Tree:
    """Return the tree of a padded text."""
    length = int.from_bytes(text[:_LENGTH], "big")
    try:
        unpacking = zlib.decompressobj()
        plain = unpacking.decompress(text[_LENGTH : _LENGTH + length], _LARGEST)
        tree = tree_from(schema, json.loads(plain), 1)
    except (zlib.error, ValueError, Damaged, RecursionError):
        raise SealError from None
    rows = _read_rows(schema, text)
    return tree if rows is None else _count_rows(tree, *rows)


#: After the rows: how many they are, and a byte that makes the length odd, while that of a text
#: without rows is a power of two.
_COUNT = struct.Struct(">Ix")


def _write_rows(rows: TrueRows) -> bytes:
    """Each column after the other, an entry in a fixed number of bytes: only the number of rows
    decides the length.
    """
    columns = [*rows.codes, rows.classes, rows.pruning.astype(np.uint8)]
    text = b"".join(column.tobytes() for column in columns)
    return text + b"\0" * (len(text) % 2) + _COUNT.pack(len(rows))


def _read_rows(schema: Schema, text: bytes) -> tuple[list[Codes], Codes] | None:
    """The rows that follow a tree and that it was grown from; None where none follow."""
    if len(text) % 2 == 0:
        return None
    labels = [*schema.attributes.values(), schema.label]
    dtypes = [*(np.dtype(label.dtype) for label in labels), np.dtype(np.uint8)]
    sizes = [dtype.itemsize for dtype in dtypes]
    (n_rows,) = _COUNT.unpack_from(text, len(text) - _COUNT.size)
    at = len(text) - _COUNT.size - n_rows * sum(sizes) - n_rows * sum(sizes) % 2
    if at < 0 or not n_rows:
        raise SealError
    columns = []
    for dtype, size in zip(dtypes, sizes, strict=True):
        columns.append(np.frombuffer(text, dtype, n_rows, at))
        at += n_rows * size
    *codes, classes, pruning = columns
    bounds = [*schema.sizes, schema.n_classes, 2]
    if any(column.max() >= bound for column, bound in zip(columns, bounds, strict=True)):
        raise SealError
    grown = pruning == 0 if not pruning.all() else np.ones(n_rows, dtype=bool)
    return [column[grown] for column in codes], classes[grown]


def _count_rows(tree: Tree, codes: list[Codes], classes: Codes) -> Tree:
    """The tree with the classes of these rows; a node that none reaches keeps those it has."""
    entry = tree.reach(codes) * tree.schema.n_classes + classes
    ends = np.bincount(entry, minlength=tree.counts.size).reshape(tree.counts.shape)
    counts = sum_upwards(tree.cells, ends.astype(np.float64))
    return replace(
        tree, counts=np.where(counts.sum(axis=1, keepdims=True) > 0, counts, tree.counts)
    )


def predict_classes(tree: Tree, codes: list[np.ndarray]) -> list[str]:
    """Predict the class of each row: the most frequent one where it ends."""
    labels = tree.schema.label.labels
    return [labels[c] for c in tree.counts[tree.reach(codes)].argmax(axis=1).tolist()]
