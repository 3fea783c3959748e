"""Compare two results figure by figure: what did a change of the program do?

Reads every Parquet table of two results folders (all studies), or of two folders of one study; runs, logs and the
page's copies are left out. Rows are matched by the columns that name them, whatever their order; figures are compared
to a relative tolerance, text exactly. Writes a line a table to stdout: rows, figures compared, those that differ with
the largest difference and its row, columns added and removed, text that differs. Exit code 1 where a figure differs, or
a row or table is not found again; 0 where only text differs, or a column or table is new.

    sweetspot compare-results before/results results
    sweetspot compare-results before/results/rare-2018 results/rare-2018 --tolerance 1e-6
"""

import argparse
from pathlib import Path

from sweetspot.commands.table_difference import Cell, Difference, difference
from sweetspot.errors import UserError
from sweetspot.files import read_parquet

APART = {"benchmarks", "logs", "report"}  # runs, logs and the page's copies of the tables are no results of their own
SHOWN = 60  # characters of a text cell


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot compare-results`."""
    parser.add_argument("before", type=Path, metavar="BEFORE", help="a results folder, or results/STUDY")
    parser.add_argument("after", type=Path, metavar="AFTER", help="the other one, of the same kind")
    parser.add_argument(
        "--tolerance", type=float, default=1e-9, help="relative difference up to which figures are equal (1e-9)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Print a line a table; 1 where a figure, a row or a table of BEFORE is not found again, else 0."""
    if not arguments.tolerance >= 0:
        raise UserError(f"--tolerance is {arguments.tolerance}; expected a number that is not negative")
    before, after = tables_below(arguments.before), tables_below(arguments.after)
    same, compared, figures, texts = True, 0, 0, 0
    for study in sorted(before.keys() | after.keys()):
        print(study)
        old, new = before.get(study, {}), after.get(study, {})
        for name in sorted(old.keys() | new.keys()):
            if name not in new or name not in old:
                print(f"  {name}: only {'before' if name in old else 'after'}")
                same &= name in new
                continue
            found = difference(read_parquet(old[name]), read_parquet(new[name]), arguments.tolerance)
            print(f"  {name}: {line(found)}")
            same &= found.same_figures
            compared, figures, texts = compared + 1, figures + found.figures, texts + found.texts
    verdict = "all equal" if same else "NOT all equal"
    reworded = f"; {texts:,} text cells differ" if texts else ""
    print(f"{compared} tables, {figures:,} figures compared to {arguments.tolerance:g}: {verdict}{reworded}")
    return 0 if same else 1


def tables_below(folder: Path) -> dict[str, dict[str, Path]]:
    """Parquet files by study and by name (`costs/aws`). A folder of one study is the study "".

    Raises UserError where there is none.
    """
    if (folder / "throughput.parquet").is_file():
        found = {"": _tables(folder)}
    else:
        subfolders = sorted(folder.iterdir()) if folder.is_dir() else []
        studies = {entry.name: _tables(entry) for entry in subfolders if entry.is_dir() and entry.name not in APART}
        found = {name: tables for name, tables in studies.items() if tables}
    if not any(found.values()):
        raise UserError(f"{folder}: no table is below it; expected a folder such as results or results/STUDY")
    return found


def _tables(folder: Path) -> dict[str, Path]:
    named = {file.relative_to(folder): file for file in sorted(folder.rglob("*.parquet"))}
    return {str(name.with_suffix("")): file for name, file in named.items() if name.parts[0] not in APART}


def line(found: Difference) -> str:
    """A difference in one line: rows, figures, columns, text."""
    rows = f"{found.rows_before} rows" if found.rows_before == found.rows_after else ""
    parts = [rows or f"{found.rows_before} -> {found.rows_after} rows", f"{found.figures} figures"]
    if found.moved and found.worst:
        parts.append(f"{found.moved} DIFFER, most by {found.largest:.3g} in {_cell(found.worst)}")
    for when, only in (("before", found.only_before), ("after", found.only_after)):
        if only:
            parts.append(f"{len(only)} ROWS ONLY {when.upper()}, such as {_row(only[0])}")
    if found.added:
        parts.append(f"columns added: {', '.join(found.added)}")
    if found.removed:
        parts.append(f"columns removed: {', '.join(found.removed)}")
    if found.texts and found.example:
        parts.append(f"{found.texts} text cells differ, such as {_cell(found.example)}")
    return "; ".join(parts)


def _cell(cell: Cell) -> str:
    before, after = _value(cell.before), _value(cell.after)
    if max(len(before), len(after)) > SHOWN:
        # A long text is shown from a little before the place where the two part.
        apart = next((at for at, (a, b) in enumerate(zip(before, after, strict=False)) if a != b), 0)
        start = max(0, apart - SHOWN // 4)
        before, after = (f"{'...' if start else ''}{_short(text[start:])}" for text in (before, after))
    return f"{cell.column}: {before or 'nothing'} -> {after or 'nothing'} ({_row(cell.row)})"


def _row(names: dict[str, str]) -> str:
    return ", ".join(f"{name} {_short(value)}" for name, value in names.items())


def _value(value: object) -> str:
    return f"{value:.12g}" if isinstance(value, float) else " ".join(str(value).split())


def _short(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
