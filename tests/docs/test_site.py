"""The documentation site has everything, and builds without a warning."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import privet as pv

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"


def load_hook(name: str):
    """Import a hook of the site as MkDocs does, by its file."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", DOCS / "_hooks" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_every_public_name_has_an_entry():
    pages = (DOCS / "reference" / "api").glob("*.md")
    shown = re.findall(r"^::: ([\w.]+)$", "\n".join(page.read_text() for page in pages), re.M)
    names = [path.rpartition(".")[2] for path in shown]
    assert len(names) == len(set(names))
    assert set(names) == set(pv.__all__) - {"explain"}  # the name of epsilon in 0.1


def test_every_command_is_described():
    page = load_hook("commands").write_page()
    assert page.count("\n## privet ") > 90
    assert "\n## privet curator audit-log show\n" in page
    fit = page.partition("\n## privet fit\n")[2].partition("\n## ")[0]
    assert "| `--epsilon, -e TEXT` | " in fit
    assert "TABLE" in fit
    assert "[bold]" not in page


def test_every_address_of_the_curator_is_described():
    page = load_hook("http_api").write_page()
    assert "\n## POST /v1/datasets/{name}/count-by\n" in page
    count = page.partition("\n## POST /v1/datasets/{name}/count-by\n")[2].partition("\n## ")[0]
    for field in ("epsilon", "by", "where"):
        assert f"| `{field}` | body |" in count
    assert "| `idempotency-key` | header |" in count
    assert "Answers: `200` The answer, charged once.\n" in count
    errors = page.partition("\n## Errors\n")[2].partition("\n## ")[0]
    assert "| `403` | The budget, or the privacy promise, does not allow this" in errors
    assert page.count("The token is not known |") == 1, "errors are listed once, for all addresses"
    assert "Successful Response" not in page


def test_links_of_root_pages_are_moved():
    move = load_hook("root_pages").move_links
    assert move("[a](docs/faq.md#b)") == "[a](../faq.md#b)"
    assert move("[a](CHANGELOG.md)") == "[a](changelog.md)"
    assert move("[a](https://x.org/docs)") == "[a](https://x.org/docs)"
    with pytest.raises(ValueError, match="src"):
        move("[a](src/privet)")


def test_terminals_have_names():
    name = load_hook("terminals").on_page_markdown
    assert name("```console ada refused\n$ x\n```") == '```console title="ada"\n$ x\n```'
    assert name("```sh stop\nx\n```") == "```sh\nx\n```"
    assert name("```python\nx\n```") == "```python\nx\n```"


def test_the_glossary_is_in_order():
    terms = re.findall(r"^## (.*)$", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.M)
    assert len(terms) > 25
    assert terms == sorted(terms, key=str.lower)


@pytest.mark.slow
def test_the_site_builds_and_every_link_leads_somewhere(tmp_path):
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", tmp_path / "site"],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    page = (tmp_path / "site" / "reference" / "api" / "ask.html").read_text(encoding="utf-8")
    assert ":class:" not in page
    assert 'id="privet.curator.Curator.count"' in page
    outside = re.compile(r'(?:src|href)="https?://(?!(?:127|localhost))[^"]*\.(?:js|css|woff2?)"')
    for page in (tmp_path / "site").rglob("*.html"):
        assert not outside.search(page.read_text(encoding="utf-8")), f"{page} loads from elsewhere"
