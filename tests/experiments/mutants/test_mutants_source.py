"""The code of a mutant is found by its syntax tree, wherever it stands and however it is laid
out.
"""

from __future__ import annotations

import ast
import hashlib
import re
import subprocess
import sys
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.mutants.listed import MUTANTS
from experiments.mutants.mutant import Moved, Mutant
from experiments.mutants.snippet import Snippet
from experiments.mutants.source import Package, apply
from experiments.mutants.strings import Edit, find_text, read_literal

SOURCE = Path(__file__).parents[3] / "src" / "privet"
SOURCES = {path.relative_to(SOURCE).as_posix(): path.read_bytes() for path in SOURCE.rglob("*.py")}
PACKAGE = Package(SOURCES)
every_mutant = pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)


@cache
def structure(source: bytes) -> bytes:
    """Return what a module says, whatever its layout: a digest, so that many can be kept."""
    return hashlib.sha256(ast.dump(ast.parse(source)).encode()).digest()


def mutant(place: str, before: str, after: str, **more) -> Mutant:
    return Mutant("a fault", place, before, after, "harm", ("x.py::test_x",), **more)


def mutate(source: str, *what: str, **more) -> str:
    """Return the source of a module with a fault in it."""
    return Package({"a.py": source.encode()}).mutate(mutant(*what, **more))[1].decode()


def refused(source: str, *what: str, **more) -> str:
    """Return why a fault cannot be put into a module."""
    with pytest.raises(Moved) as caught:
        mutate(source, *what, **more)
    return str(caught.value)


@pytest.fixture(scope="module")
def laid_out(tmp_path_factory) -> Package:
    """The package in lines of 60 columns."""
    folder = tmp_path_factory.mktemp("laid-out")
    for path, source in SOURCES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(source)
    ruff = [sys.executable, "-m", "ruff", "format", "--isolated", "--line-length", "60", "-q"]
    subprocess.run([*ruff, str(folder)], check=True)
    made = Package.read(folder)
    changed = [path for path in SOURCES if (folder / path).read_bytes() != SOURCES[path]]
    assert len(changed) > len(SOURCES) / 3
    return made


@pytest.fixture(scope="module")
def unparsed() -> Package:
    """The package as Python itself writes it, without a comment."""
    return Package({path: ast.unparse(ast.parse(text)).encode() for path, text in SOURCES.items()})


@pytest.fixture(scope="module")
def moved() -> Package:
    """The package with each module in another folder, and under another name."""
    new = {path: f"else/where/m{number}.py" for number, path in enumerate(SOURCES)}
    return Package({new[path]: source for path, source in SOURCES.items()})


@cache
def mutate_here(mutant: Mutant) -> tuple[str, bytes]:
    return PACKAGE.mutate(mutant)


def growth(edit: Edit) -> int:
    return len(edit.text) - (edit.end - edit.start)


def same_code(one: str, other: str) -> bool:
    return ast.dump(Snippet(one).node) == ast.dump(Snippet(other).node)


class TestEveryMutant:
    @every_mutant
    def test_changes_nothing_but_its_code(self, mutant):
        site = PACKAGE.find(mutant)
        source, (path, mutated) = SOURCES[site.path], mutate_here(mutant)
        assert path == site.path
        start, end = site.edits[0].start, site.edits[-1].end
        assert mutated[:start] == source[:start]
        assert mutated.endswith(source[end:])
        assert len(mutated) - len(source) == sum(map(growth, site.edits))
        code = source[start:end].decode()
        if mutant.in_string:
            assert code == mutant.before
        else:
            column = start - source.rfind(b"\n", 0, start) - 1
            assert same_code(" " * column + code, mutant.before)

    @every_mutant
    def test_is_found_in_another_layout(self, mutant, laid_out):
        assert_same_fault(mutant, laid_out)

    @pytest.mark.slow
    @every_mutant
    def test_is_found_as_python_writes_it(self, mutant, unparsed):
        assert_same_fault(mutant, unparsed)

    @pytest.mark.slow
    @every_mutant
    def test_is_found_in_another_file(self, mutant, moved):
        assert moved.mutate(replace(mutant, module=""))[1] == mutate_here(mutant)[1]


def assert_same_fault(mutant: Mutant, package: Package) -> None:
    """The mutated module must be the same but for its layout."""
    path, mutated = package.mutate(mutant)
    known, wanted = mutate_here(mutant)
    assert path == known
    assert structure(mutated) == structure(wanted)


