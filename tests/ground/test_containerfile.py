"""The two Containerfiles: what they promise by their own lines. `make container-check` does their steps."""

import re

import pytest
from project_copy import ROOT, tracked_files

from research.container.containerfile import copied, environment, steps

FILES = {name: steps(ROOT / name) for name in ("Containerfile", "Containerfile.cuda")}


@pytest.mark.parametrize("name", FILES)
def test_it_is_built_on_a_content_and_ends_as_a_user_who_is_not_root(name):
    assert re.fullmatch(r"debian:bookworm-slim@sha256:[0-9a-f]{64}", FILES[name][0].text)
    users = [step.text for step in FILES[name] if step.instruction == "USER"]
    made = [step.text for step in FILES[name] if step.instruction == "RUN" and "useradd" in step.text]
    assert users == ["1000:1000"] and "--uid 1000 sweetspot" in made[0]  # a number, for Kubernetes' runAsNonRoot
    order = [step.instruction for step in FILES[name]]
    assert "RUN" not in order[order.index("USER") :], "what runs after USER could not install"


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
