"""Extract what can be seen of a release, as named numbers and words.

The names are the same whatever the run, so that runs can be compared.

An attacker knows both worlds, so what a model says about the row in question is looked at first;
but all of it is released, and all of it is looked at: structure, counts, scores, settings, what was
charged.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.audit.fitted import Fitted
from privet.audit.worlds import World
from privet.domain.encode.rows import encode
from privet.domain.tree import Tree
from privet.errors import ParameterError
from privet.model import Model
from privet.queries.answers import ChosenIndex, ChosenSplits, Drawn, Numbers, Quantiles
from privet.synthetic.synthesize import SyntheticTable

#: A number, or a word for what cannot be ordered.
Feature = float | str
Features = dict[str, Feature]
Runs = Sequence[Features]
#: A table with more entries than this is seen through its sums only.
MANY = 64
#: So many words or numbers are taken together as one word too.
FEW = 4


def observed(released: Any, probed: World) -> Features:
    """Return the features of anything that a run may give back.

    That is a model or a fitted estimator (anything with ``predict_proba`` or ``predict``), an
    answer of a curator, a data frame, a number, a word, an array; a mapping of these by name, or a
    list. What is not known is refused: an audit that sees nothing finds nothing.
    """
    for kind, look in _OBSERVERS:
        if isinstance(released, kind):
            return look(released, probed)
    model = getattr(released, "model_", None)
    if isinstance(model, Model):
        return _observe_model(model, probed)
    if hasattr(released, "predict_proba") or hasattr(released, "predict"):
        return _observe_fitted(Fitted(released, as_frame=True), probed)
    if type(released).__module__.partition(".")[0] == "pandas" and hasattr(released, "columns"):
        return _observe_rows(released, probed)
    raise ParameterError(
        f"an audit cannot look at a {type(released).__name__}: give back a model, numbers, words, "
        "or a list of these"
    )


def _observe_model(model: Model, probed: World) -> Features:
    features: Features = {"domain": model.schema.fingerprint[:12]}
    codes = probed.codes(model.schema, partial=model.privacy.vertical)
    classes = model.schema.label.labels
    for r, shares in enumerate(model.probabilities(codes)):
        for label, share in zip(classes, shares, strict=True):
            features[f"probability of {label} for {_name_probed_row(r)}"] = float(share)
    reached = [tree.reach(codes) for tree in model.trees]
    for t, (tree, nodes) in enumerate(zip(model.trees, reached, strict=True)):
        features[f"structure of tree {t}"] = _describe_structure(tree)
        features[f"labels of tree {t}"] = "".join(map(str, tree.counts.argmax(axis=1)))
        for c, label in enumerate(classes):
            features[f"{label} in all of tree {t}"] = float(tree.counts[0, c])
            for r, node in enumerate(nodes):
                features[f"{label} in tree {t} where {_name_probed_row(r)} falls"] = float(
                    tree.counts[node, c]
                )
    for r in range(len(probed.rows)):
        for c, label in enumerate(classes):
            there = [
                float(tree.counts[nodes[r], c])
                for tree, nodes in zip(model.trees, reached, strict=True)
            ]
            features[f"{label} where {_name_probed_row(r)} falls, in all trees"] = sum(there)
            features[f"{label} where {_name_probed_row(r)} falls, in the tree with most"] = max(
                there
            )
    if model.evidence is not None:
        # The order of batches is random, but for those that have a name: where there are several,
        # the largest number is seen too.
        for t, (tree, nodes) in enumerate(zip(model.trees, reached, strict=True)):
            cells, released = (
                tree.cells.cell[nodes],
                [batch.tables[t] for batch in model.evidence.batches],
            )
            for b, (leaf, table) in enumerate(zip(model.privacy.leaves, released, strict=True)):
                features |= _observe_leaf_table(
                    f"{leaf.name or f'batch {b}'}, tree {t}", table, cells, classes
                )
            if len(released) > 1:
                features |= _observe_leaf_table(
                    f"the largest batch, tree {t}", np.max(released, axis=0), cells, classes
                )
    for name, value in model.settings.items():
        features[f"setting {name}"] = _feature_from(value)
        # a reason may tell a noisy number
        if number := re.search(r"\d+(\.\d+)?(e[+-]?\d+)?", str(value)):
            features[f"first number in setting {name}"] = float(number[0])
    statements = model.privacy.leaves
    features["charges"] = "; ".join(
        f"{charge.what} {charge.cost}" for statement in statements for charge in statement.charges
    )
    return features


def _observe_leaf_table(
    where: str, table: npt.NDArray[Any], cells: npt.NDArray[Any], classes: Sequence[str]
) -> Features:
    """The leaf vector as it was released: the leaf of the row in question, and all others
    together.
    """
    features: Features = {}
    for c, label in enumerate(classes):
        for r, cell in enumerate(cells):
            if cell >= 0:
                features[f"released {label} of {where} where {_name_probed_row(r)} falls"] = float(
                    table[cell, c]
                )
                features[f"released {label} of {where} elsewhere than {_name_probed_row(r)}"] = (
                    float(table[:, c].sum() - table[cell, c])
                )
    return features


def _describe_structure(tree: Tree) -> str:
    names = [*tree.schema.names, "leaf"]
    tests = ",".join(names[a] for a in tree.cells.attribute)
    return f"{tests} {''.join(map(str, tree.cells.branch.tolist()))}"


def _observe_fitted(fitted: Fitted, probed: World) -> Features:
    """Anybody's estimator, and one of ours that was fitted like that."""
    model = getattr(fitted.estimator, "model_", None)
    known = (
        _observe_model(model, probed) if isinstance(model, Model) and fitted.look == "all" else {}
    )
    return known | _observe_mapping(fitted.parts(probed), probed)


