"""Read the references of docstrings, such as :class:`~privet.curator.Owner`, as links.

A reference to what has no entry of its own on the site stays text.
"""

from __future__ import annotations

import re
from typing import Any

import griffe

_ROLE = re.compile(r":(?:mod|func|class|data|meth|attr|exc):`(~?)([\w.]+)`")


class Roles(griffe.Extension):
    """Turn the references of every docstring into optional links."""

    def on_object(self, *, obj: griffe.Object, **_: Any) -> None:
        if obj.docstring is not None:
            obj.docstring.value = _ROLE.sub(_link, obj.docstring.value)


def _link(role: re.Match[str]) -> str:
    path = role[2]
    shown = path.rpartition(".")[2] if role[1] else path
    target = path if path.startswith("privet.") else f"privet.{path}"
    return f'<autoref identifier="{target}" optional><code>{shown}</code></autoref>'
