"""For the suites of contracts."""

import pytest

pytest.register_assert_rewrite("tests.conformance.check_query")
