"""Print all mistakes and warnings of a study."""

import json
from pathlib import Path

from sweetspot.commands.read_study import read_study
from sweetspot.commands.render import render


def run(study: str, config: Path, as_json: bool) -> int:
    """Print all mistakes and warnings of a study.

    Parameters
    ----------
    study, config
        Name of the study, and the project's config folder.
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
    findings = read_study(study, config)
    content = {
        "study": study,
        "ok": not findings.errors,
        "errors": [{"file": file, "message": sentence} for file, sentence in findings.errors],
        "warnings": [{"file": file, "rule": rule, "message": sentence} for file, rule, sentence in findings.warnings],
        "read": [{"file": file, "entries": number} for file, number in findings.read.items()],
    }
    print(json.dumps(content, indent=2) if as_json else render("check.txt", **content))
    return 2 if findings.errors else 0
