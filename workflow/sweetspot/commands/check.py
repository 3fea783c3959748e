"""Print all mistakes and warnings of a study."""

import json
import os
from pathlib import Path

from sweetspot.commands.read_study import Findings, counted, read_study


def run(study: str, config: Path, as_json: bool) -> int:
    """Print all mistakes.

    Parameters
    ----------
    study
        Name of the study.
    config
        Config folder of the project.
    as_json
        Print one JSON object instead of text.

    Returns
    -------
    int
        2 where there is a mistake, else 0.

    Raises
    ------
    UserError
        The study does not exist.

    """
    findings, folder = read_study(study, config), config / "studies" / study
    print(as_object(folder, findings) if as_json else as_text(folder, findings))
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
    return "\n".join(lines)


def as_object(folder: Path, findings: Findings) -> str:
    """Return the same as JSON: study, ok, errors (file, message), warnings (file, rule, message), ..."""
    content = {
        "study": folder.name,
        "ok": not findings.errors,
        "errors": [{"file": file, "message": sentence} for file, sentence in findings.errors],
        "warnings": [{"file": file, "rule": rule, "message": sentence} for file, rule, sentence in findings.warnings],
        "unchecked": findings.unchecked,
        "read": [{"file": file, "holds": content} for file, content in findings.read.items()],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)
