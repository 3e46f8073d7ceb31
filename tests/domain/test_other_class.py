"""A class for rows whose class is missing or not listed."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from privet.domain import Categorical, Schema
from privet.domain.encode.rows import check_structure, encode, find_problems
from privet.errors import SchemaError, SchemaMismatch

ATTRIBUTES = {"x": Categorical(["a"], other="b")}


def test_every_row_has_a_class() -> None:
    schema = Schema(ATTRIBUTES, "y", ["fraud", "rest"], other_class="rest")
    table = pd.DataFrame({"x": ["a"] * 4, "y": ["fraud", "theft", None, "rest"]})
    classes = encode(schema, table).classes
    assert classes is not None
    assert classes.tolist() == [0, 1, 1, 1]
    assert find_problems(schema, table) == []
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.fingerprint != Schema(ATTRIBUTES, "y", ["fraud", "rest"]).fingerprint


def test_a_column_of_numbers_has_a_class_then() -> None:
    table = pd.DataFrame({"x": ["a", "a"], "y": np.arange(2)})
    check_structure(Schema(ATTRIBUTES, "y", ["fraud", "rest"], other_class="rest"), table)
    with pytest.raises(SchemaMismatch):
        check_structure(Schema(ATTRIBUTES, "y", ["fraud", "rest"]), table)


def test_it_must_be_a_class() -> None:
    with pytest.raises(SchemaError, match="other_class must be one of the classes, got 'else'"):
        Schema(ATTRIBUTES, "y", ["fraud", "rest"], other_class="else")
