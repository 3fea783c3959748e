"""Print all mistakes and warnings of a study."""

import json
from pathlib import Path

from sweetspot.commands.read_study import Findings, read_study


def run(study: str, config: Path, as_json: bool) -> int:
    """Print all mistakes of a study.

    Parameters
    ----------
    study, config
        Its name, and the config folder of the project.
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
    print(as_object(study, findings) if as_json else as_text(folder, findings))
    return 2 if findings.errors else 0


def as_text(folder: Path, findings: Findings) -> str:
    """Return a line for each mistake and each warning, then one line about what was read."""
    lines = [f"error: {sentence}" for _, sentence in findings.errors]
    lines += [f"warning: {file}: {sentence} ({rule})" for file, rule, sentence in findings.warnings]
    entries = ", ".join(f"{Path(file).name} ({number})" for file, number in findings.read.items())
    counts = f"mistakes: {len(findings.errors)}, warnings: {len(findings.warnings)}"
    lines.append(f"{folder}: {counts}; read, with the number of entries: {entries or 'nothing'}")
    return "\n".join(lines)


def as_object(study: str, findings: Findings) -> str:
    """Return the same as JSON: study, ok, errors (file, message), warnings (file, rule, message), read."""
    content = {
        "study": study,
        "ok": not findings.errors,
        "errors": [{"file": file, "message": sentence} for file, sentence in findings.errors],
        "warnings": [{"file": file, "rule": rule, "message": sentence} for file, rule, sentence in findings.warnings],
        "read": [{"file": file, "entries": number} for file, number in findings.read.items()],
    }
    return json.dumps(content, indent=2, ensure_ascii=False)
