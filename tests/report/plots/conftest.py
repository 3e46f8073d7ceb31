"""Pictures are drawn without a display."""

import pytest

pytest.importorskip("matplotlib")
