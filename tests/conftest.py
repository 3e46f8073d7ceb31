"""For all tests."""

import pytest

pytest.register_assert_rewrite("tests.conformance.check_source", "tests.conformance.check_mechanism")
