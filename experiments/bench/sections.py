"""Sections of a page that scripts write: each script replaces its own, and leaves the others."""

from __future__ import annotations

import re
from pathlib import Path


def put_section(page: Path, heading: str, text: str) -> None:
    """Write the section with this heading anew, or at the end of the page where there is none."""
    section = f"## {heading}\n\n{text.strip()}\n"
    before = page.read_text(encoding="utf-8")
    written, found = re.subn(
        rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)",
        lambda _: f"{section}\n",
        before,
        flags=re.M | re.S,
    )
    if not found:
        written = f"{before.rstrip()}\n\n{section}"
    page.write_text(f"{written.rstrip()}\n", encoding="utf-8")


def read_section(page: Path, heading: str) -> str:
    """Return this section of a page, to keep it when the rest is written anew."""
    text = page.read_text(encoding="utf-8") if page.exists() else ""
    found = re.search(rf"^## {re.escape(heading)}\n.*?(?=^## |\Z)", text, flags=re.M | re.S)
    return "" if found is None else found[0]
