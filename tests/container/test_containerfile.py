"""The two Containerfiles: what they promise by their own lines; and the steps themselves where a root can be made."""

import os
import re
import subprocess
import sys

import pytest
import yaml
from containerfile import command, copied, environment, steps
from patience import PATIENCE_S
from project_copy import ROOT, tracked_files

FILES = {name: steps(ROOT / name) for name in ("Containerfile", "Containerfile.cuda")}


@pytest.mark.parametrize("name", FILES)
def test_it_ends_as_a_user_who_is_not_root(name):
    users = [step.text for step in FILES[name] if step.instruction == "USER"]
    made = [step.text for step in FILES[name] if step.instruction == "RUN" and "useradd" in step.text]
    assert users == ["1000:1000"] and "--uid 1000 sweetspot" in made[0]  # a number, for Kubernetes' runAsNonRoot
    assert [step.instruction for step in FILES[name]].index("USER") > max(
        number for number, step in enumerate(FILES[name]) if step.instruction == "RUN"
    ), "what runs after USER could not install"


@pytest.mark.parametrize("name", FILES)
def test_what_it_is_built_on_is_named_by_its_content(name):
    assert re.fullmatch(r"debian:bookworm-slim@sha256:[0-9a-f]{64}", FILES[name][0].text)


@pytest.mark.parametrize(("name", "lock"), [("Containerfile", "measure"), ("Containerfile.cuda", "gpu")])
def test_packages_come_from_the_locks_by_their_hashes(name, lock):
    installs = [step.text for step in FILES[name] if step.instruction == "RUN" and "pip install" in step.text]
    assert len(installs) == 2
    assert "--require-hashes" in installs[0]
    assert re.findall(r"-r \S*/(\w+)\.lock", installs[0]) == [lock, "kubernetes"]
    assert "--no-deps --no-build-isolation" in installs[1]  # the project itself asks no index
    sources = [source for step in FILES[name] if step.instruction == "COPY" for source in copied(step)[1]]
    assert {f"envs/{lock}.lock", "envs/kubernetes.lock", "."} == set(sources)
    assert set(sources) - {"."} <= set(tracked_files())


def test_the_two_differ_in_the_lock_and_in_what_nvidia_is_asked_for():
    cpu, cuda = (list(FILES[name]) for name in ("Containerfile", "Containerfile.cuda"))
    asked = [step for step in cuda if step.instruction == "ENV" and "NVIDIA" in step.text]
    assert [environment(step) for step in asked] == [
        {"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "compute,utility"}
    ]
    rest = [(step.instruction, step.text.replace("gpu.lock", "measure.lock")) for step in cuda if step not in asked]
    assert rest == [(step.instruction, step.text) for step in cpu]


def test_the_image_runs_what_the_readme_does_and_the_profile_names_it():
    assert command(FILES["Containerfile"][-1]) == ["snakemake", "--cores", "all"]
    (built,) = re.findall(r"docker build -f Containerfile\.cuda -t (\S+) ", (ROOT / "Containerfile.cuda").read_text())
    profile = yaml.safe_load((ROOT / "profiles" / "kubernetes" / "profile.yaml").read_text())
    assert profile["container-image"].rpartition("/")[2] == built


def test_an_unknown_instruction_is_not_passed_over(tmp_path):
    file = tmp_path / "Containerfile"
    file.write_text("FROM debian:bookworm-slim\n# a comment\nRUN a \\\n    && b\n\nADD x y\n")
    with pytest.raises(ValueError, match="line 6: ADD is none of"):
        steps(file)
    file.write_text("FROM x\nRUN a \\\n    # why\n    && b\n")
    assert [(step.line, step.instruction, step.text) for step in steps(file)] == [
        (1, "FROM", "x"),
        (2, "RUN", "a && b"),
    ]


ASKED = "CONTAINER_CHECK"  # by `CONTAINER_CHECK=1 make test`: it downloads a Debian and all packages anew


@pytest.mark.slow
@pytest.mark.skipif(ASKED not in os.environ, reason="asked for by CONTAINER_CHECK=1, or by make container-check")
def test_its_steps_make_a_root_that_makes_a_page():
    """All but the engine: see the head of tests/container/__main__.py for what that leaves out."""
    done = subprocess.run(
        [sys.executable, "tests/container", "Containerfile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    assert "container-check: Containerfile builds and makes a page" in done.stdout
