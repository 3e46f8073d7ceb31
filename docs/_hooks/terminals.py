"""Show whose terminal a block of a walk-through belongs to.

Tests read the words behind the language of a block: who types it, and whether it is refused. The
site shows the first as the block's title.
"""

from __future__ import annotations

import re
from typing import Any

_FENCE = re.compile(r"^```(\w+) ([\w ]+)$", flags=re.MULTILINE)
#: Words for the tests alone.
_UNSEEN = {"refused", "serve", "stop", "upgrade"}


def on_page_markdown(markdown: str, **_: Any) -> str:
    return _FENCE.sub(_name_terminal, markdown)


def _name_terminal(fence: re.Match[str]) -> str:
    who = [word for word in fence[2].split() if word not in _UNSEEN]
    return f'```{fence[1]} title="{who[0]}"' if who else f"```{fence[1]}"
