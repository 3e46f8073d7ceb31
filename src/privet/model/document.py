"""Turn a model into one JSON object and back, with every check between.

An attacker can write a file with a fitting checksum, so nothing in here trusts one: kinds, ranges
and sizes are checked before anything is built from them, and what was built must say exactly what
the document said. In the privacy statement, amounts are exact fractions of bounded size. Leaf
vectors are written batch by batch, as they were released; the counts of the trees follow from them.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import Any, get_args

import numpy as np

from privet._types import Floats
from privet._validate import list_words
from privet.accounting.statement import MAX_DENOMINATOR_BITS, MAX_RELEASES, PrivacyStatement
from privet.domain import Schema
from privet.domain.cells import Cells
from privet.domain.tree import TREE_KINDS
from privet.errors import ParameterError, PrivetError, QuestionError
from privet.model.leaf_vectors import MAX_SHRINK, Batch, Evidence, Weighting, trees_from
from privet.model.model import Combine, Model
from privet.model.population import Population
from privet.model.structure import (
    LARGEST,
    LARGEST_SCORE,
    Damaged,
    counts_from,
    infer_kinds_of_0_1,
    require,
    short_number,
    structure_from,
    structure_to,
    tree_from,
    tree_to,
)

#: Version 2 states the kinds of trees. A model of counts has only one kind: its file is of version
#: 1, which 0.1 reads, too. Version 3 has costs or a population besides; a model without either is
#: written as before.
VERSIONS = (1, 2, 3)
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
_OPTIONAL_MODEL_KEYS = ("leaves", "kinds", "costs", "population")


def to_document(model: Model) -> dict[str, Any]:
    """Return the document of a model, without its checksum.

    It has the first version that can say everything.
    """
    document = to_document_of_0_1(model)
    if model.combine == "scores":
        document |= {"version": 2, "kinds": [tree.kind for tree in model.trees]}
    if model.costs is not None:
        document |= {"version": 3, "costs": _costs_to(model.costs)}
    if model.population is not None:
        document |= {"version": 3, "population": population_to(model.population)}
    return document


def to_document_of_predictions(model: Model) -> dict[str, Any]:
    """Return a document that predicts and decides as the model does.

    It has the first version that can say so: 1 unless there are costs. It leaves out what changes
    no prediction, the kinds of trees and the population, so that a service of 0.1 reads it.
    """
    if model.costs is None:
        return to_document_of_0_1(model)
    return to_document(replace(model, population=None))


def to_document_of_0_1(model: Model) -> dict[str, Any]:
    """Return the document of a model in version 1, which every Privet reads.

    It does not state the kinds of trees, costs or the population.
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
    """Return the model of a document, or raise :class:`Damaged`."""
    for key in _MODEL_KEYS:
        require(key in document, f"{key!r} is missing")
    for key in document:
        require(key in _MODEL_KEYS + _OPTIONAL_MODEL_KEYS, f"unknown key {key!r}")
    learner, combine, noise, trees, version = (
        document[key] for key in ("learner", "combine", "noise", "trees", "version")
    )
    require(
        type(version) is int and version in VERSIONS,
        f"version must be {list_words(list(map(str, VERSIONS)))}",
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
    for key, first in (("kinds", 2), ("costs", 3), ("population", 3)):
        require(
            version >= first or key not in document,
            f"{key} must not stand in a file of version {version}",
        )
    if scores and version > 1:
        require("kinds" in document, "'kinds' is missing")
        _check_kinds(document["kinds"], len(trees))
    else:
        require(version != 2, "version 2 is for models that add up scores")
        require("kinds" not in document, "kinds are for models that add up scores")
    require(
        version < 3 or "costs" in document or "population" in document,
        "version 3 is for models with costs or a population",
    )
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
        kinds = document["kinds"] if version > 1 else infer_kinds_of_0_1(grown)
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
            _costs_from(document["costs"]) if "costs" in document else None,
            population_from(document["population"]) if "population" in document else None,
        )
    except (ParameterError, QuestionError) as error:
        raise Damaged(str(error)) from None


def schema_from(data: Any) -> Schema:
    """Return the schema of a document, or raise :class:`Damaged`."""
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
    # a negative number, which is refused later, must not make room for others
    bins = [abs(value) for key, value in entries if key == "bins" and isinstance(value, int)]
    require(sum(lengths) + sum(bins) <= MAX_DOMAIN, f"its schema has more than {MAX_DOMAIN} values")
    try:
        with np.errstate(all="ignore"):  # bounds at the ends of floating point are refused in words
            schema = Schema.from_json(data)
    except PrivetError as error:
        raise Damaged(f"its schema is wrong: {error}") from None
    require(_is_same_json(schema.to_json(), data), "its schema is not as Privet writes it")
    return schema


