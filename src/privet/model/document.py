"""A model as one JSON object, and back, with every check between.

An attacker can write a file with a fitting checksum, so nothing in here trusts one: kinds, ranges
and sizes are checked before anything is built from them, and what was built must say exactly what
the document said.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from privet.checks import list_words
from privet.errors import PrivetError, QuestionError
from privet.model import Combine, Model
from privet.model.evidence import evidence_from, evidence_to
from privet.model.from_leaves import trees_from
from privet.model.kinds import infer_kinds_of_0_1
from privet.model.problem import Damaged, require
from privet.model.statement import privacy_from
from privet.model.structure import (
    LARGEST,
    LARGEST_SCORE,
    short_number,
    structure_from,
    structure_to,
    tree_from,
    tree_to,
)
from privet.schema import Schema
from privet.tree import TREE_KINDS

#: Version 2 states the kinds of trees. A model of counts has only one kind: its file is of version
#: 1, which 0.1 reads, too.
VERSIONS = (1, 2)
#: A schema of more attributes, or of more values and bins in all, is not built from a file.
MAX_ATTRIBUTES = 10_000
MAX_DOMAIN = 1 << 22
MAX_TREES = 100_000

_MODEL_KEYS = (
    "privet",
    "version",
    "learner",
    "schema",
    "fingerprint",
    "combine",
    "settings",
    "noise",
    "privacy",
    "trees",
)
_OPTIONAL_MODEL_KEYS = ("leaves", "kinds")


def canonical_json(value: Any) -> bytes:
    """The one compact JSON text of a value. Keys keep their order: that of a schema's attributes
    matters.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
            "utf-8"
        )
    except UnicodeEncodeError:
        raise Damaged("a text in it is no valid Unicode") from None
    except (TypeError, ValueError):
        raise Damaged("it holds something that JSON does not have") from None


def to_document(model: Model) -> dict[str, Any]:
    """The document of a model, without its checksum, in the first version that can say it."""
    document = to_document_of_0_1(model)
    if model.combine != "scores":
        return document
    return {**document, "version": 2, "kinds": [tree.kind for tree in model.trees]}


def to_document_of_0_1(model: Model) -> dict[str, Any]:
    """The document of a model in version 1, which every Privet reads and which does not state the
    kinds of trees.
    """
    fits = all(tree.schema.fingerprint == model.schema.fingerprint for tree in model.trees)
    require(fits, "its trees are about another schema")
    of_trees: dict[str, Any] = (
        {"trees": [tree_to(tree) for tree in model.trees]}
        if model.evidence is None
        else {
            "trees": [structure_to(tree.cells) for tree in model.trees],
            "leaves": evidence_to(model.evidence),
        }
    )
    return {
        "privet": "model",
        "version": 1,
        "learner": model.learner,
        "schema": model.schema.to_json(),
        "fingerprint": model.schema.fingerprint,
        "combine": model.combine,
        "settings": _json_setting(dict(model.settings)),
        "noise": short_number(float(model.noise)),
        "privacy": model.privacy.to_json(),
        **of_trees,
    }


