"""How heavy the project is, room by room: lines, code tokens, plain names, documented functions, lines of tests.

    python tests/support/weight.py          # make weight: the table, with the ceiling of each value behind a slash
    python tests/support/weight.py --write  # today's values become the ceilings, in tests/ground/ceilings.yaml

Code tokens are names, numbers, strings and operators: no comments, docstrings, indentation or blank lines. Lines alone
are no measure, because the same code can be packed into fewer of them.
"""

import argparse
import ast
import io
import math
import re
import tokenize
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

ROOT = Path(__file__).parents[2]
CEILINGS = ROOT / "tests" / "ground" / "ceilings.yaml"
TOTAL = "total"
# Everyday words that say little as a part of a name: their share tells a private dialect from the terms of a field.
# Of other people's code (Snakemake, PyPSA, benchopt, asv) 0.1 to 0.3 names per 100 lines have one.
ODD_WORDS = set((Path(__file__).parent / "odd_words.txt").read_text(encoding="utf-8").split())
NOT_CODE = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING,
    tokenize.ENDMARKER
}  # fmt: skip
SECTIONS = re.compile(r"^\s*(Parameters|Returns|Yields|Raises)\n\s*-+$", re.MULTILINE)
MANY_PARAMETERS = 3


def weigh_module(text: str) -> Counter[str]:
    """Count one module: lines, tokens, odd_identifiers, functions_without_sections."""
    tree = ast.parse(text)
    return Counter(
        lines=text.count("\n"),
        tokens=count_tokens(text, tree),
        odd_identifiers=sum(is_odd(name) for name in bound_names(tree)),
        functions_without_sections=sum(lacks_sections(node) for node in ast.walk(tree)),
    )


def count_tokens(text: str, tree: ast.Module) -> int:
    """Count the code tokens of a module whose tree is given."""
    docstring_lines = {
        node.body[0].lineno
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and ast.get_docstring(node, clean=False) is not None
    }
    return sum(
        token.type not in NOT_CODE and not (token.type == tokenize.STRING and token.start[0] in docstring_lines)
        for token in tokenize.generate_tokens(io.StringIO(text).readline)
    )


def bound_names(tree: ast.Module) -> Iterator[str]:
    """Yield each name where it is bound: functions, classes, parameters, assigned variables and fields."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


def is_odd(name: str) -> bool:
    """True if one of the words of a name (`kept_rows`, `KeptRows`) is an odd one."""
    return any(word.lower() in ODD_WORDS for word in re.split(r"_+|(?<=[a-z])(?=[A-Z])", name))


def lacks_sections(node: ast.AST) -> bool:
    """True for a public function with many parameters whose docstring has no section about them."""
    if not isinstance(node, ast.FunctionDef) or node.name.startswith("_"):
        return False
    parameters = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
    count = sum(parameter.arg not in ("self", "cls") for parameter in parameters)
    return count >= MANY_PARAMETERS and not SECTIONS.search(ast.get_docstring(node) or "")


def class_names(root: Path) -> Counter[str]:
    """Count how often each class name is defined in the library."""
    trees = (ast.parse(file.read_text(encoding="utf-8")) for file in (root / "workflow" / "sweetspot").rglob("*.py"))
    return Counter(node.name for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ClassDef))


def weigh(root: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Weigh the library and the tests below `root`.

    Returns `{"library": {room: values}, "tests": {folder: {"lines": n}}}`, each with a row TOTAL; modules beside the
    rooms are the room `ground`.
    """
    rooms: dict[str, Counter[str]] = {}
    for file in sorted((root / "workflow" / "sweetspot").rglob("*.py")):
        parts = file.relative_to(root / "workflow" / "sweetspot").parts
        rooms.setdefault(parts[0] if len(parts) > 1 else "ground", Counter()).update(
            weigh_module(file.read_text(encoding="utf-8"))
        )
    folders: Counter[str] = Counter()
    for file in sorted((root / "tests").rglob("*.py")):
        parts = file.relative_to(root / "tests").parts
        folders[parts[0] if len(parts) > 1 else "ground"] += file.read_text(encoding="utf-8").count("\n")
    rooms[TOTAL] = sum(rooms.values(), Counter())
    library = {room: {**values, "tokens_per_line": _density(values)} for room, values in rooms.items()}
    library[TOTAL]["homonymous_classes"] = sum(count > 1 for count in class_names(root).values())
    tests = {folder: {"lines": lines} for folder, lines in folders.items()}
    return {"library": library, "tests": tests | {TOTAL: {"lines": folders.total()}}}


# Up to here a value may also rise: a room that loses more lines than tokens is denser, and shorter all the same.
FREE = {"tokens_per_line": 7.5}


def _density(values: Counter[str]) -> float:
    """Return the tokens of a line, rounded up to a tenth."""
    return math.ceil(10 * values["tokens"] / max(values["lines"], 1)) / 10


def excesses(weights: dict[str, Any], ceilings: dict[str, Any]) -> list[str]:
    """List every value above its ceiling, and every room or folder without one."""
    messages = []
    for part, rows in weights.items():
        for room, values in rows.items():
            allowed = ceilings.get(part, {}).get(room, {})
            messages += [
                f"{part} {room}: {name} is {value:g}; expected at most {allowed.get(name, 0):g}"
                for name, value in values.items()
                if value > max(allowed.get(name, 0), FREE.get(name, 0))
            ]
    return messages


def table(weights: dict[str, Any], ceilings: dict[str, Any]) -> str:
    """Return the weights as text, heaviest room first, with the ceiling behind each value."""
    lines = []
    for part, rows in weights.items():
        names = list(rows[TOTAL])
        lines.append(f"{part:14}" + "".join(f"{name.replace('_', ' '):>28}" for name in names))
        key = "tokens" if part == "library" else "lines"
        for room, values in sorted(rows.items(), key=lambda row: (row[0] == TOTAL, -row[1].get(key, 0))):
            allowed = ceilings.get(part, {}).get(room, {})
            cells = (f"{values[name]:,g} / {allowed.get(name, 0):,g}" if name in values else "" for name in names)
            lines.append(f"{room:14}" + "".join(f"{cell:>28}" for cell in cells))
        lines.append("")
    return "\n".join(lines)


def read_ceilings(text: str) -> dict[str, Any]:
    """Parse ceilings.yaml; {} of an empty text."""
    return yaml.safe_load(text) or {}


def main() -> None:
    """Print the table, or write the ceilings."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="make today's values the ceilings")
    weights = weigh(ROOT)
    if parser.parse_args().write:
        head = "# Made by `python tests/support/weight.py --write`. A commit may lower a ceiling, never raise it.\n"
        CEILINGS.write_text(head + yaml.safe_dump(weights, sort_keys=True), encoding="utf-8")
    print(table(weights, read_ceilings(CEILINGS.read_text(encoding="utf-8")) if CEILINGS.is_file() else {}), end="")


if __name__ == "__main__":
    main()
