"""Find the code that a mutant changes by its syntax tree, and change it.

Two pieces of code are equal where their trees are: blanks, line breaks, comments, quotes,
parentheses and the splitting of strings do not matter. Only the range of the source that holds the
code is changed, byte for byte. The tree of the result is compared with the tree that was wanted,
so that no precedence of operators changes what a mutant means.
"""

from __future__ import annotations

import ast
import difflib
import io
import re
import tokenize
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path

from experiments.mutants.mutant import Moved, Mutant
from experiments.mutants.snippet import Snippet
from experiments.mutants.strings import Edit, find_text, read_literal, replace_text

_SCOPES = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
#: What a compound statement has below its header, and above it.
_NOT_OF_HEADER = ("body", "orelse", "handlers", "finalbody", "cases", "decorator_list")
#: A name behind "def" or "class", or at the beginning of a line.
_DEFINED = re.compile(rb"(?:^[ \t]*|\b(?:def|class)[ \t]+)(?!(?:def|class|async)\b)(\w+)", re.M)
_CLOSEST = 3


@dataclass(frozen=True)
class Slot:
    """Where a node hangs in a tree: in a field of its parent, perhaps at an index."""

    parent: ast.AST
    field: str
    index: int | None
    node: ast.AST

    @property
    def row(self) -> list[ast.AST]:
        """The list that the node is in."""
        row = getattr(self.parent, self.field)
        return row if isinstance(row, list) else [row]

    def dump_with(self, tree: ast.AST, nodes: list[ast.AST], instead_of: int = 1) -> str:
        """Return the structure of a tree with other nodes in this place."""
        kept = getattr(self.parent, self.field)
        if self.index is None:
            (changed,) = nodes
        else:
            changed = [*kept[: self.index], *nodes, *kept[self.index + instead_of :]]
        setattr(self.parent, self.field, changed)
        try:
            return ast.dump(tree)
        finally:
            setattr(self.parent, self.field, kept)


def walk(slot: Slot) -> Iterator[Slot]:
    """Yield a place in a tree and all places below it."""
    yield slot
    for below in walk_once(slot):
        yield from walk(below)


def walk_once(slot: Slot) -> Iterator[Slot]:
    """Yield the places directly below one."""
    for field, value in ast.iter_fields(slot.node):
        for index, child in enumerate(value) if isinstance(value, list) else [(None, value)]:
            if isinstance(child, ast.AST):
                yield Slot(slot.node, field, index, child)


class Module:
    """The source of one module below the package's folder, and its tree."""

    def __init__(self, path: str, source: bytes) -> None:
        self.path, self.source = path, source
        self.name = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")

    @cached_property
    def tree(self) -> ast.Module:
        return ast.parse(self.source)

    @cached_property
    def names(self) -> set[bytes]:
        """All names that it may define; not every one has to be parsed to know where one is."""
        return set(_DEFINED.findall(self.source))

    @property
    def slots(self) -> list[Slot]:
        """The statements at the top."""
        return [Slot(self.tree, "body", index, node) for index, node in enumerate(self.tree.body)]

    @cached_property
    def places(self) -> dict[str, list[Slot]]:
        """Functions and classes, and what a module or a class assigns, by qualified name."""
        found: dict[str, list[Slot]] = {}

        def visit(slot: Slot, names: tuple[str, ...]) -> None:
            node = slot.node
            if isinstance(node, _SCOPES):
                names = (*names, node.name)
                found.setdefault(".".join(names), []).append(slot)
            elif isinstance(slot.parent, (ast.Module, ast.ClassDef)):
                for name in _assigned(node):
                    found.setdefault(".".join((*names, name)), []).append(slot)
            for below in walk_once(slot):
                if not isinstance(below.node, ast.expr):
                    visit(below, names)

        for slot in self.slots:
            visit(slot, ())
        return found

    @cached_property
    def _lines(self) -> list[int]:
        """Where each line begins."""
        starts = [0]
        for line in self.source.split(b"\n"):
            starts.append(starts[-1] + len(line) + 1)
        return starts

    def offset(self, line: int, column: int) -> int:
        return self._lines[line - 1] + column

    def start(self, node: ast.AST) -> int:
        """Where a node begins, with its decorators."""
        decorators: list[ast.expr] = getattr(node, "decorator_list", [])
        if decorators:
            first = decorators[0]
            return self.source.rindex(b"@", 0, self.offset(first.lineno, first.col_offset))
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.AST) -> int:
        return self.offset(node.end_lineno, node.end_col_offset)

    def line(self, offset: int) -> int:
        return self.source.count(b"\n", 0, offset) + 1

    def around(self, offset: int) -> str:
        """Return the qualified name of the innermost place around an offset."""
        names = [
            name
            for name, slots in self.places.items()
            if any(self.start(slot.node) <= offset < self.end(slot.node) for slot in slots)
        ]
        return max(names, key=len, default="top level")


