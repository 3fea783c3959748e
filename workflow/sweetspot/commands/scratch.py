"""A project's configuration to try an edit in: what is wrong with it is known before anything is written."""

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
    """A config folder like `root`, with links to all of it but the folder of `study`, whose files are linked.

    A file of the study is replaced there by writing it whole: the link goes, what it pointed to stays.
    """
    studies = root / "studies"
    with in_a_sentence(studies), tempfile.TemporaryDirectory(dir=studies, prefix=".new-") as made:
        scratch = Path(made) / "config"
        (scratch / "studies").mkdir(parents=True)
        _link(root, scratch, {"studies"})
        _link(studies, scratch / "studies", {study, Path(made).name})
        own = studies / study
        if own.is_dir():
            (scratch / "studies" / study / "prices").mkdir(parents=True)
            _link(own, scratch / "studies" / study, {"prices"})
            _link(own / "prices", scratch / "studies" / study / "prices", set())
        yield scratch


def _link(source: Path, target: Path, but: set[str]) -> None:
    for entry in source.iterdir() if source.is_dir() else ():
        if entry.name not in but:
            (target / entry.name).symlink_to(entry.resolve())


def studies_of(config: Path) -> list[str]:
    """The names of the studies of a project."""
    return sorted(file.parent.name for file in (config / "studies").glob("*/study.yaml"))


def machines_of_study(root: Path, study: str) -> dict[str, Instance]:
    """All machines that a study may name, where it has any."""
    return load_instances(*(file for file in instance_files(root, study) if file.is_file()))


def tried(root: Path, study: str, texts: Mapping[Path, str]) -> Findings:
    """What `sweetspot check` would say of the study with the `texts` (path below its folder) in it.

    Raises UserError of the mistakes that it would have and has not.
    """
    with scratch_config(root, study) as scratch:
        before = set(said_of(read_study(study, scratch), scratch, root))
        write_texts(scratch / "studies" / study, texts)
        found = read_study(study, scratch)
        refuse(words for words in said_of(found, scratch, root) if words not in before)
        return found


def said_of(found: Findings, scratch: Path, root: Path) -> list[str]:
    """The mistakes, by the names that the files have in the project."""
    return [words.replace(str(scratch), str(root)) for _, words in found.errors]


def write_texts(folder: Path, texts: Mapping[Path, str] | Mapping[str, str]) -> None:
    """Write files, by path below the folder, whole, with the line ends of the texts."""
    for path, text in texts.items():
        with write_whole(folder / path, lasting=True) as temporary:
            temporary.write_bytes(text.encode("utf-8"))


def read_text(file: Path) -> str:
    """The text with its own line ends; empty for a file that is not there."""
    return file.read_bytes().decode("utf-8") if file.is_file() else ""


def shown(folder: Path, texts: Mapping[Path, str]) -> str:
    """What writing the texts would change, as a diff."""
    lines: list[str] = []
    for path, text in texts.items():
        old = read_text(folder / path)
        before, after = (one.replace("\r\n", "\n").splitlines(keepends=True) for one in (old, text))
        lines += difflib.unified_diff(before, after, str(folder / path) if old else "none", str(folder / path), n=2)
    return "".join(lines)
