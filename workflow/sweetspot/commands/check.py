"""Read all that a person wrote for a study, and say everything that is wrong in it at once, before anything runs.

Reads config.yaml, instances.yaml, and of the study study.yaml, instances.yaml, workloads.yaml, prices/*.yaml,
claims.yaml, throughput.csv, efficiency.csv, time_to_target.csv: as the workflow would, measuring and writing nothing.
Prints a sentence for each mistake (file, key or line, value found, what is expected) and each warning, and last what
was read. Exit code 2 where anything is wrong, else 0: a warning is for you to judge.

    sweetspot check mine
    sweetspot check mine --json
"""

import argparse
import json
import os
import sys
from pathlib import Path

from sweetspot.commands.read_study import Findings, read_study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot check`."""
    parser.add_argument("study", metavar="STUDY", help="a folder under config/studies/")
    parser.add_argument("--config", type=Path, default=Path("config"), help="the project's config folder (config)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead, for programs")


def run(arguments: argparse.Namespace) -> int:
    """Print what is wrong; 2 where anything is. Raises UserError where there is no such study."""
    found = read_study(arguments.study, arguments.config)
    folder = arguments.config / "studies" / arguments.study
    sys.stdout.write(as_json(folder, found) if arguments.json else as_text(folder, found))
    return 2 if found.errors else 0


def as_text(folder: Path, found: Findings) -> str:
    """A line for each mistake and each warning, then one of what was read."""
    lines = [f"error: {sentence}" for _, sentence in found.errors]
    lines += [f"warning: {file}: {words} ({rule})" for file, rule, words in found.warnings]
    lines += [f"not checked: {words}" for words in found.unchecked]
    inside = f"{folder}{os.sep}"
    read = ", ".join(f"{file.removeprefix(inside)} ({what})" for file, what in found.read.items())
    mistakes = f"{len(found.errors)} mistake{'' if len(found.errors) == 1 else 's'}" if found.errors else "no mistake"
    counted = f"{mistakes}, {len(found.warnings)} warning{'' if len(found.warnings) == 1 else 's'}"
    return "\n".join([*lines, f"{folder}: {counted}; read {read or 'nothing'}"]) + "\n"


def as_json(folder: Path, found: Findings) -> str:
    """The same as an object: the study's name, ok, errors (file, message), warnings (file, rule, message), ..."""
    content = {
        "study": folder.name,
        "ok": not found.errors,
        "errors": [{"file": file, "message": words} for file, words in found.errors],
        "warnings": [{"file": file, "rule": rule, "message": words} for file, rule, words in found.warnings],
        "unchecked": found.unchecked,
        "read": [{"file": file, "holds": what} for file, what in found.read.items()],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
