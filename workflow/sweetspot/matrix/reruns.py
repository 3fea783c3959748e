"""Runs that are to be made again stay asked for until they are: Snakemake forgets a rerun that failed.

Snakemake compares a run's parameters with those that it recorded when its job last ended, well or not. A run file that
is kept because its rerun was refused would then pass for one of the new protocol. So every invocation notes, before it
starts, which run files it is to replace; where one is still the same later, its run is the next attempt. The number of
the attempt is among the parameters, and so differs from the one recorded.
"""

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from sweetspot.files import write_whole

NOTES = Path(".snakemake/sweetspot/reruns.json")  # beside the records that it puts right; gone with them


class Note(NamedTuple):
    """A run file that an invocation was to replace."""

    fingerprint: str  # of the file as it was
    attempt: int  # the number that the invocation gave the run

    def holds(self, file: str) -> bool:
        """Whether the file is still the one that was to be replaced."""
        return Path(file).is_file() and _fingerprint(file) == self.fingerprint


def attempts(notes: Path = NOTES) -> dict[str, int]:
    """The attempt that each noted run is: one more than before where its file was not replaced; others are 0."""
    return {file: note.attempt + note.holds(file) for file, note in _read(notes).items()}


def asked_to_replace(file: str, notes: Path = NOTES) -> bool:
    """Whether the run file is still the one that this invocation, or one before it, was to replace."""
    note = _read(notes).get(file)
    return note is not None and note.holds(file)


def note_reruns(asked: Iterable[str], numbers: Mapping[str, int], notes: Path = NOTES) -> None:
    """Note the run files of `asked` that are there, with this invocation's `numbers` of their attempts."""
    found = {file: Note(_fingerprint(file), numbers.get(file, 0)) for file in asked if Path(file).is_file()}
    if found:
        _write(_read(notes) | found, notes)


def settle(notes: Path = NOTES) -> None:
    """Drop the notes of runs that were made at the first attempt, which are most."""
    noted = _read(notes)
    kept = {file: note for file, note in noted.items() if note.attempt or note.holds(file)}
    if kept != noted:
        _write(kept, notes)


def _read(notes: Path) -> dict[str, Note]:
    if not notes.is_file():
        return {}
    return {file: Note(*values) for file, values in json.loads(notes.read_text()).items()}


def _write(noted: Mapping[str, Note], notes: Path) -> None:
    with write_whole(notes, lasting=True) as temporary:
        temporary.write_text(json.dumps(noted, indent=0, sort_keys=True))


def _fingerprint(file: str) -> str:
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()
