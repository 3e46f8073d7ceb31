"""From a request to a curator's answer: each kind of question, with its bounds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from privet.budget import NOTHING, Cost, exact
from privet.cells import Cells
from privet.curator import Curator
from privet.errors import ParameterError, QuestionError
from privet.ledger.base import add
from privet.model import Model
from privet.model.document import from_document
from privet.model.problem import Damaged
from privet.question import Question
from privet.service import requests
from privet.service.room import Room
from privet.tree import Tree
from privet.wire.answers import answer_to
from privet.wire.questions import (
    Json,
    candidates_from,
    cells_from,
    expected_from,
    question_from,
    score_from,
    space_from,
    trees_from,
)

_DRAWING = Room(2 << 30)  # bytes that all draws under way may need together


def count(curator: Curator, asked: requests.Count) -> Json:
    """Noisy class counts."""
    question = _question(curator, asked)
    return answer_to(curator.count(question, asked.epsilon, rho=asked.rho))


def size(curator: Curator, asked: requests.Size) -> Json:
    """The noisy number of rows."""
    return answer_to(curator.size(asked.epsilon, rho=asked.rho))


def sums(curator: Curator, asked: requests.Sums) -> Json:
    """Noisy sums of a bounded score."""
    cells = _cells(curator, asked.cells)
    score = score_from(curator.schema, asked.by, asked.score)
    _check(Question.of(cells) if asked.by is None else Question.level(cells, [asked.by]))
    return answer_to(curator.sums(cells, score, asked.epsilon, rho=asked.rho))


def choose(curator: Curator, asked: requests.Choose) -> Json:
    """Private selection of splits."""
    cells = _cells(curator, asked.cells)
    candidates = candidates_from([one.model_dump() for one in asked.splits], asked.candidates)
    _check(Question.level(cells, dict.fromkeys(split.attribute for split in asked.splits)), 1 << 23)
    scored = (
        len(cells) * len(asked.splits)
        if asked.candidates is None
        else sum(map(len, asked.candidates))
    )
    if scored > requests.MAX_NUMBERS:
        raise QuestionError(
            f"one request may score {requests.MAX_NUMBERS} candidates over all cells, this one "
            "has "
            f"{scored}; ask in several requests"
        )
    return answer_to(
        curator.choose(cells, candidates, asked.criterion, asked.epsilon, mechanism=asked.mechanism)
    )


def choose_partition(curator: Curator, asked: requests.ChoosePartition) -> Json:
    """Private selection of a partition."""
    question = _question(curator, asked)
    expected = expected_from(question, asked.expected)
    return answer_to(
        curator.choose_partition(
            question, expected, asked.epsilon, handicaps=asked.handicaps, mechanism=asked.mechanism
        )
    )


def quantile(curator: Curator, asked: requests.Quantile) -> Json:
    """Private selection of a bin."""
    return answer_to(
        curator.quantile(asked.attribute, asked.q, asked.epsilon, mechanism=asked.mechanism)
    )


def draw_tree(curator: Curator, asked: requests.DrawTree) -> Json:
    """A whole tree."""
    space, trees = (
        space_from(curator.schema, asked.space.model_dump()),
        _trees(curator, asked.weighting),
    )
    space.check_size()
    with _DRAWING.taken(space.size.bytes):
        return answer_to(curator.draw_tree(space, asked.epsilon, weighting=trees))


def gradients(curator: Curator, asked: requests.Gradients) -> Json:
    """Noisy derivatives of the log-likelihood."""
    cells = _cells(curator, asked.cells)
    _check(Question.of(cells))
    return answer_to(
        curator.gradients(cells, _trees(curator, asked.trees), asked.epsilon, rho=asked.rho)
    )


def confusion(curator: Curator, asked: requests.Confusion) -> Json:
    """The noisy confusion matrix of a model."""
    return answer_to(curator.confusion(_models([asked.model])[0], asked.epsilon, rho=asked.rho))


def choose_model(curator: Curator, asked: requests.ChooseModel) -> Json:
    """Private selection of a model."""
    index, answer = curator.choose_model(_models(asked.models), asked.epsilon)
    return {**answer_to(answer), "index": index}


#: By the last part of its address: what a question may hold, and how it is answered.
QUESTIONS: dict[str, tuple[type[requests.Asked], Callable[[Curator, Any], Json]]] = {
    "count": (requests.Count, count),
    "size": (requests.Size, size),
    "sums": (requests.Sums, sums),
    "choose": (requests.Choose, choose),
    "choose-partition": (requests.ChoosePartition, choose_partition),
    "quantile": (requests.Quantile, quantile),
    "draw-tree": (requests.DrawTree, draw_tree),
    "gradients": (requests.Gradients, gradients),
    "confusion": (requests.Confusion, confusion),
    "choose-model": (requests.ChooseModel, choose_model),
}


def planned(plan: requests.Plan) -> Cost:
    """The cost of a plan, summed as a ledger does: thousands of odd fractions must not choke it."""
    total = NOTHING
    for number, one in enumerate(plan.plan):
        if one.epsilon is None and one.rho is None:
            raise ParameterError(f"plan: give epsilon or rho for question {number}")
        epsilon = None if one.epsilon is None else exact("epsilon", one.epsilon, zero=True)
        if one.rho is not None:
            total = add(total, Cost(epsilon, exact("rho", one.rho, zero=True)))
        elif epsilon is not None:
            total = add(total, Cost(epsilon, epsilon**2 / 2))
    return total


def _plain(cells: requests.Cells) -> Any:
    return cells.model_dump() if isinstance(cells, requests.CellTree) else cells


def _question(curator: Curator, asked: requests.Count | requests.ChoosePartition) -> Question:
    partitions = (
        None if asked.partitions is None else [one.model_dump() for one in asked.partitions]
    )
    question = question_from(curator.schema, [_plain(cells) for cells in asked.cells], partitions)
    _check(question)
    return question


def _cells(curator: Curator, cells: requests.Cells) -> Cells:
    return cells_from(curator.schema, _plain(cells))


def _trees(curator: Curator, trees: Sequence[requests.Tree]) -> list[Tree]:
    if sum(len(tree.attribute) for tree in trees) > requests.MAX_NODES:
        raise QuestionError(f"released trees may have {requests.MAX_NODES} nodes in all")
    built = trees_from(curator.schema, [tree.model_dump() for tree in trees])
    for tree in built:
        _check_depth(tree.cells)
    return built


def _model(document: dict[str, Any]) -> Model:
    document = {key: value for key, value in document.items() if key != "checksum"}
    try:
        return from_document(document)
    except Damaged as damage:
        raise QuestionError(f"the model: {damage}") from None


def _models(documents: Sequence[dict[str, Any]]) -> list[Model]:
    """Models whose trees, all together, are not too much work for each row."""
    models = [_model(document) for document in documents]
    trees = [tree for model in models for tree in model.trees]
    if (
        len(trees) > requests.MAX_TREES
        or sum(len(tree.cells.attribute) for tree in trees) > requests.MAX_NODES
    ):
        raise QuestionError(
            f"the models of one request may have {requests.MAX_TREES} trees and "
            f"{requests.MAX_NODES} nodes in all"
        )
    for tree in trees:
        _check_depth(tree.cells)
    return models


def _check(question: Question, most: int = requests.MAX_NUMBERS) -> None:
    """Raise for a question that is larger than the service answers at once."""
    # cells that cover nothing must be counted, too
    asked = max(question.entries, question.places // 2)
    if asked > most:
        raise QuestionError(
            f"one request may ask for {most} numbers, this one asks for {asked}; ask in "
            "several "
            "requests"
        )
    distinct = {id(partition.cells): partition.cells for partition in question.partitions}
    if sum(len(cells.attribute) for cells in distinct.values()) > requests.MAX_NODES:
        raise QuestionError(f"the cells of one request may have {requests.MAX_NODES} nodes in all")
    for cells in distinct.values():
        _check_depth(cells)


def _check_depth(cells: Cells) -> None:
    """Rows walk down trees: a chain of thousands of tests would take all day."""
    most = max(requests.MAX_DEPTH, len(cells.schema.names))
    depths = [0] * len(cells.attribute)
    for node, parent in enumerate(cells.parents.tolist()):  # children come after their parents
        if parent >= 0:
            depths[node] = depths[parent] + 1
    if max(depths) > most:
        raise QuestionError(f"a tree may have {most} tests on a path, this one has {max(depths)}")
