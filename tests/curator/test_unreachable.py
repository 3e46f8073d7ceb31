"""Nothing is charged for a table that cannot be reached, however often somebody asks."""

from __future__ import annotations

import pandas as pd
import pytest

from privet.budget import Budget
from privet.cells import Cells, Split
from privet.curator import Curator
from privet.errors import TableError
from privet.schema import Categorical, Numeric, Schema

SCHEMA = Schema({"colour": Categorical(["red", "green"]), "age": Numeric(0, 80, bins=4)}, "ill", ["no", "yes"])
QUESTIONS = {
    "count": lambda curator: curator.count(Cells.everything(SCHEMA), "1/10"),
    "size": lambda curator: curator.size("1/10"),
    "choose": lambda curator: curator.choose(Cells.everything(SCHEMA), [Split.multiway(SCHEMA, "colour")], "gini", "1/10"),
    "quantile": lambda curator: curator.median("age", "1/10"),
    "share": lambda curator: curator.share(Cells.everything(SCHEMA), "1/10", parties=2),
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=list(QUESTIONS))
def test_a_file_that_is_gone(tmp_path, question):
    path = tmp_path / "people.csv"
    frame = pd.DataFrame({"colour": ["red", "green"] * 20, "age": [10.0, 50.0] * 20, "ill": ["no", "yes"] * 20})
    frame.to_csv(path, index=False)
    curator = Curator(path, SCHEMA, Budget(1))
    path.rename(tmp_path / "away.csv")
    for _ in range(3):
        with pytest.raises(TableError, match="gone"):
            question(curator)
    assert curator.ledger.entries() == []
    (tmp_path / "away.csv").rename(path)
    question(curator)
    assert curator.left == Budget("9/10").amount