def canonical_json(value: Any) -> bytes:
    """Return the one compact JSON text of a value.

    Keys keep their order: that of a schema's attributes matters.
    """
    try:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode(
            "utf-8"
        )
    except UnicodeEncodeError:
        raise Damaged("a text in it is no valid Unicode") from None
    except (TypeError, ValueError):
        raise Damaged("it holds something that JSON does not have") from None


def _check_kinds(kinds: Any, n_trees: int) -> None:
    known = ", ".join(map(repr, TREE_KINDS))
    require(
        isinstance(kinds, list)
        and len(kinds) == n_trees
        and all(type(kind) is str and kind in TREE_KINDS for kind in kinds),
        f"kinds must be a list of {n_trees} out of {known}",
    )


def _is_same_json(one: Any, other: Any) -> bool:
    """Return whether two values are equal in kind, too: true is not 1, and 1 is not 1.0."""
    return canonical_json(one) == canonical_json(other)


def _json_setting(value: Any, depth: int = 0) -> Any:
    """Return a setting as JSON has it.

    Infinity and fractions become text: settings are for readers.
    """
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


# -- costs and the population --


def _costs_to(costs: Floats) -> list[list[float]]:
    return [[short_number(cost) for cost in line] for line in costs.tolist()]


def _costs_from(data: Any) -> Floats:
    require(
        isinstance(data, list) and all(map(_is_list_of_numbers, data)),
        "costs must be a list with a list of numbers for each class",
    )
    require(len({len(line) for line in data}) == 1, "costs must be a square")
    return np.array(data, dtype=np.float64)


def population_to(population: Population) -> dict[str, Any]:
    """Return a population as JSON: for each attribute, the share of each of its values."""
    return {
        "deviation": short_number(float(population.deviation)),
        "shares": {
            name: [short_number(share) for share in shares.tolist()]
            for name, shares in population.shares.items()
        },
    }


def population_from(data: Any) -> Population:
    """Return the population of an entry, or raise :class:`Damaged`."""
    require(
        isinstance(data, dict) and set(data) == {"deviation", "shares"},
        "population must have exactly deviation, shares",
    )
    deviation, shares = data["deviation"], data["shares"]
    require(
        type(deviation) in (int, float) and 0 <= deviation <= LARGEST,
        f"the deviation of a population must be a number from 0 to {LARGEST}",
    )
    require(
        isinstance(shares, dict) and all(map(_is_list_of_numbers, shares.values())),
        "the shares of a population must be lists of numbers by attribute",
    )
    return Population(
        {name: np.array(each, dtype=np.float64) for name, each in shares.items()}, float(deviation)
    )


def _is_list_of_numbers(data: Any) -> bool:
    return isinstance(data, list) and all(
        type(entry) in (int, float) and abs(entry) <= LARGEST for entry in data
    )


# -- the privacy statement --

MAX_CHARGES = 10_000
#: A model made from more tables is not read.
MAX_PARTS = 2 * MAX_RELEASES
MAX_ROWS_PER_PERSON = 10**9
#: What is promised must be a number that a reader can be shown.
MAX_EPSILON = 10**15
MAX_RHO_ALONE = 10**4
SMALLEST_DELTA = Fraction(1, 10**100)

_FRACTION = re.compile(r"[0-9]{1,600}(/[1-9][0-9]{0,599})?")


def privacy_from(data: Any, canonical: Callable[[Any], bytes]) -> PrivacyStatement:
    """Return the statement that stands in a document, or raise :class:`Damaged`."""
    common = 1
    for amount in _list_amounts(data):
        if amount is not None:
            require(
                isinstance(amount, str) and _FRACTION.fullmatch(amount) is not None,
                "an amount of privacy is no fraction",
            )
            common = math.lcm(common, Fraction(amount).denominator)
            require(
                common.bit_length() <= MAX_DENOMINATOR_BITS,
                "the amounts of privacy have too many digits",
            )
    try:
        statement = PrivacyStatement.from_json(data)
    except PrivetError as error:
        raise Damaged(str(error)) from None
    require(
        canonical(statement.to_json()) == canonical(data),
        "its privacy statement is not as Privet writes it",
    )
    for part in (statement, *statement.leaves):
        _check_range(part)
    return statement


