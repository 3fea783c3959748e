"""Print all mistakes and warnings of a study."""

from pathlib import Path

from sweetspot.commands.read_study import read_study
from sweetspot.commands.render import render, to_json


def run(study: str, config: Path, as_json: bool) -> int:
    """Print all mistakes and warnings of a study as text or JSON; return 2 where there is a mistake, else 0.

    Parameters
    ----------
    study, config
        Name of the study, and the project's config folder. Raises UserError for a study that does not exist.
    as_json
        Print one JSON object instead of text.
    """
    findings = read_study(study, config)
    content = {
        "study": study,
        "ok": not findings.errors,
        "errors": [{"file": file, "message": sentence} for file, sentence in findings.errors],
        "warnings": [{"file": file, "rule": rule, "message": sentence} for file, rule, sentence in findings.warnings],
        "read": [{"file": file, "entries": number} for file, number in findings.read.items()],
    }
    print(to_json(content) if as_json else render("check.txt", **content))
    return 2 if findings.errors else 0
