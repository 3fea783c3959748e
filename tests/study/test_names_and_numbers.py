"""Names that would share a file or a folder, and numbers that YAML 1.1 reads otherwise than people."""

import shutil
from datetime import date

import pytest
from project_copy import ROOT
from sweetspot.commands.create_study import create_study
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import load_invocation
from sweetspot.study.instances import load_instances
from sweetspot.study.workloads import load_workloads
from sweetspot.study.yamlfile import load_yaml


@pytest.fixture
def config(tmp_path):
    """A copy of the configuration with one study, whose invocation is refused or not."""
    folder = tmp_path / "config"
    shutil.copytree(ROOT / "config", folder, ignore=lambda _, names: set(names) & {"woolf-2017", "initialized-2017"})
    return folder


def refused(config, study: str = "rare-2018") -> str:
    with pytest.raises(UserError) as error:
        load_invocation(config / "config.yaml", {"study": study, "measure_on": []}, config)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", ["benchmarks", "logs", "Logs"])
def test_a_study_named_as_a_folder_of_results_is_refused(config, name):
    studies = config / "studies"
    (studies / "rare-2018").rename(studies / name)
    file = studies / name / "study.yaml"
    file.write_text(file.read_text().replace("name: rare-2018", f"name: {name}"))
    assert f"would write into results/{name.lower()}" in refused(config, name)


def test_a_new_study_named_so_is_refused_too(config):
    with pytest.raises(UserError, match="results/logs"):
        create_study("logs", config, ("workstation", "a processor"), date(2018, 7, 1))
    with pytest.raises(UserError, match="'RARE-2018' and 'rare-2018' differ only by case"):
        create_study("RARE-2018", config, ("workstation", "a processor"), date(2018, 7, 1))


def test_studies_that_differ_only_by_case_are_refused(config):
    shutil.copytree(config / "studies" / "rare-2018", config / "studies" / "Rare-2018")
    assert "studies 'Rare-2018' and 'rare-2018' differ only by case" in refused(config)


@pytest.mark.parametrize("name", ["spot.yml", "spot.YAML"])
def test_a_price_list_that_would_be_passed_over_is_refused(config, name):
    folder = config / "studies" / "rare-2018" / "prices"
    shutil.copy(folder / "aws.yaml", folder / name)
    assert refused(config).endswith(f"{name}: price lists end in .yaml; expected spot.yaml")


def test_price_lists_and_instances_that_differ_only_by_case_are_refused(config, tmp_path):
    folder = config / "studies" / "rare-2018" / "prices"
    shutil.copy(folder / "aws.yaml", folder / "AWS.yaml")
    assert "price lists 'AWS' and 'aws' differ only by case" in refused(config)
    file = tmp_path / "instances.yaml"
    machine = "{title: x, provider: own, gpu: x, gpus: 1}"
    file.write_text(f"box: {machine}\nBox: {machine}\n")
    with pytest.raises(UserError, match="instances 'box' and 'Box' differ only by case"):
        load_instances(file)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("runs: 010", "line 1: found 010, which YAML 1.1 reads as octal; write 10"),
        ("a: 1\nruns: -017", "line 2: found -017, which YAML 1.1 reads as octal; write -17"),
        ("runs: 1:30", "line 1: found 1:30, which YAML 1.1 counts in sixties"),
        ("runs: [1, 1:30:00]", "found 1:30:00, which"),
        ("hours: 1:30.5", "found 1:30.5, which"),
    ],
)
def test_a_number_that_yaml_reads_otherwise_than_people_is_refused(tmp_path, text, words):
    file = tmp_path / "x.yaml"
    file.write_text(text)
    with pytest.raises(UserError) as error:
        load_yaml(file)
    assert words in str(error.value)


def test_other_numbers_and_texts_are_read_as_they_stand(tmp_path):
    file = tmp_path / "x.yaml"
    file.write_text("a: 10\nb: 0\nc: 0.10\nd: '010'\ne: '1:30'\nf: -3\ng: 2018-07-01\nh: 1_000\n")
    values = {"a": 10, "b": 0, "c": 0.1, "d": "010", "e": "1:30", "f": -3, "g": date(2018, 7, 1), "h": 1000}
    assert load_yaml(file) == values


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        (
            "{kimd: runs, runs: 2, hours: 3, source: own}",
            "key 'job.kimd' is unknown; remove it or correct its spelling: did you mean 'kind', which is missing and "
            "needed?",
        ),
        ("{runs: 2, hours: 3, source: own}", "key 'job.kind' is missing and needed"),
        ("{kind: rums, runs: 2}", "key 'job.kind' is 'rums'; expected one of training, tokens, runs, plan, monthly"),
    ],
)
def test_a_workload_without_its_kind_is_told_so(tmp_path, entry, said):
    file = tmp_path / "workloads.yaml"
    file.write_text(f"job: {entry}\n")
    with pytest.raises(UserError) as told:
        load_workloads(file)
    assert str(told.value) == f"{file}: {said}"
