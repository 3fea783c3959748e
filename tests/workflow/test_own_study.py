"""The README's walk of a new user, by its own commands: from one card to an answer among machines of today."""

import json
import re
import shlex
import subprocess

import pandas as pd
import pytest
from project_copy import ROOT, copy_project, run_snakemake
from sweetspot.commands.command_line import main

README = (ROOT / "README.md").read_text(encoding="utf-8")
WALK = README.split('## From "I own one GPU" to "should I buy four"', 1)[1].split("\n## ", 1)[0]


@pytest.fixture(scope="module")
def mine(tmp_path_factory):
    """The project in which the commands of the README were followed; the environment is the one that runs this."""
    project = copy_project(tmp_path_factory.mktemp("own") / "project")
    typed = next(line for line in WALK.splitlines() if line.startswith("make study NAME=mine GPU_NAME"))
    said = subprocess.run(
        ["make", "-n", *shlex.split(typed, comments=True)[1:]],  # what it would run, and nothing else
        cwd=ROOT, capture_output=True, text=True, check=True
    )  # fmt: skip
    command = next(line for line in said.stdout.splitlines() if line.startswith("sweetspot new-study"))
    main([*shlex.split(command)[1:], "--config", str(project / "config")])
    done = run_snakemake(project, "--config", "study=mine")
    assert done.returncode == 0, done.stdout[-4000:]
    return project / "results" / "mine"


def test_every_rental_has_a_speed_from_ours_with_its_interval_as_predict_says_it(mine, capsys):
    single = pd.read_parquet(mine / "throughput.parquet").set_index("instance").drop("mine")
    others = single[single["gpu"] != "RTX 4090"]
    assert len(others) >= 8 and set(others["basis"]) == {"transferred"}
    rented = single.loc[single["gpu"] == "RTX 4090", "images_per_s"]  # our own device, as others let it
    assert len(rented) and rented.to_numpy() == pytest.approx(1120, rel=0.01)
    several = pd.read_parquet(mine / "extrapolation.parquet")
    several = several[several["headline"]]
    assert len(several) >= 8
    for rows in (others, several):
        assert (rows["images_per_s_low"] < rows["images_per_s"]).all()
        assert (rows["images_per_s"] < rows["images_per_s_high"]).all()
    # The figure of the study and that of the command are one prediction; their ends are 95 and 90 %.
    main(["predict", "--measured", "RTX 4090:resnet50:fp16:64=1120", "--on", "RTX 5090", "--json"])
    row, known = json.loads(capsys.readouterr().out)["predicted"][0], single.loc["runpod-1x5090"]
    assert row["images_per_s"] == pytest.approx(known["images_per_s"])
    assert known["images_per_s_low"] < row["images_per_s_low"] < row["images_per_s_high"] < known["images_per_s_high"]


def test_the_answer_is_the_sentence_that_the_readme_prints(mine):
    answer = json.loads((mine / "report" / "answer.json").read_text())
    (block,) = re.findall(r"(?m)(?:^>.*\n)+", WALK)
    verdict = " ".join(re.sub(r"(?m)^> ?", "", block).split())
    assert verdict == f"{answer['verdict']['sentence']} {answer['verdict']['do_this']}"
    # 20 jobs x 1e8 samples / 1,120 a second = 496 hours of the month's 732: the card that is there does them
    assert answer["verdict"]["kind"] == "keep"
