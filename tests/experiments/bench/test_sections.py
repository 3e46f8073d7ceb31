"""Sections of a results page that several scripts write."""

from __future__ import annotations

from experiments.bench.sections import put_section, read_section

PAGE = "# Speed\n\nAll of it.\n\n## One\n\nfirst\n\n## Two\n\nsecond\n"


def test_a_section_is_written_anew_and_the_others_stay(tmp_path):
    page = tmp_path / "speed.md"
    page.write_text(PAGE)
    put_section(page, "One", r"again: \1")
    assert page.read_text() == PAGE.replace("first", r"again: \1")
    put_section(page, "Three", "third\n")
    assert page.read_text().endswith("second\n\n## Three\n\nthird\n")
    put_section(page, "Two", "2")
    assert page.read_text().endswith("## Two\n\n2\n\n## Three\n\nthird\n")


def test_a_section_is_kept_for_a_page_that_is_written_anew(tmp_path):
    page = tmp_path / "speed.md"
    assert read_section(page, "One") == ""
    page.write_text(PAGE)
    assert read_section(page, "One") == "## One\n\nfirst\n\n"
    assert read_section(page, "Two") == "## Two\n\nsecond\n"
    assert read_section(page, "None") == ""
