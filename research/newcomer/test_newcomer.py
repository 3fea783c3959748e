"""The README as a newcomer reads it: its command blocks, typed in order in an empty root with only Python.

The blocks are the source: a command added there is typed here too, and must at least end well; what it promises beyond
that is looked up in PROMISES. The root holds the tracked files; the environment is made by the README's own first
command, from the package cache that pip has. Two things are not as a newcomer finds them, both to save minutes: the
matrix has one small network instead of three large ones, and what needs a device or a cluster is left out, by name.
"""

import os
import re
import resource
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from patience import PATIENCE_S
from project_copy import ROOT, edit, tracked_files
from readme_blocks import blocks

README = ROOT / "README.md"
LEFT_OUT = {
    r"^make test\b": "runs these tests",
    r"\bGPU=1\b": "needs an NVIDIA device",
    r"profiles/slurm\b": "needs a cluster; tests/cluster starts one",
    r"profiles/kubernetes\b": "needs a cluster; tests/cluster has its API",
    r"^make pdf\b": "needs Chromium; tests/browser prints one where it is",
}
TYPED = [command for block in blocks(README) if block.language == "sh" for command in block.commands]
NO_INDEX = re.compile(r"No matching distribution found|Failed to establish a new connection|Could not fetch URL")


def left_out(command: str) -> str | None:
    return next((reason for pattern, reason in LEFT_OUT.items() if re.search(pattern, command)), None)


class Newcomer:
    """A person at a shell in a fresh clone; activates the environment once there is one, as the README says."""

    def __init__(self, root: Path, home: Path) -> None:
        self.root, self.home = root, home
        self.spent: list[tuple[str, float, float]] = []

    def environment(self) -> dict[str, str]:
        keep = ("PIP_", "SSL_", "REQUESTS_", "HTTP", "HTTPS", "NO_PROXY", "http", "https", "no_proxy", "LANG", "TMPDIR")
        known = {name: value for name, value in os.environ.items() if name.startswith(keep)}
        path = [str(self.root / ".venv" / "bin")] if (self.root / ".venv" / "bin" / "snakemake").exists() else []
        own = {"PATH": os.pathsep.join([*path, str(self.home / "bin"), "/usr/bin", "/bin"]), "HOME": str(self.home)}
        cache = os.environ.get("PIP_CACHE_DIR") or str(Path.home() / ".cache" / "pip")
        return known | own | {"PIP_CACHE_DIR": cache, "TF_CPP_MIN_LOG_LEVEL": "3"}

    def types(self, command: str) -> str:
        began, used = time.monotonic(), _cpu_s()
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=self.root,
            env=self.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        self.spent.append((command, time.monotonic() - began, _cpu_s() - used))
        if done.returncode != 0 and NO_INDEX.search(done.stdout):
            pytest.skip("no package index is reached from here, so that no environment can be made")
        assert done.returncode == 0, f"README: {command}\n{done.stdout[-5000:]}"
        return done.stdout


def _cpu_s() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return children.ru_utime + children.ru_stime


@pytest.fixture(scope="module")
def newcomer(tmp_path_factory):
    """An empty root with the tracked files, Python as `python3`, and nothing installed; removed afterwards."""
    folder = tmp_path_factory.mktemp("newcomer")
    root = folder / "sweetspot"
    for file in tracked_files():
        (root / file).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(ROOT / file, root / file)
    config = root / "config" / "config.yaml"
    edit(config, "model: [inception3, resnet50, vgg16]", "model: [tiny_cnn]")
    edit(config, "min_seconds: 20", "min_seconds: 1")
    (folder / "home" / "bin").mkdir(parents=True)
    (folder / "home" / "bin" / "python3").symlink_to(Path(sys.base_prefix) / "bin" / "python3")
    yield Newcomer(root, folder / "home")
    shutil.rmtree(folder)


def made(newcomer: Newcomer) -> dict[Path, float]:
    kept = [file for file in newcomer.root.glob("results/**/*") if file.is_file()]
    return {file: file.stat().st_mtime for file in kept}


def study_of(newcomer: Newcomer, command: str) -> str:
    named = re.search(r"\b(?:STUDY|study)=([\w.-]+)", command)
    default = re.search(r"^study: *(\S+)", (newcomer.root / "config" / "config.yaml").read_text(), re.M)
    return (named or default)[1]