def _observe_numbers(answer: Numbers, probed: World) -> Features:
    features: Features = {}
    for t, table in enumerate(answer.tables):
        features |= {
            f"table {t}, {name}": value for name, value in _observe_array(table, probed).items()
        }
    return features


def _observe_drawn_tree(answer: Drawn, probed: World) -> Features:
    tree = answer.tree()
    features: Features = {
        "structure": _describe_structure(tree),
        "labels": "".join(map(str, answer.labels)),
    }
    nodes = tree.reach(probed.codes(tree.schema))
    return features | {
        f"label of {_name_probed_row(r)}": str(answer.labels[node]) for r, node in enumerate(nodes)
    }


def _observe_synthetic_table(table: SyntheticTable, probed: World) -> Features:
    return {"pairs": str(table.pairs)} | _observe_rows(table.frame, probed)


def _observe_rows(frame: Any, probed: World) -> Features:
    """Released rows: each of a few as a word; of many, how many are like the row in question, and
    how many have each value.
    """
    features: Features = {"rows": float(len(frame))}
    if len(frame) <= 2 or not {*probed.schema.names, probed.schema.target} <= set(frame.columns):
        return features | {
            f"row {r}": str(tuple(row)) for r, row in enumerate(frame.itertuples(index=False))
        }
    schema = probed.schema.declare(person=None)
    rows, asked = encode(schema, frame), encode(schema, probed.table)
    assert rows.classes is not None
    assert asked.classes is not None
    for r in range(len(probed.rows)):
        same = [line == one[r] for line, one in zip(rows.codes, asked.codes, strict=True)]
        of_class, alike = rows.classes == asked.classes[r], np.logical_and.reduce(same)
        features[f"rows of the class of {_name_probed_row(r)}"] = float(of_class.sum())
        features[f"rows with all values of {_name_probed_row(r)}"] = float(alike.sum())
        features[f"rows like {_name_probed_row(r)}"] = float((alike & of_class).sum())
        for name, line in zip(schema.names, same, strict=True):
            features[f"rows with {name} and class of {_name_probed_row(r)}"] = float(
                (line & of_class).sum()
            )
    return features


def _observe_array(values: Any, _: World) -> Features:
    """Every entry of a small table, and the sum of any."""
    table = np.asarray(values)
    if table.dtype.kind not in "biuf":
        return {f"entry {i}": str(value) for i, value in enumerate(table.ravel()[:MANY])}
    features: Features = {"sum": float(table.sum()), "largest": float(table.max(initial=0))}
    if table.size <= MANY:
        features |= {
            f"entry {', '.join(map(str, place))}": float(value)
            for place, value in np.ndenumerate(table)
        }
    return features


def _observe_mapping(parts: Mapping[Any, Any], probed: World) -> Features:
    features: Features = {}
    for name, part in parts.items():
        looked = {"": _feature_from(part)} if _is_plain_value(part) else observed(part, probed)
        features |= {f"{name}: {key}" if key else str(name): value for key, value in looked.items()}
    if 1 < len(parts) <= FEW and all(_is_plain_value(part) for part in parts.values()):
        features["all together"] = str(tuple(parts.values()))
        # somebody's record: what it tells, against the row in question
        if {*probed.schema.names, probed.schema.target} == set(parts):
            for r, row in enumerate(probed.rows):
                alike = [part == row[name] for name, part in parts.items() if part is not None]
                features[f"told like {_name_probed_row(r)}"] = float(sum(alike))
                features[f"told otherwise than {_name_probed_row(r)}"] = float(
                    len(alike) - sum(alike)
                )
    return features


def _is_plain_value(part: Any) -> bool:
    return part is None or isinstance(part, str | int | float | np.number)


def _observe_sequence(parts: Sequence[Any], probed: World) -> Features:
    return _observe_mapping({f"answer {i}": part for i, part in enumerate(parts)}, probed)


def _feature_from(value: Any) -> Feature:
    return (
        float(value)
        if isinstance(value, int | float | np.number) and not isinstance(value, bool)
        else str(value)
    )


def _name_probed_row(number: int) -> str:
    return "the row" if number == 0 else "its replacement"


_OBSERVERS: tuple[tuple[Any, Callable[[Any, World], Features]], ...] = (
    (Model, _observe_model),
    (Numbers, _observe_numbers),
    (
        ChosenSplits,
        lambda answer, _: {
            f"split of cell {c}": f"{s.attribute} {s.branch}" for c, s in enumerate(answer.splits)
        },
    ),
    (ChosenIndex, lambda answer, _: {"chosen": str(answer.index)}),
    (Quantiles, lambda answer, _: {"cuts": str(answer.codes)}),
    (Drawn, _observe_drawn_tree),
    (SyntheticTable, _observe_synthetic_table),
    (Fitted, _observe_fitted),
    (Mapping, _observe_mapping),
    ((str, int, float, np.number), lambda value, _: {"value": _feature_from(value)}),
    (np.ndarray, _observe_array),
    ((list, tuple), _observe_sequence),
)
