"""Edits of a study's files: tried in a temporary copy of the configuration before anything is written."""

import difflib
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from sweetspot.commands.read_study import Findings, read_study
from sweetspot.errors import refuse
from sweetspot.files import in_a_sentence, write_whole
from sweetspot.matrix.invocation import instance_files
from sweetspot.study.instances import Instance, load_instances


@contextmanager
def scratch_config(root: Path, study: str) -> Iterator[Path]:
    """Make a temporary config folder with links to the files of `root`.

    A file of the study is replaced there by writing it whole: the link goes, the file that it pointed to stays.
    """
    studies = root / "studies"
    with in_a_sentence(studies), tempfile.TemporaryDirectory(dir=studies, prefix=".new-") as temporary:
        scratch = Path(temporary) / "config"
        (scratch / "studies").mkdir(parents=True)
        _link(root, scratch, {"studies"})
        _link(studies, scratch / "studies", {study, Path(temporary).name})
        if (studies / study).is_dir():
            (scratch / "studies" / study / "prices").mkdir(parents=True)
            _link(studies / study, scratch / "studies" / study, {"prices"})
            _link(studies / study / "prices", scratch / "studies" / study / "prices", set())
        yield scratch


def _link(source: Path, target: Path, excluded: set[str]) -> None:
    for entry in source.iterdir() if source.is_dir() else ():
        if entry.name not in excluded:
            (target / entry.name).symlink_to(entry.resolve())


def studies_of(config: Path) -> list[str]:
    """Return the names of the studies of a project."""
    return sorted(file.parent.name for file in (config / "studies").glob("*/study.yaml"))


def machines_of_study(root: Path, study: str) -> dict[str, Instance]:
    """Return all machines that a study may name."""
    files = [file for file in instance_files(root, study) if file.is_file()]
    return load_instances(*files) if files else {}


def check_edit(root: Path, study: str, texts: Mapping[Path, str]) -> None:
    """Refuse an edit after which `sweetspot check` would find a mistake that it does not find now.

    Parameters
    ----------
    root
        The project's config folder.
    study
        Name of the study.
    texts
        New text by path below the folder of the study.

    Raises
    ------
    UserError
        One sentence per new mistake.

    """
    with scratch_config(root, study) as scratch:
        before = error_sentences(read_study(study, scratch), scratch, root)
        write_texts(scratch / "studies" / study, texts)
        after = error_sentences(read_study(study, scratch), scratch, root)
    refuse(sentence for sentence in after if sentence not in before)


def error_sentences(findings: Findings, scratch: Path, root: Path) -> list[str]:
    """Return the mistakes with the paths that the files have in the project."""
    return [sentence.replace(str(scratch), str(root)) for _, sentence in findings.errors]


def write_texts(folder: Path, texts: Mapping[Path, str] | Mapping[str, str]) -> None:
    """Write whole files, by path below the folder, with the line ends of the texts."""
    for path, text in texts.items():
        with write_whole(folder / path, lasting=True) as temporary:
            temporary.write_bytes(text.encode("utf-8"))


def read_text(file: Path) -> str:
    """Return the text of a file with its line ends; "" if the file is missing."""
    return file.read_bytes().decode("utf-8") if file.is_file() else ""


def diff_texts(folder: Path, texts: Mapping[Path, str]) -> str:
    """Return what writing the texts would change, as a unified diff."""
    lines: list[str] = []
    for path, text in texts.items():
        old_text = read_text(folder / path)
        before, after = (each.replace("\r\n", "\n").splitlines(keepends=True) for each in (old_text, text))
        name = str(folder / path)
        lines += difflib.unified_diff(before, after, name if old_text else "none", name, n=2)
    return "".join(lines)