def _assigned(statement: ast.AST) -> list[str]:
    targets = getattr(statement, "targets", None) or [getattr(statement, "target", None)]
    return [target.id for target in targets if isinstance(target, ast.Name)]


@dataclass(frozen=True)
class Match:
    """Code that has the structure of a snippet."""

    module: Module
    start: int
    end: int
    #: Ways to write the change, the plainest first.
    ways: tuple[tuple[Edit, ...], ...]
    #: The structure that the whole module must have afterwards.
    wanted: Callable[[], str]

    @property
    def line(self) -> int:
        return self.module.line(self.start)

    def __str__(self) -> str:
        return f"{self.module.path}:{self.line} in {self.module.around(self.start)}"


@dataclass(frozen=True)
class Site:
    """Where a mutant belongs: the path below the package's folder, the line, and the edits."""

    path: str
    line: int
    edits: tuple[Edit, ...]


class Package:
    """The modules of a package, by path below its folder."""

    def __init__(self, sources: Mapping[str, bytes]) -> None:
        self._modules = [Module(path, source) for path, source in sorted(sources.items())]

    @classmethod
    def read(cls, folder: Path) -> Package:
        paths = folder.rglob("*.py")
        return cls({path.relative_to(folder).as_posix(): path.read_bytes() for path in paths})

    def mutate(self, mutant: Mutant) -> tuple[str, bytes]:
        """Return the path of the module that a mutant changes, and its source with the fault.

        Raises:
            Moved: The code is not there, is there more than once, or cannot be changed so.
        """
        site = self.find(mutant)
        source = next(module.source for module in self._modules if module.path == site.path)
        return site.path, apply(site.edits, source)

    def find(self, mutant: Mutant) -> Site:
        """Return where a mutant belongs.

        Raises:
            Moved: The code is not there, is there more than once, or cannot be changed so.
        """
        search = _Search(mutant)
        places = [
            (module, slot)
            for module in self._named(mutant)
            for slot in module.places.get(mutant.place, [])
        ]
        matches = {
            (match.module.path, match.start, match.end): match
            for module, slot in places
            for match in search.below(module, slot)
        }
        if len(matches) != 1:
            raise Moved(self._explain(mutant, search, places, list(matches.values())))
        (match,) = matches.values()
        wanted = match.wanted()
        for edits in match.ways:
            if _structure(apply(edits, match.module.source)) == wanted:
                return Site(match.module.path, match.line, edits)
        raise Moved(
            f"mutant {mutant.name!r}: what takes the place of the code does not fit at "
            f"{match}:\n{mutant.after}"
        )

    def _named(self, mutant: Mutant) -> list[Module]:
        """The modules that can have the place of a mutant."""
        name = mutant.place.rpartition(".")[2].encode()
        suffix = f".{mutant.module}" if mutant.module else ""
        return [
            module
            for module in self._modules
            if name in module.names and f".{module.name}".endswith(suffix)
        ]

    def _explain(
        self,
        mutant: Mutant,
        search: _Search,
        places: list[tuple[Module, Slot]],
        matches: list[Match],
    ) -> str:
        where = mutant.place + (f" of a module {mutant.module!r}" if mutant.module else "")
        what = "text in strings" if mutant.in_string else "code"
        said = [
            (
                f"mutant {mutant.name!r}: this {what} is in {where} {len(matches)} times, and must "
                "be there once:"
            )
        ]
        said.append(mutant.before)
        said += [f"found at {match}" for match in matches]
        if not places:
            known = {name: module for module in self._modules for name in module.places}
            last = mutant.place.rpartition(".")[2]
            same = [name for name in known if name.rpartition(".")[2] == last]
            close = [*same, *difflib.get_close_matches(mutant.place, known, _CLOSEST)]
            said.append(
                "no function, class or constant has the name "
                f"{mutant.place!r}{' there' if mutant.module else ''}"
            )
            said += [f"close to it: {name} in {known[name].path}" for name in dict.fromkeys(close)]
        if not matches:
            anywhere = [
                match
                for module in self._modules
                for slot in module.slots
                for match in search.below(module, slot)
            ]
            said += [f"the same {what} is at {match}" for match in anywhere[:_CLOSEST]]
            near = [found for module, slot in places for found in search.near(module, slot)]
            near.sort(key=lambda found: -found[0])
            said += [f"close to it: {shown}" for _, shown in near[:_CLOSEST]]
        return "\n".join(
            [*said, "where the code has changed, change the mutant in experiments/mutants with it"]
        )


