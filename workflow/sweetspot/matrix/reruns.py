"""Runs that are to be made again stay requested until they are: Snakemake forgets a rerun that failed. It compares a
run's parameters with those that it recorded when its job last ended, well or not, so that a run file that is kept
because its rerun was refused would pass for one of the new protocol. So every invocation notes, before it starts, which
run files it is to replace; where one is still the same later, its run is the next attempt, whose number is a parameter.
"""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from sweetspot.files import checksum, write_whole

NOTES = Path(".snakemake/sweetspot/reruns.json")  # removed with Snakemake's records
Notes = dict[str, tuple[str, int]]  # by run file: the checksum of the old file, and the number of the attempt


def attempts(notes: Path = NOTES) -> dict[str, int]:
    """Return the attempt's number by noted run file: one more than noted where the file was not replaced."""
    return {file: number + _is_unchanged(file, old) for file, (old, number) in _read(notes).items()}


def must_replace(file: str, notes: Path = NOTES) -> bool:
    """Return True if the run file is still the one that this invocation, or one before it, was to replace."""
    return _is_unchanged(file, _read(notes).get(file, ("", 0))[0])


def note_reruns(files: Iterable[str], numbers: Mapping[str, int], notes: Path = NOTES) -> None:
    """Write down which existing run files (benchmark results) this invocation is to replace, so that a rerun that
    fails is tried again next time, though Snakemake forgets it.

    Parameters
    ----------
    files, numbers, notes
        Run files to be made; {run file: number of the attempt in this invocation}; the JSON file of the notes.
    """
    # Notes of runs that were made at the first attempt, which are most, are dropped.
    remaining: Notes = {file: note for file, note in _read(notes).items() if note[1] or _is_unchanged(file, note[0])}
    remaining |= {file: (checksum(file), numbers.get(file, 0)) for file in files if Path(file).is_file()}
    if remaining or notes.is_file():
        with write_whole(notes, lasting=True) as temporary:
            temporary.write_text(json.dumps(remaining, indent=0, sort_keys=True))


def _is_unchanged(file: str, old: str) -> bool:
    """Return True if the file exists and its checksum is `old`."""
    return Path(file).is_file() and checksum(file) == old


def _read(notes: Path) -> Notes:
    """Return the notes by run file, (checksum of the old file, number of the attempt); {} without notes."""
    return json.loads(notes.read_text()) if notes.is_file() else {}
