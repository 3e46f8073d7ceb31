"""``pv.export``: one place for all formats, which ``privet export`` uses too."""

from __future__ import annotations

import pytest

import privet as pv
from privet.errors import ParameterError, PrivetError
from privet.report.export import FORMATS
from tests.report.models import small_model
from tests.report.scored import scored_model


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("model", [small_model(), scored_model()], ids=["counts", "scores"])
def test_a_file_holds_what_is_returned_without_one(name, model, tmp_path):
    content = pv.export(model, format=name)
    path = tmp_path / f"m{FORMATS[name].ending}"
    assert pv.export(model, path) is None
    assert path.read_bytes() == (content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize("name", ["text", "dot"])
def test_the_guarantee_is_in_the_first_line(name):
    model = small_model()
    assert pv.export(model, format=name).splitlines()[0].endswith(model.privacy.describe())


def test_text_has_all_trees():
    model = small_model()
    assert len(model.trees) > 1
    assert f"# tree {len(model.trees)} of {len(model.trees)}" in pv.export(model, format="text")


def test_whole_shows_branches_that_say_the_same():
    model = scored_model()
    short, whole = (pv.export(model, format="text", whole=whole) for whole in (False, True))
    assert len(whole.splitlines()) > len(short.splitlines())


def test_a_format_may_go_against_the_ending(tmp_path):
    pv.export(small_model(), tmp_path / "tree.gv", format="dot")
    assert "digraph tree {" in (tmp_path / "tree.gv").read_text()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"path": "m.pdf"}, r"must end in \.txt, \.dot, \.onnx or \.sql, got 'm\.pdf'"),
        ({"path": "m.onx"}, r"did you mean '\.onnx'\?"),
        ({"format": "pmml"}, "format must be 'text', 'dot', 'onnx' or 'sql', got 'pmml'"),
        ({}, "give a path to write to, or a format: text, dot, onnx"),
    ],
)
def test_another_format_is_refused(arguments, said, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ParameterError, match=said):
        pv.export(small_model(), **arguments)
    assert list(tmp_path.iterdir()) == []


def test_what_is_not_trained_is_refused():
    with pytest.raises(
        ParameterError, match=r"export needs a trained classifier .* train one first"
    ):
        pv.export(pv.PrivetClassifier(), format="text")


def test_a_path_that_cannot_be_written_is_one_error(tmp_path):
    for path in (tmp_path / "no such folder" / "m.txt", "a\0b.txt"):
        with pytest.raises(PrivetError, match="cannot write"):
            pv.export(small_model(), path)
