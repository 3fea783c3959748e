"""What the files of a study say together: names that share a folder, files that they name, facts that are shipped."""

import shutil
from datetime import date

import pytest
from project_copy import ROOT
from study_entries import MACHINE, SLURM, STUDY
from sweetspot.commands.new_study import StudyRequest, create_study
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import table
from sweetspot.matrix.invocation import load_invocation
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Executor, Instance, load_instances, nodes_of
from sweetspot.study.settings import Settings
from sweetspot.study.study import Study, load_study
from sweetspot.titles import class_title, framework_title, model_title, provider_title, unit_in_words
from sweetspot.wording import Money


@pytest.fixture(scope="module")
def config(tmp_path_factory):
    """The configuration with one study."""
    folder = tmp_path_factory.mktemp("project") / "config"
    shutil.copytree(ROOT / "config", folder, ignore=shutil.ignore_patterns("studies", "schemas"))
    shutil.copytree(ROOT / "config" / "studies" / "rare-2018", folder / "studies" / "rare-2018")
    return folder


@pytest.fixture
def studies(config):
    """Its studies, which are as they were after the test."""
    yield config / "studies"
    shutil.rmtree(config / "studies")
    shutil.copytree(ROOT / "config" / "studies" / "rare-2018", config / "studies" / "rare-2018")


def refused(studies, study: str = "rare-2018") -> str:
    with pytest.raises(UserError) as error:
        load_invocation(studies.parent / "config.yaml", {"study": study, "measure_on": []}, studies.parent)
    assert "\n" not in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", ["benchmarks", "logs", "Logs"])
def test_a_study_named_as_a_folder_of_results_is_refused(studies, name):
    (studies / "rare-2018").rename(studies / name)
    file = studies / name / "study.yaml"
    file.write_text(file.read_text().replace("name: rare-2018", f"name: {name}"))
    assert f"would write into results/{name.lower()}" in refused(studies, name)


def test_a_new_study_named_so_is_refused_too(config):
    for name, said in {"logs": "results/logs", "RARE-2018": "'rare-2018' differ at most by case"}.items():
        with pytest.raises(UserError, match=said):
            create_study(StudyRequest(name, config, gpu_name="RTX 4090", speed=1120.0), date(2018, 7, 1))


def test_names_that_differ_only_by_case_are_refused(studies, tmp_path):
    prices = studies / "rare-2018" / "prices"
    shutil.copy(prices / "aws.yaml", prices / "AWS.yaml")
    assert "price lists 'AWS' and 'aws' differ at most by case" in refused(studies)
    shutil.copytree(studies / "rare-2018", studies / "Rare-2018")
    assert "studies 'Rare-2018' and 'rare-2018' differ at most by case" in refused(studies)
    machine = "{title: x, provider: own, gpu: x, gpus: 1}"
    (tmp_path / "instances.yaml").write_text(f"box: {machine}\nBox: {machine}\n")
    with pytest.raises(UserError, match="instances 'box' and 'Box' differ at most by case"):
        load_instances(tmp_path / "instances.yaml")


@pytest.mark.parametrize("name", ["spot.yml", "spot.YAML"])
def test_a_price_list_that_would_be_passed_over_is_refused(studies, name):
    shutil.copy(studies / "rare-2018" / "prices" / "aws.yaml", studies / "rare-2018" / "prices" / name)
    assert refused(studies).endswith(f"{name}: price lists end in .yaml; expected spot.yaml")


def test_a_study_is_found_by_its_folders_name(tmp_path):
    with pytest.raises(UserError, match=f"'s' does not exist; expected one of studies in {tmp_path}"):
        load_study(tmp_path / "s")
    (tmp_path / "other").mkdir()
    text = "name: s\ntitle: t\nquestion: q\nas_of: 2018-01-01\nsources: [{id: a, title: t, date: '2018'}]\n"
    text += "cells: {model: [vgg16], batch_size: [16], precision: fp32, headline_batch_size: 16}\n"
    (tmp_path / "other" / "study.yaml").write_text(text)
    with pytest.raises(UserError, match="key 'name' is 's'; expected the folder's name 'other'"):
        load_study(tmp_path / "other")
    (tmp_path / "other").rename(tmp_path / "s")
    assert load_study(tmp_path / "s").cells.model == ["vgg16"]
    with pytest.raises(UserError, match=r"'t' does not exist; expected one of s$"):
        load_study(tmp_path / "t")


def machine(**keys):
    return Instance(**MACHINE | {"gpus": 8} | keys)


@pytest.mark.parametrize(
    ("keys", "nodes"),
    [
        ({}, {8: 1}),
        ({"nodes": 4}, {1: 1, 2: 1, 3: 2, 5: 3, 8: 4}),  # two a node, one node after the other
        ({"measure": SLURM | {"gpus_per_node": 4}}, {1: 1, 4: 1, 8: 2, 16: 4}),
        ({"measure": SLURM | {"device": "cpu", "gpus_per_node": 1}}, {3: 3}),
    ],
)
def test_machines_that_devices_take(keys, nodes):
    assert {gpus: nodes_of({"m": machine(**keys)}, "m", gpus) for gpus in nodes} == nodes
    assert nodes_of({}, "m", 32) == 1
    assert Executor(**SLURM).nodes(8) == 1


