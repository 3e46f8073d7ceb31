"""For all tests."""

import pytest
from hypothesis import settings

from tests.postgres import own_postgres, postgres  # noqa: F401

pytest.register_assert_rewrite("tests.conformance.check_source", "tests.conformance.check_mechanism", "tests.conformance.check_learner")

# No example of a property is timed: speed lives in bench/.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")
