"""Golden answers: what each shipped study answers, as small JSON files that a rewrite must reproduce; and its words.

    python tests/support/golden.py RESULTS                # compare the studies made in RESULTS with tests/golden/
    python tests/support/golden.py RESULTS --write        # freeze what stands there; only when an answer was corrected
    python tests/support/golden.py RESULTS --write-words  # freeze the words; read the difference, sentence by sentence

The words of a study are its summary.md and what its first page shows, a text a line. No other test holds a sentence.

`RESULTS` is a folder that `snakemake --config study=NAME 'measure_on=[]'` has filled, one folder a study. A study is
made without measuring, so that every figure follows from files of the project and from named random streams.
"""

import argparse
import difflib
import html
import json
import math
import re
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

GOLDEN = Path(__file__).parents[1] / "golden"
RELATIVE_TOLERANCE = 1e-6
# A figure below this, in USD, hours or as a probability, equals zero.
ABSOLUTE_TOLERANCE = 1e-9
# Enough digits for the tolerance, few enough for files that a person can read.
SIGNIFICANT_DIGITS = 10

CELL = ("instance", "framework", "model", "batch_size", "gpus", "precision", "variant")
METHODS = ("mean_efficiency", "usl", "learned", "sum_of_parts")
# Per section: the table, the columns that name a row, and the columns that must not change.
SECTIONS: dict[str, tuple[str, Sequence[str], Sequence[str]]] = {
    "verdicts": (
        "comparison/verdict.parquet",
        ("workload",),
        ("level", "kind", "best", "rival", "confidence", "usd", "rival_usd", "ratio", "ratio_low", "ratio_high",
         "p_cheaper", "buy_below_usd")
    ),
    "choices": (
        "comparison/choices.parquet",
        ("workload", "choice"),
        ("kind", "usd", "usd_low", "usd_high", "p_cheapest", "p_cheaper")
    ),
    "break_even": (
        "comparison/break_even.parquet",
        ("workload", "model", "reference", "option", "quantity", "subject"),
        ("break_even_value", "break_even_low", "break_even_high", "p_pays", "days", "days_low", "days_high")
    ),
    "turning_points": (
        "comparison/turning_points.parquet",
        ("workload", "model", "quantity", "subject", "side"),
        ("value", "turning_value", "factor")
    ),
    "claims": ("comparison/claims.parquet", ("id", "text"), ("verdict", "printed", "computed")),
    "throughput": (
        "throughput.parquet",
        (*CELL, "round"),
        ("images_per_s", "images_per_s_low", "images_per_s_high", "basis", "unit")
    ),
    "extrapolation": (
        "extrapolation.parquet",
        (*CELL, "method", "base_instance", "round"),
        ("efficiency", "images_per_s", "images_per_s_low", "images_per_s_high", "basis")
    )
}  # fmt: skip


def study_answers(folder: Path) -> dict[str, dict[str, dict[str, Any]]]:
    """Read the answers of a study from its results: by section, row and column."""
    answers = {}
    for section, (file, naming_columns, columns) in SECTIONS.items():
        table = pd.read_parquet(folder / file)
        if section == "choices":
            table = table[table["why_not"].isna()]
        if section == "extrapolation":
            table = table[table["method"].isin(METHODS)]
        answers[section] = _rows_by_name(table, naming_columns, columns)
    return answers


def _rows_by_name(
    table: pd.DataFrame, naming_columns: Sequence[str], columns: Sequence[str]
) -> dict[str, dict[str, Any]]:
    rows: dict[str, dict[str, Any]] = {}
    for record in table.to_dict("records"):
        parts = [record.get(column) for column in naming_columns]
        name = " | ".join(_text(part) for part in parts)
        repeats = sum(other == name or other.startswith(f"{name} #") for other in rows)
        rows[f"{name} #{repeats + 1}" if repeats else name] = {
            column: _plain(record[column]) for column in columns if column in record
        }
    return dict(sorted(rows.items()))


def _text(value: Any) -> str:
    """A part of a row's name; numbers in it, such as those of a correlation key, have six digits."""
    if value is None or value is pd.NA or value != value:
        return "-"
    return re.sub(r"\d+\.\d{6,}", lambda number: f"{float(number[0]):.6g}", str(value))


