"""All one-token mutants of a module: an operator, a comparison, a boolean, a number, or min for max.

Nothing that only words or types depend on is changed: docstrings, annotations, decorators, `TYPE_CHECKING` blocks,
`__all__`, strings (what f-strings compute included) and calls that print or log. `strict=True` of a zip and the like
guard against what never happens and are left alone too.
"""

import ast
import io
import token
import tokenize
from itertools import pairwise
from typing import NamedTuple

SWAPS = {
    "+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "//": ["*"], "%": ["*"], "**": ["*"], "@": ["*"],
    "&": ["|"], "|": ["&"], "+=": ["-="], "-=": ["+="], "*=": ["/="], "/=": ["*="], "|=": ["&="], "&=": ["|="],
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "is": ["is not"], "~": [""], "in": ["not in"], "and": ["or"], "or": ["and"],
    "True": ["False"], "False": ["True"], "break": ["continue"], "continue": ["break"],
    "min": ["max"], "max": ["min"], "any": ["all"], "all": ["any"], "ceil": ["floor"], "floor": ["ceil"],
    "minimum": ["maximum"], "maximum": ["minimum"], "argmin": ["argmax"], "argmax": ["argmin"],
}  # fmt: skip
GUARDS = {"strict", "frozen", "slots", "maxsize", "exist_ok", "parents", "stacklevel"}  # arguments by these names
TALK = {"print", "log", "debug", "info", "warning_once", "help"}  # calls of functions or methods by these names

Place = tuple[int, int]


class Mutant(NamedTuple):
    """One token of one line changed."""

    file: str  # under workflow/sweetspot
    line: int  # from 1
    column: int  # from 0, in characters
    old: str
    new: str
    before: str  # the line, stripped
    after: str

    def apply(self, source: str) -> str:
        """The whole source with the token changed."""
        lines = source.splitlines(keepends=True)
        row = lines[self.line - 1]
        lines[self.line - 1] = row[: self.column] + self.new + row[self.column + len(self.old) :]
        return "".join(lines)


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Every mutant of a source that still compiles, in the order of the text."""
    lines = source.splitlines()
    found = []
    for row, column, old in sorted(set(_Sites(source).found)):
        text = lines[row - 1]
        for new in _replacements(old):
            after = text[:column] + new + text[column + len(old) :]
            mutant = Mutant(file, row, column, old, new, text.strip(), after.strip())
            try:
                compile(mutant.apply(source), file, "exec")
            except SyntaxError:
                continue
            found.append(mutant)
    return found


def _replacements(old: str) -> list[str]:
    """What stands for a token: see SWAPS; `not` goes, an integer grows by one, another number doubles (0 becomes 1).

    An integer of five digits is a cap or a scale: one more is no other, so it doubles too.
    """
    if old in ("not", "is not", "not in"):
        return [{"not": "", "is not": "is", "not in": "in"}[old]]
    if not old.lstrip(".")[:1].isdigit():
        return SWAPS.get(old, [])
    value = ast.literal_eval(old)
    return [repr(value + 1 if isinstance(value, int) and value < 10_000 else 2 * value or 1.0)]


class _Sites(ast.NodeVisitor):
    """Tokens that may be changed, as (line, column, text)."""

    def __init__(self, source: str) -> None:
        self.found: list[tuple[int, int, str]] = []
        self._lines = source.splitlines()
        words = tokenize.generate_tokens(io.StringIO(source).readline)
        self._tokens = [word for word in words if word.type in (token.OP, token.NAME, token.NUMBER)]
        self.visit(ast.parse(source))

    def visit(self, node: ast.AST) -> None:
        """Look at a node and below it, unless only words or types depend on it."""
        if isinstance(node, ast.JoinedStr) or _is_for_types(node) or _talks(node) or _names_exports(node):
            return
        self._look(node)
        for name, value in ast.iter_fields(node):
            if name in ("annotation", "returns", "decorator_list", "type_params"):
                continue
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST) and not (isinstance(child, ast.keyword) and child.arg in GUARDS):
                    self.visit(child)

    def _look(self, node: ast.AST) -> None:
        if isinstance(node, ast.Compare):
            for left, right in pairwise([node.left, *node.comparators]):
                self._between(left, right)
        elif isinstance(node, ast.BoolOp):
            for left, right in pairwise(node.values):
                self._between(left, right)
        elif isinstance(node, ast.BinOp):
            self._between(node.left, node.right)
        elif isinstance(node, ast.AugAssign):
            self._between(node.target, node.value)
        elif isinstance(node, ast.UnaryOp | ast.Constant | ast.Name | ast.Break | ast.Continue):
            self._first(node)
        elif isinstance(node, ast.Attribute):
            last = [word for word in self._tokens if word.end == self._end(node)]
            self.found += [(*word.start, word.string) for word in last]

    def _first(self, node: ast.AST) -> None:
        self.found += [(*word.start, word.string) for word in self._tokens if word.start == self._start(node)]

    def _between(self, left: ast.AST, right: ast.AST) -> None:
        """The operator between two operands, whose parentheses lie there too; `not in` is one operator."""
        begin, end = self._end(left), self._start(right)
        words = [word for word in self._tokens if begin <= word.start < end and word.string not in "()"]
        if words:
            (row, column), (last_row, last) = words[0].start, words[-1].end
            if row == last_row:
                self.found.append((row, column, self._lines[row - 1][column:last]))

    def _start(self, node: ast.AST) -> Place:
        return self._place(node.lineno, node.col_offset)  # type: ignore[attr-defined]

    def _end(self, node: ast.AST) -> Place:
        return self._place(node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]

    def _place(self, row: int, offset: int) -> Place:
        """Tokens count characters, syntax trees bytes."""
        return row, len(self._lines[row - 1].encode()[:offset].decode())


def _is_for_types(node: ast.AST) -> bool:
    return isinstance(node, ast.If) and bool(_names(node.test) & {"TYPE_CHECKING", "__name__"})


def _names(node: ast.AST) -> set[str]:
    return {name.id for name in ast.walk(node) if isinstance(name, ast.Name)}


def _talks(node: ast.AST) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return (isinstance(called, ast.Name) and called.id in TALK) or (
        isinstance(called, ast.Attribute) and called.attr in TALK
    )


def _names_exports(node: ast.AST) -> bool:
    return isinstance(node, ast.Assign) and "__all__" in set().union(*map(_names, node.targets))
