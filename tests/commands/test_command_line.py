"""`sweetspot` as a person types it: help, one sentence for an error, no noise on a closed pipe."""

import subprocess
import sys

import pytest
from project_copy import ROOT, environment
from sweetspot.commands.command_line import COMMANDS


def sweetspot(*arguments, **options):
    command = [sys.executable, "-m", "sweetspot", *arguments]
    return subprocess.run(command, env=environment(ROOT), capture_output=True, text=True, check=False, **options)


def test_help_names_every_command_and_imports_none():
    code = (
        "import sys; from sweetspot.commands.command_line import main\n"
        "try: main(['--help'])\n"
        "except SystemExit as end: assert end.code == 0\n"
        "assert not {'pandas', 'numpy', 'pydantic', 'yaml', 'pyarrow'} & set(sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], env=environment(ROOT), capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert all(f"\n    {name}" in done.stdout for name in COMMANDS)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_a_command_has_an_example(name):
    done = sweetspot(name, "--help")
    assert done.returncode == 0
    assert f"\n    sweetspot {name} " in done.stdout
    assert done.stdout.startswith(f"usage: sweetspot {name} ")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["unknown"], "'unknown' is no command of sweetspot; expected new-study, import-prices"),
        (["diff"], "sweetspot diff: the following arguments are required: RESULTS_A, RESULTS_B; see sweetspot diff"),
        (["diff", "--what", "a", "b"], "unrecognized arguments: --what"),
        (["import-prices", "xlsx", "prices.xlsx"], "argument FORMAT: invalid choice: 'xlsx'"),
        (["compare-results", "absent", "absent"], "absent: no table is below it"),
        (["compare-results", "a", "b", "--tolerance", "nan"], "--tolerance is nan; expected a number"),
        (["new-study", "../x"], "NAME is '../x'"),
        (["new-study", "x", "--config", "absent"], "absent/studies: the folder is needed and does not exist"),
        (["validate-scaling", "absent.csv"], "absent.csv: cannot be read as a CSV table"),
        (["schemas", "a-file"], "a-file: a file of that name exists; expected a folder"),
    ],
)
def test_an_error_is_one_sentence_and_code_2(arguments, words, tmp_path):
    (tmp_path / "a-file").touch()
    done = sweetspot(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert done.stderr.startswith("error: ") and done.stderr.count("\n") == 1
    assert words in done.stderr
    assert done.stdout == ""


def test_without_a_command_it_helps():
    done = sweetspot()
    assert done.returncode == 0 and done.stdout == sweetspot("--help").stdout


def test_the_version_is_the_packages():
    assert sweetspot("--version").stdout.strip() == __import__("sweetspot").__version__


def test_a_reader_that_closes_the_pipe_ends_it_quietly(tmp_path):
    lines = "".join(f"m{at},0.5\n" for at in range(4_000))  # more than a pipe holds
    (tmp_path / "prices.csv").write_text(f"instance,per_hour\n{lines}")
    line = f"{sys.executable} -m sweetspot import-prices csv prices.csv --as-of 2018-01-01 2>errors | head -n 1"
    # Unbuffered, Python itself drops what a write into a closing pipe left over.
    buffered = {name: value for name, value in environment(ROOT).items() if name != "PYTHONUNBUFFERED"}
    done = subprocess.run(
        ["bash", "-c", f"{line}; echo ${{PIPESTATUS[0]}}"],
        cwd=tmp_path, env=buffered, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert done.stdout == "currency: USD\n141\n"
    assert (tmp_path / "errors").read_text() == ""