def from_document(document: Mapping[str, Any]) -> Model:
    """The model of a document, or :class:`Damaged`."""
    for key in _MODEL_KEYS:
        require(key in document, f"{key!r} is missing")
    for key in document:
        require(key in _MODEL_KEYS + _OPTIONAL_MODEL_KEYS, f"unknown key {key!r}")
    learner, combine, noise, trees, version = (
        document[key] for key in ("learner", "combine", "noise", "trees", "version")
    )
    require(
        type(version) is int and version in VERSIONS,
        f"version must be {' or '.join(map(str, VERSIONS))}",
    )
    require(
        isinstance(learner, str) and 1 <= len(learner) <= 200,
        "learner must be a name of 1 to 200 characters",
    )
    allowed = list_words(list(map(repr, get_args(Combine))))
    require(combine in get_args(Combine), f"combine must be {allowed}")
    scores = combine == "scores"
    require(
        type(noise) in (int, float) and 0 <= noise <= LARGEST,
        f"noise must be a number from 0 to {LARGEST}",
    )
    require(not (scores and noise), "noise must be 0 where scores are added up")
    schema = schema_from(document["schema"])
    require(
        document["fingerprint"] == schema.fingerprint, "its fingerprint is not that of its schema"
    )
    settings = document["settings"]
    require(
        isinstance(settings, dict) and _is_same_json(_json_setting(settings), settings),
        "settings must be an object",
    )
    require(
        isinstance(trees, list) and 1 <= len(trees) <= MAX_TREES,
        f"trees must be a list of 1 to {MAX_TREES}",
    )
    canonical_json(learner)
    if version == 1:
        require("kinds" not in document, "kinds must not stand in a file of version 1")
    else:
        require(scores, "version 2 is for models that add up scores")
        require("kinds" in document, "'kinds' is missing")
        _check_kinds(document["kinds"], len(trees))
    evidence = None
    if "leaves" in document:
        require(not scores, "scores are no counts, and have no leaf vectors")
        forest = [structure_from(schema, tree, number) for number, tree in enumerate(trees)]
        evidence = evidence_from(document["leaves"], forest)
        require(
            math.isclose(evidence.deviation, noise, rel_tol=1e-9),
            "its noise is not that of its batches",
        )
        grown = trees_from(forest, evidence)
    else:
        grown = tuple(
            tree_from(schema, tree, number, LARGEST_SCORE if scores else LARGEST)
            for number, tree in enumerate(trees)
        )
    if scores:
        kinds = document["kinds"] if version == 2 else infer_kinds_of_0_1(grown)
        grown = tuple(replace(tree, kind=kind) for tree, kind in zip(grown, kinds, strict=True))
    try:
        return Model(
            learner,
            schema,
            grown,
            combine,
            privacy_from(document["privacy"], canonical_json),
            settings,
            float(noise),
            evidence,
        )
    except QuestionError as error:
        raise Damaged(str(error)) from None


def _check_kinds(kinds: Any, n_trees: int) -> None:
    known = ", ".join(map(repr, TREE_KINDS))
    require(
        isinstance(kinds, list)
        and len(kinds) == n_trees
        and all(type(kind) is str and kind in TREE_KINDS for kind in kinds),
        f"kinds must be a list of {n_trees} out of {known}",
    )


def schema_from(data: Any) -> Schema:
    """The schema of a document, or :class:`Damaged`."""
    require(
        isinstance(data, dict) and isinstance(data.get("attributes"), dict),
        "schema must be an object with attributes",
    )
    attributes = data["attributes"]
    require(
        len(attributes) <= MAX_ATTRIBUTES, f"its schema has more than {MAX_ATTRIBUTES} attributes"
    )
    entries = [
        entry
        for attribute in attributes.values()
        if isinstance(attribute, dict)
        for entry in attribute.items()
    ]
    lengths = [
        len(value)
        for key, value in entries
        if key in ("values", "edges") and isinstance(value, list)
    ]
    bins = [value for key, value in entries if key == "bins" and isinstance(value, int)]
    require(sum(lengths) + sum(bins) <= MAX_DOMAIN, f"its schema has more than {MAX_DOMAIN} values")
    try:
        with np.errstate(all="ignore"):  # bounds at the ends of floating point are refused in words
            schema = Schema.from_json(data)
    except PrivetError as error:
        raise Damaged(f"its schema is wrong: {error}") from None
    require(_is_same_json(schema.to_json(), data), "its schema is not as Privet writes it")
    return schema


def _is_same_json(one: Any, other: Any) -> bool:
    """Equal in kind too: true is not 1, and 1 is not 1.0."""
    return canonical_json(one) == canonical_json(other)


def _json_setting(value: Any, depth: int = 0) -> Any:
    """A setting as JSON has it. Infinity and fractions become text: settings are for readers."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, Fraction) or (isinstance(value, float) and not np.isfinite(value)):
        return str(value)
    if value is None or isinstance(value, str | bool | int | float):
        return value
    require(depth < 4, "settings are nested too deeply")
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {key: _json_setting(entry, depth + 1) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_json_setting(entry, depth + 1) for entry in value]
    raise Damaged(
        f"settings may hold text, numbers, truth values and lists, not {type(value).__name__}"
    )