class _Search:
    """Finds what a mutant changes."""

    def __init__(self, mutant: Mutant) -> None:
        self._mutant = mutant
        if mutant.in_string:
            return
        self._before, self._after = Snippet(mutant.before), Snippet(mutant.after or "pass")
        self._of_expressions = (
            self._before.expression is not None and self._after.expression is not None
        )

    def below(self, module: Module, slot: Slot) -> Iterator[Match]:
        """Yield all that a mutant could change in one place of a module."""
        for found in walk(slot):
            if self._mutant.in_string:
                yield from self._in_string(module, found)
            elif self._of_expressions:
                yield from self._expression(module, found)
            else:
                yield from self._statements(module, found)
                yield from self._keyword(module, found)
                yield from self._header(module, found)

    def _in_string(self, module: Module, slot: Slot) -> Iterator[Match]:
        node, text = slot.node, self._mutant.before
        plain = isinstance(node, ast.Constant) and isinstance(node.value, str)
        docstring = isinstance(slot.parent, ast.Expr)
        if (
            not (plain or isinstance(node, ast.JoinedStr))
            or isinstance(slot.parent, ast.JoinedStr)
            or docstring
        ):
            return
        characters = read_literal(module.source, module.start(node), module.end(node))
        for occurrence in find_text(characters, text):
            edits = tuple(replace_text(occurrence, self._mutant.after))

            def wanted() -> str:
                parts = [
                    part
                    for part in walk(slot)
                    if isinstance(part.node, ast.Constant) and text in str(part.node.value)
                ]
                (part,) = parts
                changed = ast.Constant(part.node.value.replace(text, self._mutant.after))
                return part.dump_with(module.tree, [changed])

            yield Match(module, occurrence[0].start, occurrence[-1].end, (edits,), wanted)

    def _expression(self, module: Module, slot: Slot) -> Iterator[Match]:
        if not _equal(slot.node, self._before.expression):
            return
        start, end = module.start(slot.node), module.end(slot.node)
        texts = (self._after.text, f"({self._after.text})")
        ways = tuple((Edit(start, end, text.encode()),) for text in texts)
        yield Match(
            module, start, end, ways, lambda: slot.dump_with(module.tree, [self._after.expression])
        )

    def _statements(self, module: Module, slot: Slot) -> Iterator[Match]:
        wanted = self._before.statements
        if not wanted or slot.index is None or not isinstance(slot.node, ast.stmt):
            return
        run = slot.row[slot.index : slot.index + len(wanted)]
        if len(run) != len(wanted) or not all(map(_equal, run, wanted)):
            return
        start, end = module.start(run[0]), module.end(run[-1])
        line = module.source[module.source.rfind(b"\n", 0, start) + 1 : start]
        indent = line if not line.strip() else b""
        text = self._after.text.encode().replace(b"\n", b"\n" + indent)
        after = self._after.statements or []
        changed = partial(slot.dump_with, module.tree, after, len(run))
        yield Match(module, start, end, ((Edit(start, end, text),),), changed)

    def _keyword(self, module: Module, slot: Slot) -> Iterator[Match]:
        if self._after.keyword is None or not _equal(slot.node, self._before.keyword):
            return
        start, end = module.start(slot.node), module.end(slot.node)
        edits = (Edit(start, end, self._after.text.encode()),)
        yield Match(
            module, start, end, (edits,), lambda: slot.dump_with(module.tree, [self._after.keyword])
        )

    def _header(self, module: Module, slot: Slot) -> Iterator[Match]:
        before, after, node = self._before.header, self._after.header, slot.node
        if before is None or after is None or type(node) is not type(before):
            return
        if not _equal(_like(node, before), before):
            return
        start = module.offset(node.lineno, node.col_offset)  # decorators stay as they are
        end = _header_end(module, start, node)
        edits = (Edit(start, end, self._after.text.encode()),)
        yield Match(
            module, start, end, (edits,), lambda: slot.dump_with(module.tree, [_like(after, node)])
        )

    def near(self, module: Module, slot: Slot) -> Iterator[tuple[float, str]]:
        """Yield code or strings of a place, with how close they come to what was looked for."""
        if self._mutant.in_string:
            wanted = self._mutant.before
            nodes = [
                found.node
                for found in walk(slot)
                if isinstance(found.node, (ast.Constant, ast.JoinedStr))
            ]
        else:
            wanted = ast.unparse(self._before.node)
            nodes = [
                found.node for found in walk(slot) if isinstance(found.node, self._before.kinds)
            ]
        for node in nodes:
            shown = ast.unparse(node)
            if len(shown) < 4 * len(wanted) + 40:
                close = difflib.SequenceMatcher(None, wanted, shown, autojunk=False).ratio()
                yield close, f"{module.path}:{node.lineno}: {shown}"


