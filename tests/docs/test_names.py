"""Pages name modules, functions and files that there are."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.test_references import leads_somewhere

ROOT = Path(__file__).parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
PAGES += sorted((ROOT / "examples").rglob("*.md"))
#: Functions of SQL clients, in a PostgreSQL schema that is called ``privet``.
SQL = {
    f"privet.{name}"
    for path in (ROOT / "src" / "privet").rglob("sql/*.sql")
    for name in re.findall(r"FUNCTION privet\.(\w+)", path.read_text(encoding="utf-8"))
}
#: What the changelog says about names that are gone: a table, and a paragraph after it.
MOVED = re.compile(r"^### Python modules have moved\n.*?(?=^### )", flags=re.MULTILINE | re.DOTALL)


def names_in(text: str) -> set[str]:
    """Return the dotted names of code in a page, without calls and arguments."""
    return set(re.findall(r"`(privet(?:\.\w+)+)[`(]", text)) - SQL


def paths_in(text: str) -> set[str]:
    """Return the paths of code in a page: from the root, or from within a package."""
    return set(re.findall(r"`([\w.]+(?:/[\w.]+)*/(?:[\w]+\.(?:py|sql))?)`", text)) | set(
        re.findall(r"`((?:src|tests|experiments)/[\w./]+)`", text)
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_names_is_there(page):
    text = page.read_text(encoding="utf-8")
    if page.name == "CHANGELOG.md":
        text = MOVED.sub("", text)
    wrong = [name for name in names_in(text) if not leads_somewhere(name)]
    homes = (ROOT, ROOT / "src", ROOT / "src" / "privet")
    wrong += [path for path in paths_in(text) if not any((home / path).exists() for home in homes)]
    assert not wrong, ", ".join(sorted(wrong))


def test_the_changelog_says_what_modules_are_called_now():
    (section,) = MOVED.findall((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    now = re.findall(r"^\| `privet\.[^|]*\| `(privet[\w.]+)`", section, flags=re.MULTILINE)
    assert len(now) >= 11
    assert all(map(leads_somewhere, now))


def test_names_and_paths_are_found():
    text = "`privet.domain.tree` `privet.counts.open(x)` `privet.ask` `counts/sql.py` `src/privet/`"
    assert names_in(text) == {"privet.domain.tree", "privet.counts.open"}
    assert paths_in(text) == {"counts/sql.py", "src/privet/"}
