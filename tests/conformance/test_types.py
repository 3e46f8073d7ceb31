"""Every source encodes every type of column alike, whatever type it stores the entries as."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from privet.domain.attributes import TYPES
from privet.domain.cells import Cells
from privet.domain.draft import draft
from privet.domain.questions import Question
from tests.conformance.test_sources import PLACES, SLOW
from tests.conformance.typed import (
    COLUMNS,
    EXAMPLES,
    N_ROWS,
    TARGET,
    TOGETHER,
    count_by_hand,
    find_problems_by_hand,
    schema_of,
    typed_frame,
)

SOURCES = [pytest.param(name, marks=SLOW if "spark" in name else []) for name in PLACES]
#: Those whose rows can be read back.
READABLE = [name for name in PLACES if "spark" not in name]


@pytest.fixture(scope="module")
def opened(tmp_path_factory):
    """Open the table of all types in a source, once."""

    @cache
    def place(source: str):
        folder: Path = tmp_path_factory.mktemp("typed")
        return PLACES[source](typed_frame(), folder)

    return place


def count(table, schema):
    return table.source(schema).count(Question.level(Cells.everything(schema), schema.names))


def test_every_type_has_examples():
    assert set(EXAMPLES) == set(TYPES)
    for name, attributes in EXAMPLES.items():
        assert {type(attribute) for attribute in attributes} == {TYPES[name]}
        assert {attribute.column for attribute in attributes} <= set(COLUMNS)


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize("source", SOURCES)
def test_a_source_encodes_a_type(source, kind, opened):
    table, total = opened(source), 0
    for attribute in EXAMPLES[kind]:
        schema = schema_of(attribute)
        table.check_structure(schema)
        (answer,) = count(table, schema)
        (truth,) = count_by_hand(schema)
        np.testing.assert_array_equal(answer, truth, err_msg=repr(attribute))
        total += truth.sum()
    assert total > N_ROWS


@pytest.mark.parametrize("kind", EXAMPLES)
@pytest.mark.parametrize("source", SOURCES)
def test_a_source_finds_the_problems_of_a_type(source, kind, opened):
    table = opened(source)
    for attribute in EXAMPLES[kind]:
        found = table.problems(schema_of(attribute))
        assert len(found) == len(set(found))
        assert set(found) == find_problems_by_hand(schema_of(attribute)), attribute


@pytest.mark.parametrize("source", SOURCES)
def test_several_attributes_read_one_column(source, opened):
    table = opened(source)
    for answer, truth in zip(count(table, TOGETHER), count_by_hand(TOGETHER), strict=True):
        np.testing.assert_array_equal(answer, truth)
    assert set(table.problems(TOGETHER)) == find_problems_by_hand(TOGETHER)


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("drafted_from", READABLE)
def test_a_draft_of_one_source_keeps_every_row_of_another(drafted_from, source, opened):
    sample = pd.concat(opened(drafted_from).read_blocks(1 << 12), ignore_index=True)
    schema = draft(sample, TARGET)
    assert set(schema.attributes) == set(COLUMNS)
    for name, attribute in schema.attributes.items():  # one by one, to name the culprit
        alone = type(schema)({name: attribute}, TARGET, schema.classes)
        (answer,) = count(opened(source), alone)
        assert answer.sum() == N_ROWS, (name, attribute)
    assert opened(source).problems(schema) == []
