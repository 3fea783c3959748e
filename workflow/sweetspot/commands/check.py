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

from sweetspot.commands.read_study import Findings, counted, read_study


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the command line of `sweetspot check`."""
    parser.add_argument("study", metavar="STUDY", help="a folder under config/studies/")
    parser.add_argument("--config", type=Path, default=Path("config"), help="the project's config folder (config)")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead, for programs")


def run(arguments: argparse.Namespace) -> int:
    """Print all mistakes; return 2 where there is one. Raises UserError where the study does not exist."""
    findings = read_study(arguments.study, arguments.config)
    folder = arguments.config / "studies" / arguments.study
    sys.stdout.write(as_json(folder, findings) if arguments.json else as_text(folder, findings))
    return 2 if findings.errors else 0


def as_text(folder: Path, findings: Findings) -> str:
    """Return a line for each mistake and each warning, then one line about what was read."""
    lines = [f"error: {sentence}" for _, sentence in findings.errors]
    lines += [f"warning: {file}: {sentence} ({rule})" for file, rule, sentence in findings.warnings]
    lines += [f"not checked: {sentence}" for sentence in findings.unchecked]
    prefix = f"{folder}{os.sep}"
    contents = ", ".join(f"{file.removeprefix(prefix)} ({content})" for file, content in findings.read.items())
    mistakes = counted(len(findings.errors), "mistake") if findings.errors else "no mistake"
    warnings = counted(len(findings.warnings), "warning")
    lines.append(f"{folder}: {mistakes}, {warnings}; read {contents or 'nothing'}")
    return "\n".join(lines) + "\n"


def as_json(folder: Path, findings: Findings) -> str:
    """Return the same as an object: study, ok, errors (file, message), warnings (file, rule, message), ..."""
    content = {
        "study": folder.name,
        "ok": not findings.errors,
        "errors": [{"file": file, "message": sentence} for file, sentence in findings.errors],
        "warnings": [{"file": file, "rule": rule, "message": sentence} for file, rule, sentence in findings.warnings],
        "unchecked": findings.unchecked,
        "read": [{"file": file, "holds": content} for file, content in findings.read.items()],
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
