"""Growing a base tree from the identifier table alone (the paper's cdbsl)."""

from __future__ import annotations

from privet.outsource.store.base import Store, StoreLimits, Summary, TreeSettings
from privet.trees.exact import grow_c45


def grow_tree(store: Store, settings: TreeSettings, room: StoreLimits) -> Summary:
    """Grow a tree from the rows that are not for pruning, prune it with the others, and keep it."""
    rows = store.training()
    grown, kept = ~rows.pruning, rows.pruning
    tree = grow_c45(
        store.anatomy.identifying,
        [column[grown] for column in rows.codes],
        rows.classes[grown],
        splits=settings.splits,
        max_depth=settings.max_depth,
        min_rows=settings.leaf_size,
        prune=([column[kept] for column in rows.codes], rows.classes[kept]) if kept.any() else None,
    )
    return store.add_tree(settings, tree, rows, room)