class TestCode:
    TEXT = "def f(x):\n    y = x + 1  # one more\n    return (y *\n            2)\n"

    def test_an_expression_in_another_layout(self):
        assert mutate(self.TEXT, "f", "y*2", "y * 3") == self.TEXT.replace(
            "y *\n            2", "y * 3"
        )

    def test_a_statement_keeps_the_comment_behind_it(self):
        assert mutate(self.TEXT, "f", "y = (x + 1)", "y = x") == self.TEXT.replace("x + 1 ", "x ")

    def test_statements_that_follow_each_other(self):
        assert mutate(self.TEXT, "f", "y = x + 1\nreturn y * 2", "y = x\nreturn y") == (
            "def f(x):\n    y = x\n    return y\n"
        )

    def test_statements_that_do_not_follow_each_other_are_not_found(self):
        text = "def f(x):\n    a()\n    b()\n    c()\n"
        assert "0 times" in refused(text, "f", "a()\nc()", "a()")

    def test_a_statement_that_is_taken_out(self):
        assert mutate("def f(x):\n    check(x)\n", "f", "check(x)", "") == "def f(x):\n    pass\n"

    def test_several_statements_are_indented(self):
        text = "def f(x):\n    if x:\n        check(x)\n"
        wanted = "def f(x):\n    if x:\n        y = x\n        if y:\n            check(y)\n"
        assert mutate(text, "f", "check(x)", "y = x\nif y:\n    check(y)") == wanted

    @pytest.mark.parametrize(
        ("text", "before", "after", "wanted"),
        [
            ("return 2 * x", "x", "x + 1", "return 2 * (x + 1)"),
            ("return x.y", "x", "a or b", "return (a or b).y"),
            ("return g(x)", "x", "a if b else c", "return g(a if b else c)"),
            ("return (2 * x)", "2 * x", "2 * x\n+ 1", "return (2 * x\n+ 1)"),
        ],
    )
    def test_an_expression_means_the_same_in_its_new_place(self, text, before, after, wanted):
        head = "def f(x):\n    "
        assert mutate(head + text, "f", before, after) == head + wanted

    def test_a_keyword_argument(self):
        text = "def f(x):\n    g(x, cut=False)\n"
        assert mutate(text, "f", "cut=False", "cut=True") == text.replace("False", "True")

    def test_a_keyword_and_a_statement_are_two(self):
        text = "def f(x):\n    cut = False\n    g(x, cut=False)\n"
        assert "2 times" in refused(text, "f", "cut=False", "cut=True")

    @pytest.mark.parametrize(
        ("header", "before", "after"),
        [
            ("def f(x, y=1):  # a comment: with a colon\n", "def f(x, y = 1):", "def f(x, y=2):"),
            (
                "def f(x: int,\n      y=1) -> dict[1:2]:\n",
                "def f(x: int, y=1) -> dict[1:2]:",
                "def f(x):",
            ),
            ("@d[1:2]\ndef f(x):\n    '''Text: of it.'''\n", "def f(x):", "def f(x, y):"),
        ],
    )
    def test_a_header(self, header, before, after):
        text = f"{header}    if x:\n        return {{1: 2}}\n"
        mutated = mutate(text, "f", before, after)
        start, end = text.index("def"), re.search(r":(?=  #|\n    [i'])", text).end()
        assert mutated == text[:start] + after + text[end:]

    def test_a_header_inside(self):
        text = "def f(x):\n    for a in x:\n        for b in a: g(b)\n"
        assert mutate(text, "f", "for b in a:", "for b in x:") == text.replace("b in a", "b in x")

    def test_strings_in_several_pieces_are_one(self):
        text = "def f(x):\n    g(\n        \"one \"\n        'two',\n    )\n"
        assert mutate(text, "f", 'g("one two")', "g()") == "def f(x):\n    g()\n"

    def test_what_is_not_ascii_moves_nothing(self):
        text = 'def f(x):\n    return g("é€😀", x, "ß")\n'
        assert mutate(text, "f", "x", "y") == text.replace(", x", ", y")

    def test_nothing_of_python_is_refused(self):
        with pytest.raises(SyntaxError, match="neither code nor"):
            mutate(self.TEXT, "f", "if x", "if y")

    def test_what_does_not_fit_is_refused(self):
        text = "def f(x):\n    if x: return 1\n"
        assert "does not fit at a.py:2 in f" in refused(text, "f", "return 1", "y = 1\nreturn y")


