"""A notebook's code run cell by cell in this process, without Jupyter: what a kernel would be asked to run."""

import ast
from pathlib import Path
from typing import Any

import nbformat


def run_notebook(file: Path) -> tuple[list[Any], dict[str, Any]]:
    """What each code cell shows (the value of its last line, if that is an expression) and the names at the end."""
    notebook = nbformat.read(file, as_version=4)
    nbformat.validate(notebook)
    shown, names = [], {"__name__": "__main__"}
    for cell in notebook.cells:
        if cell.cell_type != "code":
            continue
        lines = ast.parse(cell.source, str(file))
        last = lines.body.pop() if lines.body and isinstance(lines.body[-1], ast.Expr) else None
        exec(compile(lines, str(file), "exec"), names)
        shown.append(eval(compile(ast.Expression(last.value), str(file), "eval"), names) if last else None)
    return shown, names