def _plain(value: Any) -> Any:
    if value is None or value is pd.NA or value != value:
        return None
    if isinstance(value, str):
        return value
    number = float(value)
    return float(f"{number:.{SIGNIFICANT_DIGITS}g}") if math.isfinite(number) else str(number)


def study_words(folder: Path) -> str:
    """Return the words of a study: the summary, then each text of the page."""
    report = folder / "report"
    page = re.sub(r"<(script|style)\b.*?</\1>", "", (report / "index.html").read_text(encoding="utf-8"), flags=re.S)
    texts = (html.unescape(text).strip() for text in re.split(r"<[^>]+>", page))
    summary = (report / "summary.md").read_text(encoding="utf-8")
    return f"{summary}\n--- index.html\n" + "".join(f"{' '.join(text.split())}\n" for text in texts if text)


def words_file(study: str) -> Path:
    """The file with the frozen words of one study."""
    return GOLDEN / f"{study}.txt"


def word_differences(study: str, words: str) -> list[str]:
    """Return the lines that went and came, with a sign before each."""
    frozen = words_file(study).read_text(encoding="utf-8").splitlines()
    return [line for line in difflib.ndiff(frozen, words.splitlines()) if line[0] in "+-"]


def differences(expected: Mapping[str, Any], actual: Mapping[str, Any], path: str = "") -> Iterator[str]:
    """Name each value that is missing, new or different by more than the tolerance."""
    for key in expected.keys() | actual.keys():
        name = f"{path} / {key}" if path else key
        if expected.get(key) is None and actual.get(key) is None:
            continue  # a column without a value here, which that table did not have
        if key not in actual or key not in expected:
            yield f"{name}: {'is missing' if key not in actual else 'is new'}"
        elif isinstance(expected[key], dict):
            yield from differences(expected[key], actual[key], name)
        elif not _equal(expected[key], actual[key]):
            yield f"{name}: {expected[key]} became {actual[key]}"


def _equal(expected: Any, actual: Any) -> bool:
    if isinstance(expected, float) and isinstance(actual, float):
        return math.isclose(expected, actual, rel_tol=RELATIVE_TOLERANCE, abs_tol=ABSOLUTE_TOLERANCE)
    return bool(expected == actual)


def read_golden(study: str) -> dict[str, Any]:
    """Read the frozen answers of one study."""
    golden: dict[str, Any] = json.loads((GOLDEN / f"{study}.json").read_text(encoding="utf-8"))
    return golden


def write_golden(study: str, answers: Mapping[str, Any]) -> None:
    """Freeze the answers of one study, one row a line."""
    lines = []
    for section, rows in answers.items():
        body = ",\n".join(f"  {json.dumps(name)}: {json.dumps(row)}" for name, row in rows.items())
        lines.append(f" {json.dumps(section)}: {{\n{body}\n }}" if rows else f" {json.dumps(section)}: {{}}")
    (GOLDEN / f"{study}.json").write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def main() -> int:
    """Compare or write the golden answers; return 1 where one differs."""
    parser = argparse.ArgumentParser(description="Compare studies with the golden answers, or freeze them.")
    parser.add_argument("results", type=Path, help="folder with one folder of results a study")
    parser.add_argument("--write", action="store_true", help="freeze what stands there")
    parser.add_argument("--write-words", action="store_true", help="freeze the words alone")
    parser.add_argument("--studies", nargs="*", help="only these studies")
    options = parser.parse_args()
    names = options.studies or sorted(path.parent.name for path in options.results.glob("*/throughput.parquet"))
    found = 0
    for study in names:
        answers, words = study_answers(options.results / study), study_words(options.results / study)
        if options.write or options.write_words:
            words_file(study).write_text(words, encoding="utf-8")
        if options.write:
            write_golden(study, answers)
        if options.write or options.write_words:
            continue
        for text in sorted(differences(read_golden(study), answers)):
            print(f"{study}: {text}")
            found += 1
        for text in word_differences(study, words):
            print(f"{study}: {text}")
            found += 1
    return int(found > 0)


if __name__ == "__main__":
    sys.exit(main())
