"""The three learners without a server or a key: from the true rows, in a few lines."""

from __future__ import annotations

import numpy as np

from privet.domain.encode.rows import encode
from privet.learners.baselines import grow_c45
from privet.outsource.files import Halves
from privet.outsource.verify import open_true_values


class Reference:
    """What the learners must say, worked out from the true rows."""

    def __init__(self, halves: Halves, ring, splits: str = "multiway", leaf_size: int = 2) -> None:
        anatomy = halves.anatomy
        self.full, self.identifying = anatomy.schema, anatomy.identifying
        frame = halves.identifiers.frame(anatomy)
        frame[anatomy.sensitive] = np.array(open_true_values(halves, ring)[1], dtype=object)
        self.rows, self.ids = encode(self.full, frame), encode(self.identifying, frame)
        self.classes = self.rows.classes
        self.aside = halves.identifiers.pruning
        self.splits = splits
        self.base = self._grow(
            self.identifying, self.ids.codes, np.ones(len(frame), dtype=bool), leaf_size
        )
        self.leaf = self.base.reach(self.ids.codes)

    def _grow(self, schema, codes, here, leaf_size=2):
        def part(which):
            return [column[which] for column in codes], self.classes[which]

        grow, prune = here & ~self.aside, here & self.aside
        if not grow.any():
            return grow_c45(schema, *part(prune), splits=self.splits, max_depth=0)
        return grow_c45(
            schema,
            *part(grow),
            splits=self.splits,
            min_rows=leaf_size,
            prune=part(prune) if prune.any() else None,
        )

    def baseline(self, frame) -> list[str]:
        return self._says(self.base, encode(self.identifying, frame, target=False).codes)

    def naive(self, frame) -> list[str]:
        tree = self._grow(self.full, self.rows.codes, np.ones(len(self.aside), dtype=bool))
        return self._says(tree, encode(self.full, frame, target=False).codes)

    def collaborative(self, frame) -> list[str]:
        codes = encode(self.full, frame, target=False).codes
        reached = self.base.reach(encode(self.identifying, frame, target=False).codes)
        said = np.array(self.baseline(frame), dtype=object)
        for leaf in np.unique(reached):
            if (self.leaf == leaf).any():
                here = reached == leaf
                said[here] = self._says(
                    self._grow(self.full, self.rows.codes, self.leaf == leaf),
                    [column[here] for column in codes],
                )
        return said.tolist()

    @staticmethod
    def _says(tree, codes) -> list[str]:
        return [tree.schema.label.labels[c] for c in tree.counts[tree.reach(codes)].argmax(axis=1)]
