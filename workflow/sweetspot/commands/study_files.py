"""The files of a project's studies, read and written whole."""

from collections.abc import Mapping
from pathlib import Path

from sweetspot.files import write_text
from sweetspot.matrix.invocation import instance_files
from sweetspot.study.instances import Instance, load_instances


def machines_of_study(root: Path, study: str) -> dict[str, Instance]:
    """Return all machines that a study may name, by name; {} where no file declares one."""
    files = [file for file in instance_files(root, study) if file.is_file()]
    return load_instances(*files) if files else {}


def write_texts(folder: Path, texts: Mapping[Path, str] | Mapping[str, str]) -> None:
    """Write each text to its path below a folder, whole or not at all, with the line ends of the text."""
    for path, text in texts.items():
        write_text(folder / path, text, lasting=True)


def read_text(file: Path) -> str:
    """Return the text of a UTF-8 file with its line ends unchanged."""
    return file.read_bytes().decode("utf-8")
