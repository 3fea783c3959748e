"""Runs that are to be made again stay requested until they are: Snakemake forgets a rerun that failed.

Snakemake compares a run's parameters with those that it recorded when its job last ended, well or not. A run file that
is kept because its rerun was refused would then pass for one of the new protocol. So every invocation notes, before it
starts, which run files it is to replace; where one is still the same later, its run is the next attempt. The number of
the attempt is among the parameters, and so differs from the recorded one.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from sweetspot.files import write_whole

NOTES = Path(".snakemake/sweetspot/reruns.json")  # removed with Snakemake's records


class RerunNote(NamedTuple):
    """A run file that an invocation was to replace: the digest of the old file, and the number of the attempt."""

    fingerprint: str
    attempt: int

    def is_unchanged(self, file: str) -> bool:
        """True if the file is still the old one."""
        return Path(file).is_file() and _fingerprint(file) == self.fingerprint


def attempts(notes: Path = NOTES) -> dict[str, int]:
    """Return the attempt of each noted run: one more than before where its file was not replaced."""
    return {file: note.attempt + note.is_unchanged(file) for file, note in _read(notes).items()}


def must_replace(file: str, notes: Path = NOTES) -> bool:
    """True if the run file is still the one that this invocation, or one before it, was to replace."""
    note = _read(notes).get(file)
    return note is not None and note.is_unchanged(file)


def note_reruns(files: Iterable[str], numbers: Mapping[str, int], notes: Path = NOTES) -> None:
    """Note which run files are there that this invocation is to replace.

    Parameters
    ----------
    files
        Run files to be made.
    numbers
        This invocation's numbers of their attempts.
    notes
        Where the notes are kept.
    """
    present = {file: RerunNote(_fingerprint(file), numbers.get(file, 0)) for file in files if Path(file).is_file()}
    if present:
        _write(_read(notes) | present, notes)


def settle(notes: Path = NOTES) -> None:
    """Drop the notes of runs that were made at the first attempt, which are most."""
    noted = _read(notes)
    open_notes = {file: note for file, note in noted.items() if note.attempt or note.is_unchanged(file)}
    if open_notes != noted:
        _write(open_notes, notes)


def _read(notes: Path) -> dict[str, RerunNote]:
    if not notes.is_file():
        return {}
    return {file: RerunNote(*values) for file, values in json.loads(notes.read_text()).items()}


def _write(noted: Mapping[str, RerunNote], notes: Path) -> None:
    with write_whole(notes, lasting=True) as temporary:
        temporary.write_text(json.dumps(noted, indent=0, sort_keys=True))


def _fingerprint(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
