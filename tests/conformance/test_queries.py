"""Every registered query passes the same suite."""

from __future__ import annotations

import pytest

from privet.queries import queries
from tests.conformance.asked import ASKED, EXAMPLES
from tests.conformance.check_query import Case, check_query

CHECKS = [name for name, _ in check_query(Case(lambda schema: None), None)]


@pytest.mark.parametrize("name", queries())
def test_every_query_has_an_example(name):
    assert EXAMPLES.get(name), (
        f"the query {name!r} is registered and has no example: add one to EXAMPLES in "
        "tests/conformance/asked.py, and the whole suite checks it"
    )


@pytest.mark.parametrize("check", CHECKS)
@pytest.mark.parametrize(("name", "example"), ASKED)
def test_query(name, example, check, tmp_path):
    checks = dict(check_query(Case(EXAMPLES[name][example]), tmp_path))
    checks[check]()
