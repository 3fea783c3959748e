"""`sweetspot` as a person types it: help, one sentence for an error, no noise on a closed pipe."""

import subprocess
import sys

import pytest
from project_copy import ROOT, environment
from sweetspot import __version__
from sweetspot.commands.cli import sweetspot
from sweetspot.commands.command_line import program


@pytest.fixture
def typed(capsys, monkeypatch):
    """A command line run in this process, where pandas is imported already: (exit code, stdout, stderr)."""

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["sweetspot", *arguments])
        with pytest.raises(SystemExit) as end:
            program()
        return end.value.code or 0, *capsys.readouterr()

    return call


def test_help_names_every_command_and_imports_no_table_and_no_framework():
    code = (
        "import sys; from sweetspot.commands.command_line import main\n"
        "main(['--help']); main(['import-use', '--help']); main(['doctor'])\n"
        "assert not {'pandas', 'numpy', 'pydantic', 'pyarrow', 'tensorflow', 'keras', 'torch'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(ROOT), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(f"\n  {name} " in done.stdout for name in sweetspot.commands)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["unknown"], "'unknown' is no command of sweetspot; expected new-study, check, ask, import-prices"),
        (["new-study", "../x"], "NAME is '../x'"),
        (["new-study", "x", "--config", "absent"], "absent/studies: the folder is needed and does not exist"),
    ],
)
def test_an_error_is_one_sentence_and_code_2(arguments, words, tmp_path, typed, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, stdout, stderr = typed(*arguments)
    assert code == 2, stderr
    assert stderr.startswith("error: ") and stderr.count("\n") == 1
    assert words in stderr
    assert stdout == ""


def test_without_a_command_it_helps_and_the_version_is_the_packages(typed):
    assert typed()[:2] == typed("--help")[:2]
    assert typed("--version")[1].strip() == __version__


def test_a_reader_that_closes_the_pipe_ends_it_quietly(tmp_path):
    lines = "".join(f"m{at},0.5\n" for at in range(4_000))  # more than a pipe holds
    (tmp_path / "prices.csv").write_text(f"instance,per_hour\n{lines}")
    words = "import-prices csv prices.csv --as-of 2018-01-01 --currency USD"
    line = f"{sys.executable} -m sweetspot {words} 2>errors | head -n 1"
    # Unbuffered, Python itself drops what a write into a closing pipe left over.
    buffered = {name: value for name, value in environment(ROOT).items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        ["bash", "-c", f"{line}; echo ${{PIPESTATUS[0]}}"],
        cwd=tmp_path, env=buffered, capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stdout == "currency: USD\n141\n"
    assert (tmp_path / "errors").read_text() == ""