def _list_amounts(data: Any) -> list[Any]:
    """Return all amounts of a statement and of its parts, checked for kind and number only."""
    amounts: list[Any] = []
    n_charges, n_parts, open_ = 0, 0, [data]
    while open_:
        statement = open_.pop()
        require(
            isinstance(statement, dict) and isinstance(statement.get("charges"), list),
            "privacy must be an object with charges",
        )
        charges, parts = statement["charges"], statement.get("parts", [])
        n_parts += len(parts) if isinstance(parts, list) else MAX_PARTS + 1
        require(n_parts <= MAX_PARTS, f"privacy has more than {MAX_PARTS} parts")
        n_charges += len(charges)
        require(n_charges <= MAX_CHARGES, f"privacy lists more than {MAX_CHARGES} charges")
        require(all(isinstance(charge, dict) for charge in charges), "a charge must be an object")
        rows = statement.get("rows_per_person")
        require(
            type(rows) is int and 1 <= rows <= MAX_ROWS_PER_PERSON,
            "rows_per_person is out of range",
        )
        amounts += [charge.get(unit) for charge in charges for unit in ("epsilon", "rho")] + [
            statement.get("delta")
        ]
        open_ += parts
    return amounts


def _check_range(statement: PrivacyStatement) -> None:
    promised = statement.promised
    in_range = (
        promised.rho <= MAX_RHO_ALONE
        if promised.epsilon is None
        else promised.epsilon <= MAX_EPSILON
    )
    # The rho of a pure epsilon is at most its square; a file may say anything.
    require(
        in_range and promised.rho <= MAX_EPSILON**2,
        "what its privacy statement promises is out of range",
    )
    require(
        statement.delta is None or SMALLEST_DELTA <= statement.delta < 1, "delta is out of range"
    )


# -- leaf vectors --

#: All rows count once on average, so that a batch among noisier ones may count more than once.
MAX_WEIGHT = 1000

_EVIDENCE_KEYS = {"shrink", "borrowing", "weighting", "weights", "batches"}
_BATCH_KEYS = {"deviation", "counts"}


def evidence_to(evidence: Evidence) -> dict[str, Any]:
    """Return leaf vectors as JSON: per batch and tree, a list of class counts for each leaf."""
    return {
        "shrink": short_number(float(evidence.shrink)),
        "borrowing": short_number(float(evidence.borrowing)),
        "weighting": evidence.weighting,
        "weights": [short_number(float(weight)) for weight in evidence.weights],
        "batches": [
            {
                "deviation": short_number(float(batch.deviation)),
                "counts": [table.tolist() for table in batch.tables],
            }
            for batch in evidence.batches
        ],
    }


def evidence_from(data: Any, forest: list[Cells]) -> Evidence:
    """Return the leaf vectors of an entry, or raise :class:`~privet.model.structure.Damaged`."""
    require(
        isinstance(data, dict) and set(data) == _EVIDENCE_KEYS,
        f"leaves must have exactly {', '.join(sorted(_EVIDENCE_KEYS))}",
    )
    weighting, weights, batches = data["weighting"], data["weights"], data["batches"]
    for key in ("shrink", "borrowing"):
        require(
            type(data[key]) in (int, float) and 0 <= data[key] < 10 * MAX_SHRINK,
            f"{key} must be a number of at least 0",
        )
    require(data["shrink"] < MAX_SHRINK, f"shrink must be below {MAX_SHRINK}")
    require(weighting in get_args(Weighting), "weighting must be 'by-noise' or 'equal'")
    require(
        isinstance(batches, list) and 1 <= len(batches) <= MAX_RELEASES,
        f"batches must be a list of 1 to {MAX_RELEASES}",
    )
    require(
        isinstance(weights, list) and len(weights) == len(batches),
        "there must be one weight per batch",
    )
    in_range = all(type(weight) in (int, float) and 0 <= weight <= MAX_WEIGHT for weight in weights)
    require(
        in_range and any(weights), f"weights must lie between 0 and {MAX_WEIGHT}, and not all be 0"
    )
    read = tuple(_batch_from(batch, forest) for batch in batches)
    return Evidence(
        read, float(data["shrink"]), weighting, tuple(map(float, weights)), float(data["borrowing"])
    )


def _batch_from(data: Any, forest: list[Cells]) -> Batch:
    require(
        isinstance(data, dict) and set(data) == _BATCH_KEYS,
        f"a batch must have exactly {', '.join(sorted(_BATCH_KEYS))}",
    )
    deviation, counts = data["deviation"], data["counts"]
    require(
        type(deviation) in (int, float) and 0 <= deviation <= LARGEST,
        f"deviation must be a number from 0 to {LARGEST}",
    )
    require(
        isinstance(counts, list) and len(counts) == len(forest),
        f"a batch must have counts of {len(forest)} trees",
    )
    tables = [
        counts_from(lines, len(cells), cells.schema.n_classes)
        for lines, cells in zip(counts, forest, strict=True)
    ]
    return Batch(tuple(tables), float(deviation))
