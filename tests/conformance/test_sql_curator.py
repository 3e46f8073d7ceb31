"""The suite of queries for the curator over SQL: each is answered as in process, or refused before
anything is charged.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from privet.accounting.cost import Budget, Cost
from privet.accounting.ledger import verify
from privet.client.sql.curator import connect_to_database
from privet.curator import Curator
from privet.curator.resumed import ResumableCurator, Unfinished
from privet.errors import BudgetExceeded, PrivacyError, QuestionError
from tests.conformance.asked import EXAMPLES, FOR_ANALYSTS, ROWS, SCHEMA, seeded
from tests.conformance.check_query import EPSILON, Case, refusals
from tests.postgres import put_table
from tests.service.sql.conftest import as_role, new_dataset, place_on

psycopg = pytest.importorskip("psycopg", reason="needs pip install 'privet[postgres]'")

#: So much that noise is all zeros, with a probability beyond any doubt, also where the functions
#: share it.
CLEAR = 2000
#: What SQL does not answer, and why.
REFUSED = {
    "choose-model": "it walks down models, whose scores add up",
    "choose-partition": "its scores are not implemented in SQL",
    "confusion": "it walks down models, whose scores add up",
    "draw-tree": "the sampler of trees is compiled",
    "gradients": "they are of scores that add up",
    "quantiles": "its cuts follow from one another by the exponential mechanism",
    "scores": "it walks down models, whose scores add up",
}


def table_of_rows():
    columns = {
        name: [attribute.labels[row[number]] for row in ROWS]
        for number, (name, attribute) in enumerate(SCHEMA.attributes.items())
    }
    columns["age"] = [None if row[1] == 4 else 20.0 * row[1] + 1 for row in ROWS]
    columns["ill"] = [SCHEMA.classes[row[-1]] for row in ROWS]
    return pd.DataFrame(columns)


@pytest.fixture(scope="module")
def place(postgres):
    place = place_on(postgres)
    put_table(place.url, table_of_rows(), "patients")
    (owner,) = place.sql("SELECT nspowner::regrole FROM pg_namespace WHERE nspname = 'privet'")[0]
    place.sql(f"GRANT SELECT ON patients TO {owner}")
    yield place
    place.ledger.close()


@pytest.fixture
def asked(place):
    """A data set, and a curator of it for an analyst who may call functions only."""
    dataset = new_dataset(place, Budget(10**6), "patients", SCHEMA)
    place.functions.allow(dataset, f"ada of {dataset}")
    role = place.role(f"ada of {dataset}")
    with connect_to_database(as_role(place.url, role), dataset) as curator:
        yield curator


@pytest.fixture
def local():
    return Curator(table_of_rows(), SCHEMA, Budget(10**6), bits=seeded(7))


def is_refused(name, query):
    """Whether SQL cannot answer it; of choices, those by logarithms and by sums of powers."""
    return (
        name in REFUSED
        or getattr(query, "mechanism", "permute-and-flip") == "exponential"
        or getattr(query, "criterion", "gini") == "info_gain"
    )


@pytest.mark.parametrize(("name", "example"), FOR_ANALYSTS)
def test_a_query_is_answered_as_in_process_or_refused_uncharged(place, asked, local, name, example):
    query = EXAMPLES[name][example](SCHEMA)
    if is_refused(name, query):
        with pytest.raises(QuestionError, match="over SQL, train one of random-trees"):
            asked.ask(query, EPSILON)
        assert place.ledger.entries(asked.dataset) == []
        return
    here, there = local.ask(query, CLEAR), asked.ask(query, CLEAR)
    assert type(there) is type(here)
    told, said = here.to_json(), there.to_json()
    for answer in (told, said):  # the schema was not read off the data, and the seed was
        answer.pop("private")
        answer.pop("entry")
    assert said == told
    assert there.private
    (entry,) = place.ledger.entries(asked.dataset)
    assert entry.cost == Cost.pure(CLEAR).promised(SCHEMA)
    assert verify(place.ledger) == []


@pytest.mark.parametrize(("name", "example"), FOR_ANALYSTS)
def test_the_same_key_pays_once(place, asked, name, example):
    query = EXAMPLES[name][example](SCHEMA)
    if is_refused(name, query):
        pytest.skip(REFUSED.get(name, "logarithms and sums of powers are not exact in SQL"))
    first = asked.ask_once("a key", query, EPSILON)
    assert asked.ask_once("a key", query, EPSILON).to_json() == first.to_json()
    assert len(place.ledger.entries(asked.dataset)) == 1


@pytest.mark.parametrize(("name", "example"), FOR_ANALYSTS)
def test_what_is_refused_is_refused_in_the_same_words(place, asked, local, name, example):
    for what, query, price, error in refusals(Case(EXAMPLES[name][example])):
        if error in (BudgetExceeded, PrivacyError):
            continue  # only whoever has the ledger can tell
        told = []
        for curator in (local, asked):
            with pytest.raises(error) as refused:
                curator.ask(query, **price)
            told.append((type(refused.value), str(refused.value)))
        assert told[0] == told[1], what
    assert place.ledger.entries(asked.dataset) == []


def test_every_refused_query_is_one():
    assert set(REFUSED) <= {name for name, _ in FOR_ANALYSTS}


def test_an_interrupted_fit_gets_its_answers_again(place, asked, tmp_path):
    from privet import RandomTreesClassifier

    def fit():
        unfinished = Unfinished.begin(tmp_path / "fit", asked, "a fit")
        model = RandomTreesClassifier(epsilon=1, n_trees=3)
        return model.fit_from(ResumableCurator(asked, unfinished)).model_

    first = fit()
    spent = place.ledger.spent(asked.dataset)
    assert spent.epsilon == 1
    again = fit()
    for tree, same in zip(first.trees, again.trees, strict=True):
        assert np.array_equal(tree.counts, same.counts)
    assert place.ledger.spent(asked.dataset) == spent
