"""List all decisions on a page, each time that the site is built."""

from __future__ import annotations

from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

FOLDER = Path(__file__).parents[1] / "decisions"
_TOP = """# Decisions

Choices that a newcomer would question: what was decided, why, and what was tried and not taken.

"""


def on_files(files: Files, config: MkDocsConfig) -> Files:
    files.append(File.generated(config, "decisions/index.md", content=write_page()))
    return files


def write_page() -> str:
    """Return the list of all decisions, in their order."""
    return _TOP + "".join(_link(page) for page in sorted(FOLDER.glob("[0-9]*.md")))


def _link(page: Path) -> str:
    title = page.read_text(encoding="utf-8").partition("\n")[0].lstrip("# ")
    number = page.name.partition("-")[0]
    said = title.removeprefix(number).lstrip(": ")
    return f"- {number} [{said[0].upper()}{said[1:]}]({page.name})\n"