def require_page(root: Path, study: str) -> None:
    page = root / "results" / study / "report" / "index.html"
    text = page.read_text()
    assert text.rstrip().endswith("</html>") and "<script src" not in text
    # "The first two sentences of the page are the answer": the first is the one in bold.
    answer = re.search(r"^\*\*(.+?)\*\*", (page.parent / "summary.md").read_text(), re.M)
    assert answer, "no answer in summary.md"


def test_every_block_in_order(newcomer, capsys):
    """What each command promises beyond ending well, by what it is."""
    typed = 0
    for command in TYPED:
        if left_out(command):
            continue
        typed += 1
        before = made(newcomer)
        name = re.search(r"^make study\b.*\bNAME=([\w-]+)", command)
        if name:  # several ways to make the same study stand one below the other: one of them is typed
            shutil.rmtree(newcomer.root / "config" / "studies" / name[1], ignore_errors=True)
        said = newcomer.types(command)
        if name:
            assert {"study.yaml", "instances.yaml", "workloads.yaml", "prices"} <= {
                file.name for file in (newcomer.root / "config" / "studies" / name[1]).iterdir()
            }
        elif command.startswith("make report"):
            shown = re.search(r"^Report: (.*)$", said, re.M)
            assert shown, said[-2000:]
            page = newcomer.root / "results" / study_of(newcomer, command) / "report" / "index.html"
            assert Path(shown[1]).samefile(page)
            require_page(newcomer.root, study_of(newcomer, command))
        elif command.startswith("snakemake"):
            if re.search(r" (-n|--dry-run)\b", command):
                assert made(newcomer) == before, "a plan made or changed a file"
            elif not re.search(r" (throughput|scaling|costs|comparison)\b", command):
                require_page(newcomer.root, study_of(newcomer, command))
            # What was measured stays: nothing that is typed after the first call measures the same again.
            runs = {file: when for file, when in before.items() if "benchmarks" in file.parts}
            assert {file: made(newcomer)[file] for file in runs} == runs
    assert typed >= 4
    with capsys.disabled():
        wall, cpu = sum(spent[1] for spent in newcomer.spent), sum(spent[2] for spent in newcomer.spent)
        for spent in [*newcomer.spent, ("together", wall, cpu)]:
            print(f"\n  {spent[1]:6.1f} s wall {spent[2]:6.1f} s CPU  {spent[0]}", end="")


def test_the_study_made_above_as_a_module_of_another_workflow(newcomer):
    """config/README.md's module as it stands there, but for the repository, which is this root; and its files."""
    if not (newcomer.root / "config" / "studies" / "mine").exists():
        pytest.skip("no study was made")
    (block,) = (block for block in blocks(ROOT / "config" / "README.md") if block.language == "python")
    text, changed = re.subn(r"github\(.*?\)", repr(str(newcomer.root / "workflow" / "Snakefile")), block.text)
    assert changed == 1 and '"study": "mine"' in text and 'prefix: "decision"' in text
    own = newcomer.home.parent / "another workflow"
    shutil.copytree(newcomer.root / "config" / "studies" / "mine", own / "config" / "studies" / "mine")
    shutil.copy(newcomer.root / "config" / "instances.yaml", own / "config")
    (own / "Snakefile").write_text(text)
    newcomer.types(f"cd '{own}' && snakemake --cores 2 --force-use-threads")
    require_page(own / "decision", "mine")
    assert {file.name for file in own.iterdir()} == {".snakemake", "Snakefile", "config", "decision"}
    assert "Nothing to be done" in newcomer.types(f"cd '{own}' && snakemake --cores 2 --dry-run")


def test_every_command_of_the_table_is_there_and_has_an_example(newcomer):
    if not (newcomer.root / ".venv" / "bin" / "sweetspot").exists():
        pytest.skip("no environment was made")
    listed = re.findall(r"^\| `sweetspot ([a-z][a-z-]*)\b[^`]*` \|", README.read_text(), re.M)
    assert len(listed) >= 9
    for name in listed:
        assert f"sweetspot {name}" in newcomer.types(f"sweetspot {name} --help")


def test_what_is_left_out_is_in_the_readme_and_has_a_reason():
    """A reason for a command that is there no more would hide what takes its place."""
    for pattern in (r"^make test\b", r"profiles/slurm\b"):
        assert any(re.search(pattern, command) for command in TYPED)
    skipped = [command for command in TYPED if left_out(command)]
    assert len(skipped) <= len(TYPED) / 2