def _equal(node: ast.AST, other: ast.AST | None) -> bool:
    return type(node) is type(other) and ast.dump(node) == ast.dump(other)


def _like(header: ast.AST, body: ast.AST) -> ast.AST:
    """Return a compound statement of the header of one and the body of another."""
    parts = {
        field: getattr(header, field, None)
        for field in header._fields
        if field not in _NOT_OF_HEADER
    }
    return type(header)(
        **parts, **{field: getattr(body, field) for field in _NOT_OF_HEADER if hasattr(body, field)}
    )


def _header_end(module: Module, start: int, node: ast.AST) -> int:
    """Return where the header of a compound statement ends, behind its colon."""
    first = (getattr(node, "body", None) or getattr(node, "cases", None))[0]
    first = getattr(first, "pattern", first)  # a case of a match has no position of its own
    text = module.source[start : module.start(first)].decode()
    lines, depth = text.splitlines(keepends=True), 0
    ends = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            depth += (
                (token.string in "([{") - (token.string in ")]}")
                if token.type == tokenize.OP
                else 0
            )
            if token.string == ":" and not depth:
                before = (
                    "".join(lines[: token.end[0] - 1]) + lines[token.end[0] - 1][: token.end[1]]
                )
                ends.append(start + len(before.encode()))
    except (tokenize.TokenError, IndentationError):
        pass  # the text breaks off where the body begins
    return ends[-1]


def apply(edits: tuple[Edit, ...], source: bytes) -> bytes:
    """Return a source with edits, which are in order, in it."""
    for edit in reversed(edits):
        source = source[: edit.start] + edit.text + source[edit.end :]
    return source


def _structure(source: bytes) -> str:
    try:
        return ast.dump(ast.parse(source))
    except SyntaxError:
        return ""
