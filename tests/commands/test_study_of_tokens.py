"""A study of one's own by the words of `sweetspot estimate`."""

import shutil

import pytest
from project_copy import ROOT
from sweetspot.commands.command_line import main
from sweetspot.commands.read_study import read_study
from sweetspot.errors import UserError
from sweetspot.study.workloads import load_monthly


@pytest.fixture
def config(tmp_path):
    shutil.copytree(ROOT / "config", tmp_path / "config")
    return tmp_path / "config"


def test_the_words_make_a_study_without_a_mistake(config, capsys):
    words = ["new-study", "mine", "--work", "Qwen2.5-32B qlora 20M tokens", "--config", str(config)]
    assert main(words) == 0
    assert "make report STUDY=mine" in capsys.readouterr().out
    assert not read_study("mine", config).errors
    job = load_monthly(config / "studies" / "mine" / "workloads.yaml")["month"].jobs[0]
    assert (job.model, job.samples) == ("qwen2.5-32b.qlora.2048", 20_000_000)
    assert "cells:\n  model: [qwen2.5-32b.qlora.2048]" in (config / "studies" / "mine" / "study.yaml").read_text()


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--work", "llama-9 lora 1M"], "'llama-9' is not known"),
        (["--work", "llama-3.1-8b lora"], "expected MODEL METHOD TOKENS"),
        (["--work", "llama-3.1-8b lora 1M", "--gpu-name", "RTX 4090"], "a figure of yours goes into throughput.csv"),
    ],
)
def test_what_it_does_not_understand_is_one_sentence(config, more, said):
    with pytest.raises(UserError, match=said):
        main(["new-study", "mine", *more, "--config", str(config)])
    assert not (config / "studies" / "mine").exists()
