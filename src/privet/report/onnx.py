"""Export a model as an ONNX graph of plain operators.

The graph reads raw values: one input for each attribute, by its name, of text for listed values and
booleans, and of doubles for numbers (for a date, the number that the schema reads from it, such as
days from 1970-01-01). Missing text is the empty text, a missing number NaN. Outputs are ``label``,
the text of the class, and ``probabilities``. Or it reads codes: input ``codes`` is a float tensor
with one column per attribute, as ``schema.encode`` gives it, and ``label`` the index of the class.

All trees walk at once, one step per
level: the codes of a row are looked up in a jump table, in which an unknown code leads back to the
node itself. ONNX's own tree operators add up in single precision and leave the clipping out, so
labels could differ from ours; here the arithmetic is that of :meth:`Model.probabilities`.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from privet._validate import check_name
from privet.domain.encode.encoding import Encoding
from privet.errors import MissingDependency, ParameterError
from privet.model import Model
from privet.text import escape_invisible

if TYPE_CHECKING:
    import onnx

#: Constants of more bytes do not fit into one ONNX file, which may have two gigabytes.
MAX_TABLE_BYTES = 1 << 30
#: A graph has four operators per level.
MAX_LEVELS = 2000

_OPSET, _IR_VERSION = 17, 8
#: Where text is looked up by its first characters.
_OPSET_OF_PATTERNS, _IR_OF_PATTERNS = 20, 9
_FLOAT32, _INT64, _STRING, _FLOAT64 = 1, 7, 8, 11  # numbers of the types in onnx.TensorProto
_ML = "ai.onnx.ml"

#: Operator, inputs, outputs and options.
Step = tuple[str, list[str], list[str], dict[str, Any]]


@dataclass(frozen=True)
class _Forest:
    """All trees in one table. A leaf tests an extra column, which is always 0, and stays where it
    is.
    """

    attribute: npt.NDArray[np.int64]
    offset: npt.NDArray[np.int64]
    jump: npt.NDArray[np.int64]
    scores: npt.NDArray[np.float64]
    roots: npt.NDArray[np.int64]
    levels: int


Inputs = Literal["raw", "codes"]


def to_onnx(model: Model, inputs: Inputs = "codes") -> onnx.ModelProto:
    """Export the model as ONNX, reading raw values or codes.

    A code that is not in the domain (negative, too large, NaN) is an unknown one.
    """
    check_name("inputs", inputs, get_args(Inputs))
    try:
        import onnx
        from onnx import TensorProto, helper, numpy_helper
    except ImportError:
        raise MissingDependency("onnx", "onnx", "ONNX export") from None

    forest = _stack_trees(model)
    constants = _make_constants(model, forest)
    raw = inputs == "raw"
    reading, known, given = _read_raw(model) if raw else ([], {}, [])
    constants |= known
    patterns = any(step[0] == "RegexFullMatch" for step in reading)
    steps = [
        *reading,
        *_make_walk_steps(forest.levels),
        *(
            _make_softmax_steps(axis_is_input=patterns)
            if model.combine == "scores"
            else _make_share_steps()
        ),
        *_make_answer_steps(by_costs=model.costs is not None, as_text=raw),
    ]
    names = _name_apart(model, steps, raw=raw)
    nodes = [
        helper.make_node(
            kind,
            [names[one] for one in read],
            [names[one] for one in written],
            domain=_ML if kind == "LabelEncoder" else "",
            **options,
        )
        for kind, read, written, options in steps
    ]
    n_attributes, n_classes = len(model.schema.attributes), model.schema.n_classes
    graph = helper.make_graph(
        nodes,
        "privet",
        [helper.make_tensor_value_info(names[name], kind, ["rows"]) for name, kind in given]
        or [helper.make_tensor_value_info("codes", TensorProto.FLOAT, ["rows", n_attributes])],
        [
            helper.make_tensor_value_info(
                names["label"], TensorProto.STRING if raw else TensorProto.INT64, ["rows"]
            ),
            helper.make_tensor_value_info(
                names["probabilities"], TensorProto.FLOAT, ["rows", n_classes]
            ),
        ],
        [
            numpy_helper.from_array(np.asarray(value), names[name])
            for name, value in constants.items()
            if name in names
        ],
    )
    opset = [helper.make_opsetid("", _OPSET_OF_PATTERNS if patterns else _OPSET)]
    if any(step[0] == "LabelEncoder" for step in reading):
        opset.append(helper.make_opsetid(_ML, 2))
    out = helper.make_model(
        graph,
        producer_name="privet",
        opset_imports=opset,
        ir_version=_IR_OF_PATTERNS if patterns else _IR_VERSION,
    )
    out.doc_string = escape_invisible(model.privacy.describe())
    helper.set_model_props(out, _make_properties(model))
    onnx.checker.check_model(out)
    return out


def _make_properties(model: Model) -> dict[str, str]:
    """What a user of the graph needs to know, as JSON where it is not plain text."""
    return {
        "learner": model.learner,
        "target": model.schema.target,
        "classes": json.dumps(list(model.schema.classes)),
        "schema": json.dumps(model.schema.to_json()),
        "fingerprint": model.schema.fingerprint,
        "privacy": json.dumps(model.privacy.to_json()),
    }


def _stack_trees(model: Model) -> _Forest:
    levels = max(int(tree.depths.max()) for tree in model.trees)
    n_nodes = sum(tree.n_nodes for tree in model.trees)
    if levels > MAX_LEVELS:
        raise ParameterError(
            f"ONNX export: a tree may have {MAX_LEVELS} levels at most, this one has {levels}"
        )
    if (size := n_nodes * model.schema.n_classes * 8) > MAX_TABLE_BYTES:
        raise ParameterError(
            f"ONNX export: counts may take {MAX_TABLE_BYTES} bytes at most, these take {size}; use "
            "fewer trees"
        )
    # the last one is the extra column of leaves
    sizes = np.array([*model.schema.sizes, 0], dtype=np.int64)
    attribute = np.concatenate([tree.cells.attribute for tree in model.trees]).astype(np.int64)
    attribute[attribute < 0] = len(sizes) - 1
    widths = sizes[attribute] + 1
    offset = np.cumsum(widths) - widths
    if (size := int(widths.sum()) * 8) > MAX_TABLE_BYTES:
        raise ParameterError(
            f"ONNX export: branches may take {MAX_TABLE_BYTES} bytes at most, these take {size}"
        )
    # an unknown code, and a leaf, lead back to the node
    jump = np.repeat(np.arange(n_nodes), widths)
    roots = np.cumsum([0, *(tree.n_nodes for tree in model.trees[:-1])])
    for root, tree in zip(roots.tolist(), model.trees, strict=True):
        for node in np.flatnonzero(tree.cells.attribute >= 0).tolist():
            start, from_, size = (
                offset[root + node],
                tree.cells.offset[node],
                sizes[attribute[root + node]],
            )
            jump[start : start + size] = root + tree.cells.branch[from_ : from_ + size]
    scores = np.concatenate([model.contributions(tree) for tree in model.trees])
    return _Forest(attribute, offset, jump, scores, roots, levels)


def _make_constants(model: Model, forest: _Forest) -> dict[str, npt.NDArray[Any]]:
    n_attributes, n_classes = len(model.schema.attributes), model.schema.n_classes
    return {
        "one_column_more": np.array([0, 0, 0, 1], dtype=np.int64),
        "zero_code": np.array(0, dtype=np.float32),
        "sizes": np.array([*model.schema.sizes, 1], dtype=np.float32),
        "extra_column": np.array([n_attributes], dtype=np.int64),
        "roots": forest.roots.astype(np.int64).reshape(1, -1),
        "attribute": forest.attribute,
        "offset": forest.offset,
        "jump": forest.jump,
        "scores": forest.scores,
        "axis": np.array([1], dtype=np.int64),
        "zero": np.array(0.0),
        "one": np.array(1.0),
        "uniform": np.full((1, n_classes), 1.0 / n_classes),
        **({} if model.costs is None else {"savings": -model.costs}),
    }


def _make_walk_steps(levels: int) -> list[Step]:
    """From the codes to the sum over all trees."""
    steps: list[Step] = [
        ("Pad", ["codes", "one_column_more", "zero_code"], ["wide"], {}),
        ("GreaterOrEqual", ["wide", "zero_code"], ["not_negative"], {}),
        ("Less", ["wide", "sizes"], ["not_too_large"], {}),
        ("And", ["not_negative", "not_too_large"], ["known"], {}),
        ("Where", ["known", "wide", "sizes"], ["checked"], {}),
        ("Cast", ["checked"], ["code"], {"to": _INT64}),
        ("Gather", ["code", "extra_column"], ["start"], {"axis": 1}),
        ("Add", ["start", "roots"], ["node_0"], {}),
    ]
    for level in range(levels):
        here = f"node_{level}"
        steps += [
            ("Gather", ["attribute", here], [f"attribute_{level}"], {}),
            ("GatherElements", ["code", f"attribute_{level}"], [f"value_{level}"], {"axis": 1}),
            ("Gather", ["offset", here], [f"offset_{level}"], {}),
            ("Add", [f"offset_{level}", f"value_{level}"], [f"at_{level}"], {}),
            ("Gather", ["jump", f"at_{level}"], [f"node_{level + 1}"], {}),
        ]
    return [
        *steps,
        ("Gather", ["scores", f"node_{levels}"], ["score_by_tree"], {}),
        ("ReduceSum", ["score_by_tree", "axis"], ["total"], {"keepdims": 0}),
    ]


def _make_share_steps() -> list[Step]:
    """Probabilities as shares of what is above zero."""
    return [
        ("Max", ["total", "zero"], ["clipped"], {}),
        ("ReduceSum", ["clipped", "axis"], ["sum"], {"keepdims": 1}),
        ("Greater", ["sum", "zero"], ["something"], {}),
        ("Where", ["something", "sum", "one"], ["divisor"], {}),
        ("Div", ["clipped", "divisor"], ["share"], {}),
        ("Where", ["something", "share", "uniform"], ["exact"], {}),
    ]


def _make_softmax_steps(*, axis_is_input: bool) -> list[Step]:
    """Probabilities as the softmax of the sum. The largest is taken off first, so that nothing
    overflows.

    ``axis_is_input``: as the newer operators want it.
    """
    read, options = (["total", "axis"], {}) if axis_is_input else (["total"], {"axes": [1]})
    return [
        ("ReduceMax", read, ["largest"], {**options, "keepdims": 1}),
        ("Sub", ["total", "largest"], ["below_largest"], {}),
        ("Exp", ["below_largest"], ["odds"], {}),
        ("ReduceSum", ["odds", "axis"], ["sum"], {"keepdims": 1}),
        ("Div", ["odds", "sum"], ["exact"], {}),
    ]


def _name_apart(model: Model, steps: list[Step], *, raw: bool) -> dict[str, str]:
    """Return the name in the graph of everything that is in it.

    An attribute keeps its name; what would be called the same is called otherwise.
    """
    taken = set(model.schema.names) if raw else set[str]()
    names = {f"input:{a}": name for a, name in enumerate(model.schema.names)} if raw else {}
    for name in (one for _, read, written, _ in steps for one in (*read, *written)):
        if name not in names:
            apart = name
            while apart in taken:
                apart += "_"
            names[name] = apart
            taken.add(apart)
    return names


def _read_raw(
    model: Model,
) -> tuple[list[Step], dict[str, npt.NDArray[Any]], list[tuple[str, int]]]:
    """From raw values to codes: steps, constants, and the name and type of each input.

    Inputs are ``input:0``, ``input:1`` and so on here.
    """
    steps: list[Step] = []
    constants: dict[str, npt.NDArray[Any]] = {"last_axis": np.array([1], dtype=np.int64)}
    inputs, codes = [], []
    for a, attribute in enumerate(model.schema.attributes.values()):
        name, here = f"input:{a}", f"read:{a}"
        encoding = attribute.encoding("text")
        assert encoding is not None
        if encoding.listed is not None:
            inputs.append((name, _STRING))
            listed = {"": encoding.missing, **encoding.listed}
            keys = {"keys_strings": list(map(str, listed)), "values_int64s": list(listed.values())}
            options = {**keys, "default_int64": encoding.unknown}
            if encoding.prefix is None:
                steps.append(("LabelEncoder", [name], [f"{here}:code"], options))
            else:
                steps.append(("LabelEncoder", [name], [f"{here}:whole"], options))
                steps += _read_prefix(name, here, encoding)
                constants |= {
                    f"{here}:code:{code}": np.array(code, dtype=np.int64)
                    for code in {encoding.unknown, *encoding.listed.values()}
                }
        else:
            inputs.append((name, _FLOAT64))
            missing = attribute.encoding("number") or encoding
            constants[f"{here}:points"] = encoding.ranges.points.astype(np.float64).reshape(1, -1)
            constants[f"{here}:codes"] = encoding.ranges.codes.astype(np.int64)
            constants[f"{here}:missing"] = np.array(missing.missing, dtype=np.int64)
            steps += [
                ("IsNaN", [name], [f"{here}:nan"], {}),
                ("Unsqueeze", [name, "last_axis"], [f"{here}:column"], {}),
                ("GreaterOrEqual", [f"{here}:column", f"{here}:points"], [f"{here}:above"], {}),
                ("Cast", [f"{here}:above"], [f"{here}:ones"], {"to": _INT64}),
                ("ReduceSum", [f"{here}:ones", "last_axis"], [f"{here}:range"], {"keepdims": 0}),
                ("Gather", [f"{here}:codes", f"{here}:range"], [f"{here}:known"], {}),
                (
                    "Where",
                    [f"{here}:nan", f"{here}:missing", f"{here}:known"],
                    [f"{here}:code"],
                    {},
                ),
            ]
        steps += [
            ("Cast", [f"{here}:code"], [f"{here}:float"], {"to": _FLOAT32}),
            ("Unsqueeze", [f"{here}:float", "last_axis"], [f"{here}:out"], {}),
        ]
        codes.append(f"{here}:out")
    steps.append(("Concat", codes, ["codes"], {"axis": 1}))
    constants["class_labels"] = np.array(model.schema.label.labels, dtype=object)
    return steps, constants, inputs


def _read_prefix(name: str, here: str, encoding: Encoding) -> list[Step]:
    """Look up by its first characters what is not listed as a whole. No operator cuts text, so each
    value that is as long as what is looked at is a pattern.
    """
    assert encoding.listed is not None
    unknown, last = f"{here}:code:{encoding.unknown}", f"{here}:code:{encoding.unknown}"
    steps: list[Step] = []
    begins = [text for text in map(str, encoding.listed) if len(text) == encoding.prefix]
    for number, text in enumerate(begins):
        letters = "".join(rf"\x{{{ord(letter):x}}}" for letter in text)
        found, chosen = f"{here}:begins:{number}", f"{here}:cut:{number}"
        steps += [
            ("RegexFullMatch", [name], [found], {"pattern": f"(?s){letters}.*"}),
            ("Where", [found, f"{here}:code:{encoding.listed[text]}", last], [chosen], {}),
        ]
        last = chosen
    return [
        *steps,
        ("Equal", [f"{here}:whole", unknown], [f"{here}:other"], {}),
        ("Where", [f"{here}:other", last, f"{here}:whole"], [f"{here}:code"], {}),
    ]


def _make_answer_steps(*, by_costs: bool, as_text: bool) -> list[Step]:
    """The class with the smallest expected cost, or the most likely one."""
    index = "class_index" if as_text else "label"
    worth = "worth" if by_costs else "exact"
    return [
        *([("MatMul", ["exact", "savings"], [worth], {})] if by_costs else []),
        ("ArgMax", [worth], [index], {"axis": 1, "keepdims": 0}),
        *([("Gather", ["class_labels", index], ["label"], {})] if as_text else []),
        ("Cast", ["exact"], ["probabilities"], {"to": _FLOAT32}),
    ]
