"""``python -m tests.fuzz``: see the package."""

from __future__ import annotations

from tests.fuzz.command import main

if __name__ == "__main__":
    main()
