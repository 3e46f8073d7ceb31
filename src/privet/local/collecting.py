"""Collect reports: correct them for the randomisation, and learn from them.

Everything here is post-processing, and costs nothing.
"""

from __future__ import annotations

import hashlib
import math
from typing import Any

import numpy as np
import numpy.typing as npt

from privet.curator.spending import state_randomised
from privet.domain.encode.rows import encode
from privet.domain.encode.values import match, plain_value_of
from privet.errors import ParameterError, TableError
from privet.learners.random_trees.batches import make_batch_model
from privet.local.counts import Response, round_counts
from privet.local.curator import LocalCurator
from privet.local.leaf_randomizer import COLUMNS, LeafRandomizer
from privet.local.randomizer import Randomizer
from privet.local.reports import Group, SampledReports, SplitReports
from privet.mechanisms.response import response_probabilities
from privet.model import Model
from privet.model.leaf_vectors import Batch

SEEDED = "a test seed was used"


def local_curator(reports: Any, randomizer: Randomizer) -> LocalCurator:
    """Make a curator of the reports that a randomizer made.

    They are a data frame (or a mapping of columns), in any order.

    Learners train through it:
    ``pv.GreedyTreeClassifier().fit_from(pv.publish.local_curator(reports, randomizer))``. It
    charges nothing.
    """
    if not isinstance(randomizer, Randomizer):
        raise ParameterError(
            f"randomizer must be a Randomizer, got {type(randomizer).__name__}; leaves are "
            "collected by collect_leaves"
        )
    schema = randomizer.schema
    codes, classes, given = _codes_of_reports(reports, randomizer)
    source: SplitReports | SampledReports
    if randomizer.spread == "split":
        *shares, of_class = randomizer.shares
        responses = [
            _make_response(size, share) for size, share in zip(schema.sizes, shares, strict=True)
        ]
        source = SplitReports(codes, classes, responses, _make_response(schema.n_classes, of_class))
    else:
        source = _make_sampled_reports(codes, classes, given, randomizer)
    return LocalCurator(
        source, schema, randomizer.cost, reason="" if randomizer.bits.private else SEEDED
    )


def collect_leaves(reports: Any, randomizer: LeafRandomizer, name: str = "") -> Model:
    """Make a model of all reports about the leaves of a plan.

    It is like a party's contribution: it can be merged, saved and shown.

    With m reports about a tree of K pairs of a leaf and a class, the count of a pair is (reports -
    m q) / (p - q): without bias, and with a variance of about m q (1 - q) / (p - q)^2. It is
    rounded to a whole number.
    """
    if not isinstance(randomizer, LeafRandomizer):
        raise ParameterError(
            f"randomizer must be a LeafRandomizer, got {type(randomizer).__name__}"
        )
    plan, n_classes = randomizer.plan, randomizer.schema.n_classes
    tree, leaf, label = _parse_leaf_reports(reports, randomizer)
    tables, variances = [], []
    for number, cells in enumerate(plan.forest):
        mine = tree == number
        response = _make_response(randomizer.points(number), randomizer.epsilon)
        yes, no = response.weights(1)
        said = np.bincount((leaf * n_classes + label)[mine], minlength=response.size).reshape(
            len(cells), n_classes
        )
        m = int(mine.sum())
        tables.append(round_counts(said * yes + (m - said) * no))
        variances.append(m * response.other * (1 - response.other) * (yes - no) ** 2)
    reasons = [] if randomizer.bits.private else [SEEDED]
    reasons += ["the schema was read off the data"] if randomizer.schema.from_data else []
    statement = state_randomised(
        randomizer.schema,
        randomizer.cost,
        reasons,
        name=name,
        account=hashlib.sha256(np.vstack([tree, leaf, label]).tobytes()).hexdigest(),
    )
    batch = Batch(tuple(tables), math.sqrt(sum(variances) / len(variances)))
    return make_batch_model(
        plan, batch, statement, randomizer.schema.declare(n_rows=len(tree), neighbours="replace")
    )


def _make_response(size: int, epsilon: Any) -> Response:
    return Response(size, *response_probabilities(size, epsilon))