def test_instances_of_several_files_are_declared_once_and_name_each_other(tmp_path):
    one, other = tmp_path / "one.yaml", tmp_path / "other.yaml"
    machine = "provider: own, gpu: V100, gpus: 1"
    one.write_text(f"a: {{title: x, {machine}}}\n")
    other.write_text(f"b: {{title: y, {machine}, base_instance: a}}\n")
    assert list(load_instances(one, other)) == ["a", "b"]
    with pytest.raises(UserError, match="instance 'a' is declared in another file too"):
        load_instances(one, one)
    with pytest.raises(UserError, match=r"b\.base_instance is 'a'"):
        load_instances(other)
    other.write_text(f"b: {{title: y, {machine}, base_instance: a}}\na: {{title: Y, {machine}, equivalent_to: b}}\n")
    with pytest.raises(UserError, match="titles 'y' and 'Y' differ at most by case"):
        load_instances(other)
    other.write_text(other.read_text().replace("Y", "x"))
    with pytest.raises(UserError, match="lead back to each other"):
        load_instances(other)
    one.write_text("- a\n")
    with pytest.raises(UserError, match="found list; expected a mapping"):
        load_instances(one)


@pytest.mark.parametrize(
    ("title", "key", "own", "name"),
    [
        (model_title, "resnet50", {}, "ResNet-50"),
        (model_title, "resnet50", {"resnet50": "Ours"}, "Ours"),
        (model_title, "llama-3.1-8b.lora.2048", {}, "LoRA of Llama-3.1-8b"),
        (provider_title, "vultr", {"vultr": "The cloud"}, "The cloud"),
        (class_title, "resnet50 (urgent)", None, "ResNet-50 (urgent)"),
        (framework_title, "torch", None, "PyTorch"),
        (unit_in_words, [], None, "images"),
        (unit_in_words, {"images", "tokens"}, None, "samples"),
    ],
)
def test_names_for_people_are_the_studys_own_else_well_known_else_the_key(title, key, own, name):
    assert (title(key) if own is None else title(key, own)) == name


def test_what_the_comparison_needs_of_a_study():
    euro = {"code": "EUR", "usd_per_unit": 1.2, "as_of": "2018-01-01", "source": "ECB"}
    said = {"currency": euro, "titles": {"vgg16": "Ours"}, "deadlines_hours": [24], "offers_in_hand": ["a"]}
    machines = {
        "a": machine(title="A", gpu="Tesla V100"),
        "b": machine(gpu="new", base_instance="a", equivalent_to="c"),
    }
    found = Settings.of(Study.model_validate(STUDY | said), machines)
    assert found.verdict_columns == {"counts": "train", "currency": "EUR", "usd_per_unit": 1.2}
    assert (found.money, found.batch_sizes, found.models) == (Money("EUR", 1.2), {"vgg16": 16}, {"vgg16": "Ours"})
    assert (found.titles, found.gpu_memory_gib) == ({"a": "A", "b": "x"}, {"a": 16.0})
    assert (found.stands_behind, found.deadlines_hours, found.offers_in_hand) == (["a", "c"], (24,), ["a"])
    plain = Settings.of(Study.model_validate(STUDY))
    assert (plain.money, plain.titles, plain.study, plain.precision) == (Money(), {}, "s", "fp32")


def fact(value, **more):
    return {"value": value, "as_of": "2025", "source": "a report"} | more


def test_what_is_shipped_fills_what_the_study_leaves_open():
    """The figures of facts/*.csv by hand; what the study says of a device or a site comes before them."""
    said = {
        "shipped": True,
        "devices": [{"gpu": "H100 SXM", "watts": fact(650)}],
        "sites": [
            {"provider": "own", "grid": "finland"},
            {"provider": "aws", "grid": "france"},
            {"provider": "lambda", "pue": fact(1.3)},
            {"provider": "gcp", "g_per_kwh": fact(100)},
        ],
    }
    found = Energy.model_validate(said).completed()
    assert (found.utilisation.value, *found.utilisation.ends) == (0.76, 0.64, 0.83)
    assert (found.device("H100 SXM").watts.value, found.device("H100 SXM").host_share) == (650, None)
    assert (found.device("A100 SXM 80GB").watts.value, found.device("A100 SXM 80GB").host_share.value) == (400, 1.031)
    told = {site.provider: (site.pue and site.pue.value, site.g_per_kwh.value) for site in found.sites}
    expected = {"own": (None, 79), "aws": (1.14, 56), "lambda": (1.3, 367), "gcp": (1.10, 100), "oci": (1.15, 369)}
    assert {name: told[name] for name in expected} == expected
    assert found.site("lambda").g_per_kwh.ends == (367, 412)
    assert found.site("oci").g_per_kwh.source.startswith("us-ashburn-1: US EPA eGRID 2023")
    assert type(found).model_validate(found.model_dump(mode="json")) == found  # as a rule hands it on
    plain = Energy.model_validate({"sites": [{"provider": "cloud", "grid": "us"}]}).completed()
    assert [site.provider for site in plain.sites] == ["cloud"]  # nothing where it does not ask


@pytest.mark.parametrize("name", ["power", "providers", "grids"])
def test_every_shipped_fact_has_a_source_a_date_and_stands_once(name):
    rows = table(name)
    assert all(row["source"] and row["as_of"] for row in rows)
    keys = [(row.get("quantity"), row.get("gpu") or row.get("provider") or row.get("grid")) for row in rows]
    assert len(set(keys)) == len(keys)
    assert name != "providers" or {row["grid"] for row in rows} <= {row["grid"] for row in table("grids")}