class TestPlace:
    TEXT = (
        "class A:\n    z = 1\n    def f(self): return 1\nclass B:\n    def f(self): return 1\nN = "
        "1\n"
    )

    @pytest.mark.parametrize(("place", "line"), [("A.z", 1), ("A.f", 2), ("B.f", 4), ("N", 5)])
    def test_functions_classes_and_constants(self, place, line):
        lines = self.TEXT.splitlines(keepends=True)
        lines[line] = lines[line].replace("1", "2")
        assert mutate(self.TEXT, place, "1", "2") == "".join(lines)

    def test_code_that_is_there_twice_is_told_with_its_lines(self):
        told = refused(self.TEXT, "A", "1", "2")
        assert "in A 2 times" in told
        assert "a.py:2 in A.z" in told
        assert "a.py:3 in A.f" in told

    def test_a_module_tells_two_places_apart(self):
        package = Package(dict.fromkeys(("a/b.py", "a/c.py", "c.py"), b"def f(): return 1\n"))
        assert package.mutate(mutant("f", "1", "2", module="b"))[0] == "a/b.py"
        assert package.mutate(mutant("f", "1", "2", module="a.c"))[0] == "a/c.py"
        for module, times in [("", 3), ("c", 2), ("d", 0)]:
            with pytest.raises(Moved, match=f"{times} times"):
                package.mutate(mutant("f", "1", "2", module=module))

    def test_a_package_is_a_module(self):
        package = Package({"a/b/__init__.py": b"def f(): return 1\n", "c.py": b"def f(): return 1"})
        assert package.mutate(mutant("f", "1", "2", module="a.b"))[0] == "a/b/__init__.py"

    def test_a_place_that_is_gone_is_told_with_close_ones(self):
        told = refused(
            "class Ledger:\n    def charge(self): pay(1)\n", "Legder.charge", "pay(1)", ""
        )
        assert "no function, class or constant has the name 'Legder.charge'" in told
        assert "close to it: Ledger.charge in a.py" in told
        assert "the same code is at a.py:2 in Ledger.charge" in told

    def test_code_that_has_changed_is_told_with_what_is_close(self):
        told = refused("def f(x):\n    g(x)\n    pay(x, 2)\n", "f", "pay(x, 1)", "")
        assert "mutant 'a fault': this code is in f 0 times, and must be there once" in told
        assert "close to it: a.py:3: pay(x, 2)" in told


class TestText:
    @pytest.mark.parametrize(
        ("literal", "wanted"),
        [
            ('"a FULL b"', '"a OFF b"'),
            ("'''a\nFULL'''", "'''a\nOFF'''"),
            ('("a FU"  # here\n "LL b")', '("a OFF"  # here\n " b")'),
            ('(f"{x} FU" r"LL \\b")', '(f"{x} OFF" r" \\b")'),
            ('f"{x}FULL{{{x}"', 'f"{x}OFF{{{x}"'),
            ('"é\\n\\x41\\N{BULLET}FULL"', '"é\\n\\x41\\N{BULLET}OFF"'),
            ('"\\u0046ULL"', '"OFF"'),
            ('"""a \\\n FULL"""', '"""a \\\n OFF"""'),
        ],
    )
    def test_in_a_literal(self, literal, wanted):
        text = f'def f(x):\n    """FULL of words."""\n    return {literal}  # FULL\n'
        mutated = mutate(text, "f", "FULL", "OFF", in_string=True)
        assert mutated == text.replace(literal, wanted)

    def test_quotes_and_braces_are_escaped(self):
        mutated = mutate("f = f'{1} x'", "f", " x", " '{y}' \\", in_string=True)
        assert mutated == "f = f'{1} \\'{{y}}\\' \\\\'"
        assert eval(mutated.partition("=")[2]) == "1 '{y}' \\"

    @pytest.mark.parametrize("text", ['f = "FULL FULL"', 'f = ("FULL", "FULL")'])
    def test_that_is_there_twice_is_refused(self, text):
        assert "text in strings is in f 2 times" in refused(
            text, "f", "FULL", "OFF", in_string=True
        )

    def test_that_has_changed_is_told_with_what_is_close(self):
        told = refused('f = ("x", "PRAGMA a=NORMAL")', "f", "PRAGMA a=FULL", "", in_string=True)
        assert "close to it: a.py:1: 'PRAGMA a=NORMAL'" in told

    def test_bytes_are_no_text(self):
        assert "0 times" in refused('f = b"FULL"', "f", "FULL", "OFF", in_string=True)


literals = st.lists(
    st.tuples(st.text(max_size=6), st.sampled_from(["'", '"', "'''", '"""'])),
    min_size=1,
    max_size=4,
)


@given(literals)
def test_a_literal_in_any_pieces_reads_as_python_reads_it(pieces):
    """Escapes as ``repr`` writes them, in quotes of every kind."""

    def written(text: str, quote: str) -> str:
        inside = repr(text)[1:-1].replace("\\'", "'").replace("'", "\\'").replace('"', '\\"')
        return f"{quote}{inside}{quote}"

    source = "(" + "\n ".join(written(*piece) for piece in pieces) + ")"
    value = ast.literal_eval(source)
    read = read_literal(source.encode(), 0, len(source.encode()))
    assert "".join(character.value for character in read) == value
    if value:
        assert len(find_text(read, value)) == 1


@given(st.text(alphabet="ab\\'\"{}\n é", max_size=8), st.sampled_from(["", "f"]))
def test_any_text_can_take_the_place_of_another(text, prefix):
    mutated = mutate(f'f = {prefix}"<MARK>"', "f", "MARK", text, in_string=True)
    assert eval(mutated.partition("=")[2]) == f"<{text}>"


def test_edits_are_in_order():
    assert apply((Edit(0, 1, b"xx"), Edit(2, 3, b"")), b"abcd") == b"xxbd"
