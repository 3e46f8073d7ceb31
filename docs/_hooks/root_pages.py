"""Show the pages that stand at the root of the project on the site, too."""

from __future__ import annotations

import re
from pathlib import Path

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
PAGES = {
    "CHANGELOG.md": "project/changelog.md",
    "CONTRIBUTING.md": "project/contributing.md",
    "SECURITY.md": "project/security.md",
    "CODE_OF_CONDUCT.md": "project/code-of-conduct.md",
    "ROADMAP.md": "project/roadmap.md",
}


def on_files(files: Files, config: MkDocsConfig) -> Files:
    for name, page in PAGES.items():
        text = move_links((ROOT / name).read_text(encoding="utf-8"))
        files.append(File.generated(config, page, content=text))
    return files


def move_links(text: str) -> str:
    """Return a page of the root with its links as seen from the site's folder for the project."""
    return re.sub(r"\]\((?!https?:|#|mailto:)([^)]+)\)", _move, text)


def _move(link: re.Match[str]) -> str:
    target, _, anchor = link[1].partition("#")
    anchor = f"#{anchor}" if anchor else ""
    if target in PAGES:
        return f"]({Path(PAGES[target]).name}{anchor})"
    if target in ("docs", "README.md"):
        return "](../index.md)"
    if target.startswith("docs/") and (ROOT / target).is_dir():
        return f"](../{target.removeprefix('docs/')}/index.md)"
    if target.startswith("docs/"):
        return f"](../{target.removeprefix('docs/')}{anchor})"
    raise ValueError(f"a page of the root links to {target}, which the site does not show")