def _codes_of_reports(
    reports: Any, randomizer: Randomizer
) -> tuple[npt.NDArray[Any], npt.NDArray[Any], npt.NDArray[np.bool_]]:
    """The codes of all reports, one line per attribute; their classes; and which attributes each
    tells about.
    """
    import pandas as pd

    schema = randomizer.schema.declare(person=None)
    frame = pd.DataFrame(reports)
    # Reports have a column for each attribute, whatever column its device read.
    frame = frame[[name for name in randomizer.columns if name in frame]]
    encoded = encode(schema, frame)
    assert encoded.classes is not None
    given = np.array([frame[name].notna().to_numpy(dtype=bool) for name in schema.names]).reshape(
        len(schema.names), len(frame)
    )
    wanted = len(schema.names) if randomizer.spread == "split" else randomizer.together
    _refuse(given.sum(axis=0) != wanted, f"must tell about exactly {wanted} attribute(s)")
    for name, line, told, size in zip(
        schema.names, encoded.codes, given, schema.sizes, strict=True
    ):
        _refuse(told & (line >= size), f"has a value of {name!r} that is not in the schema")
    _refuse(
        (encoded.classes >= schema.n_classes) | frame[schema.target].isna().to_numpy(dtype=bool),
        f"has a {schema.target!r} that is no class",
    )
    return np.array(encoded.codes), encoded.classes, given


def _make_sampled_reports(
    codes: npt.NDArray[Any],
    classes: npt.NDArray[Any],
    given: npt.NDArray[np.bool_],
    randomizer: Randomizer,
) -> SampledReports:
    # each line: the attributes of a report, in order
    names = given.T.nonzero()[1].reshape(-1, randomizer.together)
    drawn, which = np.unique(names, axis=0, return_inverse=True)
    groups = {}
    for number, line in enumerate(drawn.tolist()):
        attributes, places = tuple(line), np.flatnonzero(which.reshape(-1) == number)
        response = _make_response(randomizer.points(attributes), randomizer.epsilon)
        groups[attributes] = Group(
            attributes, codes[line][:, places], classes[places].astype(np.int64), response, places
        )
    return SampledReports(randomizer.schema, groups, randomizer.together, len(classes))


def _parse_leaf_reports(
    reports: Any, randomizer: LeafRandomizer
) -> tuple[npt.NDArray[np.int64], ...]:
    """Tree, leaf and class of each report, all numbered from 0."""
    import pandas as pd

    frame = pd.DataFrame(reports)
    if absent := [name for name in COLUMNS if name not in frame]:
        raise TableError(
            f"the reports have no column {absent[0]!r}; they must have {', '.join(COLUMNS)}"
        )
    numbers = [
        pd.to_numeric(frame[name], errors="coerce").to_numpy(dtype=np.float64)
        for name in ("tree", "leaf")
    ]
    forest = randomizer.plan.forest
    fits = np.isin(numbers[0], np.arange(1, len(forest) + 1))
    _refuse(~fits, f"has a tree that is no number from 1 to {len(forest)}")
    tree = numbers[0].astype(np.int64) - 1
    n_leaves = np.array([len(cells) for cells in forest])[tree]
    _refuse(
        ~((numbers[1] >= 1) & (numbers[1] <= n_leaves) & (numbers[1] % 1 == 0)),
        "has a leaf that its tree does not have",
    )
    label = randomizer.schema.label.encoding("text")
    assert label is not None
    found = [match(label, plain_value_of(value)) for value in frame["class"]]
    codes = np.array([-1 if code is None else code for code in found], dtype=np.int64)
    _refuse(codes < 0, "has a class that is not in the schema")
    return tree, numbers[1].astype(np.int64) - 1, codes


def _refuse(bad: npt.NDArray[np.bool_], what: str) -> None:
    """Reports are public, so that a bad one may be shown."""
    if bad.any():
        raise TableError(
            f"report {int(np.flatnonzero(bad)[0]) + 1} {what}; {int(bad.sum())} of {len(bad)} are "
            "like this"
        )
