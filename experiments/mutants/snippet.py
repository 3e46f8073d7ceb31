"""Read a snippet of Python as an expression, statements, a keyword argument or a header."""

from __future__ import annotations

import ast
import textwrap


class Snippet:
    """A snippet and its trees; those that it cannot be are None.

    Args:
        text: Python; indentation and blanks around it do not matter.

    Raises:
        SyntaxError: It is nothing of Python.
    """

    def __init__(self, text: str) -> None:
        self.text = textwrap.dedent(text).strip()
        module = _parsed(self.text)
        self.statements: list[ast.stmt] | None = module.body if module else None
        self.expression = self._expression()
        self.keyword = self._keyword()
        self.header = self._header()
        if not any([self.statements, self.expression, self.keyword, self.header]):
            raise SyntaxError(
                f"a snippet that is neither code nor the header of a statement: {text}"
            )

    def _expression(self) -> ast.expr | None:
        module = _parsed(f"({self.text}\n)")
        only = module.body[0] if module and len(module.body) == 1 else None
        # "()" is the tuple of nothing, which nobody means by an empty snippet
        return only.value if isinstance(only, ast.Expr) and self.text else None

    def _keyword(self) -> ast.keyword | None:
        module = _parsed(f"call({self.text}\n)")
        only = module.body[0] if module and len(module.body) == 1 else None
        call = only.value if isinstance(only, ast.Expr) else None
        if isinstance(call, ast.Call) and not call.args and len(call.keywords) == 1:
            return call.keywords[0]
        return None

    def _header(self) -> ast.stmt | None:
        module = _parsed(f"{self.text}\n    ...") if self.text.endswith(":") else None
        return module.body[0] if module and len(module.body) == 1 else None

    @property
    def node(self) -> ast.AST:
        """What it most likely is."""
        if self.expression is not None:
            return self.expression
        if self.statements:
            return ast.Module(self.statements, [])
        return self.header or self.keyword

    @property
    def kinds(self) -> tuple[type[ast.AST], ...]:
        """The kinds of nodes that can be close to it."""
        if self.expression is not None:
            return (ast.expr,)
        return (ast.stmt,) if self.keyword is None else (ast.stmt, ast.keyword)


def _parsed(text: str) -> ast.Module | None:
    try:
        return ast.parse(text)
    except SyntaxError:
        return None
