"""For all tests."""

import pytest
from hypothesis import HealthCheck, settings

from tests.entropy import REPEATABLE, pytest_fixture_setup, pytest_runtest_protocol  # noqa: F401
from tests.postgres import own_postgres, postgres  # noqa: F401
from tests.temporary import own_temporary_folder  # noqa: F401

pytest.register_assert_rewrite(
    "tests.conformance.check_source",
    "tests.conformance.check_mechanism",
    "tests.conformance.check_learner",
)

# No example of a property is timed, nor how long it takes to make one: speed lives in
# experiments/bench/, and machines are busy.
settings.register_profile(
    "untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=REPEATABLE
)
settings.load_profile("untimed")


@pytest.fixture(autouse=True)
def no_fit_is_remembered():
    """Each test is a process of its own for what remembers the rows that were trained on."""
    import sys

    if remembered := sys.modules.get("privet.learners.remembered"):
        remembered.forget_fits()
