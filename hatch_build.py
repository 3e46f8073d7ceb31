"""Write the description for package indexes: README.md without links into the repository.

A relative link leads nowhere there. Its words stay, and pictures go.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_PICTURE = re.compile(r"^!\[[^\]]*\]\((?!https?:)[^)]*\)\n+", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((?!https?:)[^)]*\)")


def describe(readme: str) -> str:
    """Return a page whose links all work elsewhere."""
    return _LINK.sub(r"\1", _PICTURE.sub("", readme))


class CustomMetadataHook(MetadataHookInterface):
    """Set the description of the project."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Read README.md."""
        text = (Path(self.root) / "README.md").read_text(encoding="utf-8")
        metadata["readme"] = {"content-type": "text/markdown", "text": describe(text)}
