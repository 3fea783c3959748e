"""The configuration: its mistakes in one sentence of file, key, value, remedy; its schemas; scripts of one's own."""

import json
import re
import shutil
from datetime import date
from pathlib import Path

import jsonschema
import pytest
import yaml
from pydantic import RootModel
from schemas import CATALOGUE, catalogue_schema, schemas
from snakemake.cli import parse_config
from sweetspot.cells import Cell, run_path, weakest
from sweetspot.commands.new_study import StudyRequest, create_study
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import expand_matrix, load_invocation
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList
from sweetspot.study.scripts import Script, load_script, script_names
from sweetspot.study.yamlfile import load_yaml

ROOT = Path(__file__).parent.parent.parent
CONFIG = ROOT / "config" / "config.yaml"
AXES = {"model": ["resnet50", "vgg16"], "batch_size": [16, 32], "gpus": [1], "precision": ["fp32"],
        "variant": ["default"], "framework": ["tensorflow"]}  # fmt: skip


def plan(**overrides):
    return load_invocation(CONFIG, overrides, ROOT / "config")


def test_matrix_is_every_combination_in_the_order_of_the_lists_but_what_agrees_with_an_exclusion():
    cells = expand_matrix(["a", "b"], AXES)
    assert len(cells) == 2 * 2 * 2
    assert cells[0] == Cell("a", "tensorflow", "resnet50", 16, 1, "fp32", "default")
    assert cells[-1] == Cell("b", "tensorflow", "vgg16", 32, 1, "fp32", "default")
    left = expand_matrix(["a", "b"], AXES, [{"instance": "a", "model": "vgg16"}])
    assert left == [cell for cell in cells if cell[:3:2] != ("a", "vgg16")] and len(left) == 6


def test_run_path_names_every_column():
    cell = Cell("p3.2xlarge", "tensorflow", "vgg16", 64, 1, "fp16", "A")
    assert run_path(cell, 2) == (
        "instance~p3.2xlarge/framework~tensorflow/model~vgg16/batch_size~64/gpus~1/precision~fp16/variant~A/run~2"
    )


def test_a_composed_number_carries_its_weakest_part():
    assert [weakest("scaled", "stand_in"), weakest("published", "equivalent"), weakest("measured")] == [
        "stand_in", "equivalent", "measured"]  # fmt: skip


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"stdy": "x"}, ["config.yaml", "'stdy'", "unknown"]),
        ({"study": "nowhere"}, ["'nowhere'", "does not exist", "parkopedia-2018"]),
        ({"runs": 0}, ["'runs'", "0", "expected a number of at least 1"]),
        ({"runs": "two"}, ["'runs'", "'two'", "whole number"]),
        ({"measure_on": ["p9"]}, ["measure_on", "'p9'", "expected one of"]),
        ({"measure_on": ["p2.xlarge"]}, ["measure_on", "'p2.xlarge'", "measure"]),
        ({"matrix": {"model": []}}, ["'matrix.model'", "at least 1 item"]),
        ({"matrix": {"model": ["<b>x</b>"]}}, ["'matrix.model[0]'", "'<b>x</b>'", "letters"]),
        ({"matrix": {"model": ["../x"]}}, ["'matrix.model[0]'", "letters"]),
        ({"matrix": {"model": ["resnet50\n"]}}, ["'matrix.model[0]'", "letters"]),
        ({"matrix": {"model": ["rеsnet50"]}}, ["'matrix.model[0]'", "letters"]),  # a Cyrillic e
        ({"matrix": {"model": ["x" * 300]}}, ["'matrix.model[0]'", "1 to 64"]),
        ({"matrix": {"batch_size": [-1]}}, ["'matrix.batch_size[0]'", "-1"]),
        ({"matrix": {"batch_size": [10**12]}}, ["'matrix.batch_size[0]'", "expected a number of at most 100000"]),
        ({"matrix": {"precision": ["int8"]}}, ["'matrix.precision[0]'", "'int8'", "fp16"]),
        ({"matrix": {"precision": ["fp8"]}}, ["precision 'fp8' with framework tensorflow", "fp32, tf32, fp16, bf16"]),
        ({"matrix": {"framework": ["command"]}}, ["matrix.framework command", "expected a script of"]),
        ({"measure": {"min_seconds": float("nan")}}, ["'measure.min_seconds'", "nan"]),
        ({"matrix": {"model": ["vgg61"]}}, ["model 'vgg61'", "nearest: vgg19, vgg16"]),
        ({"matrix": {"variant": ["B"]}}, ["workstation", "'B'", "NCCL"]),
        ({"measure_on": ["workstation-gpu"], "matrix": {"gpus": [8]}}, ["on workstation-gpu, gpus 8", "has 1"]),
        ({"exclude": [{"model": "vgg19"}]}, ["exclude[0]", "vgg19", "matches no cell"]),
    ],
)
def test_a_mistake_in_the_configuration_is_one_sentence(overrides, words):
    with pytest.raises(UserError) as caught:
        plan(**overrides)
    message = str(caught.value)
    assert "\n" not in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("typed", "key", "value"),
    [
        ("matrix={batch_size: [16,32,64]}", "matrix.batch_size", [16, 32, 64]),
        ("measure={budget_minutes: 30}", "measure.budget_minutes", 30.0),
        ("measure={budget_minutes: null}", "measure.budget_minutes", None),
        ("measure={min_steps: 7, xla: true}", "measure.min_steps", 7),
        ("measure={min_seconds: 2.5}", "measure.min_seconds", 2.5),
        ("measure_on=workstation", "measure_on", ["workstation"]),
        ("runs=3", "runs", 3),
    ],
)
def test_what_is_typed_after_config_is_taken_as_in_the_file(typed, key, value):
    found = plan(**parse_config([typed])).config
    for part in key.split("."):
        found = getattr(found, part)
    assert found == value


@pytest.mark.parametrize("typed", ["matrix={batch_size: [016]}", "matrix={batch_size: [1.5]}", "matrix={gpus: [-1]}"])
def test_what_is_typed_after_config_and_is_no_count_is_refused(typed):
    with pytest.raises(UserError, match=r"key 'matrix\.(batch_size|gpus)\[0\]' is"):
        plan(**parse_config([typed]))


def test_schemas_on_disk_are_in_step_with_the_models_and_describe_every_key():
    for name, schema in schemas().items():
        on_disk = json.loads((ROOT / "config" / "schemas" / name).read_text())
        assert on_disk == json.loads(json.dumps(schema)), f"{name}: run make schemas"
        for part in [schema, *schema.get("$defs", {}).values()]:
            for key, entry in part.get("properties", {}).items():
                assert entry.get("description"), f"{name}: {key} has no description"
            if "properties" in part:
                assert part["additionalProperties"] is False


@pytest.mark.slow
def test_what_the_catalogue_shows_has_every_key_of_the_configuration_without_references():
    """snakedeploy's `get_json_schema` reads that file, and shows the properties that stand in it."""
    shown = yaml.safe_load(CATALOGUE.read_text())
    assert shown == json.loads(json.dumps(catalogue_schema())), "run make schemas"
    assert "$ref" not in CATALOGUE.read_text()
    assert {"model", "gpus"} <= set(shown["properties"]["matrix"]["properties"])
    assert "min_seconds" in shown["properties"]["measure"]["properties"]
    jsonschema.validate(load_yaml(CONFIG), shown)


@pytest.fixture(scope="module")
def new_study(tmp_path_factory):
    """A study as `sweetspot new-study` writes it, in a copy of config/."""
    config = shutil.copytree(ROOT / "config", tmp_path_factory.mktemp("new") / "config")
    return create_study(StudyRequest("mine", config, gpu_name="RTX 4090", speed=1120.0), date(2026, 11, 27))


def test_an_editor_finds_the_schema_of_a_file_where_its_first_line_says(new_study):
    files = [ROOT / "config" / "config.yaml", ROOT / "config" / "instances.yaml", *new_study.rglob("*.yaml")]
    assert len(files) == 7
    for file in files:
        schema_path = file.read_text().partition("\n")[0].removeprefix("# yaml-language-server: $schema=")
        schema = json.loads((file.parent / schema_path).read_text())
        kind = "prices" if file.parent.name == "prices" else file.stem
        assert schema["$id"] == f"{kind}.schema.json" and schema["$schema"].startswith("https://json-schema.org/draft/")


def test_every_study_satisfies_the_schemas_an_editor_would_use():
    loaded = {name: jsonschema.Draft202012Validator(schema) for name, schema in schemas().items()}
    for folder in (file.parent for file in (ROOT / "config" / "studies").glob("*/study.yaml")):
        for kind in ("study", "instances", "workloads", "claims"):
            data = json.loads(json.dumps(load_yaml(folder / f"{kind}.yaml"), default=str))
            loaded[f"{kind}.schema.json"].validate(data)
    loaded["config.schema.json"].validate(load_yaml(CONFIG))


CELL = Cell("here", "command", "mine", 16, 4, "bf16", "ddp")
PLAIN = "command: python train.py --batch {batch_size} --gpus {gpus}\nsteps: {pattern: 'step'}\n"


def load(folder, text):
    file = folder / "commands" / "mine.yaml"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)
    return load_script(file)


def test_values_are_filled_into_arguments_not_into_a_shell():
    script = Script(command="prog '{batch_size} {gpus}' {precision}", precisions={"bf16": "a b; c"}, steps="keras")
    values = script.values(CELL, 3, "/tmp/x")
    assert script.argv(values) == ["prog", "16 4", "a b; c"]
    shell = Script(command="prog {precision} | tee log", shell=True, precisions={"bf16": "a b; c"}, steps="keras")
    assert shell.argv(values | {"precision": "a b; c"}) == ["/bin/sh", "-c", "prog 'a b; c' | tee log"]
    every = Script(command="{global_batch_size} {variant} {run} {scratch} {x-1} {}", steps="keras")
    assert every.argv(values) == ["64", "ddp", "3", "/tmp/x", "{x-1}", "{}"]


@pytest.mark.parametrize(
    ("product", "samples"),
    [
        ("{batch_size} * {gpus}", 64),
        ("{global_batch_size}*1024", 65_536),
        ("8", 8),
        (2048, 2048),
        ("{batch_size} * 3 * {gpus}", 192),
    ],
)
def test_samples_of_a_step_are_a_product(product, samples):
    assert Script(command="x", samples_per_step=product, steps="keras").samples(CELL) == samples


def test_another_meaning_has_another_digest_and_another_title_has_not(tmp_path):
    plain = load(tmp_path, PLAIN)
    assert len(plain.digest()) == 12  # part of the names of runs
    assert plain.digest() == load(tmp_path, PLAIN + "title: Mine\n").digest()
    assert plain.digest() == load(tmp_path, PLAIN + "# a remark\n").digest()
    assert plain.digest() != load(tmp_path, PLAIN.replace("--batch", "--size")).digest()
    assert plain.digest() != load(tmp_path, PLAIN + "unit: tokens\n").digest()
    assert (script_names(tmp_path), script_names(Path("nowhere"))) == (["mine"], [])
    assert plain.axes() == {"batch_size", "gpus"}
    assert Script(command="x {global_batch_size}", steps="keras").axes() == {"global_batch_size", "batch_size"}


@pytest.mark.parametrize(
    ("file", "model", "mark"), [("prices/rent.yaml", PriceList, "#"), ("", RootModel[dict[str, Instance]], "# ")]
)
def test_what_a_template_explains_in_comments_is_right(new_study, file, model, mark):
    text = (new_study / file if file else ROOT / "config" / "instances.yaml").read_text(encoding="utf-8")
    head, _, commented = text.rpartition("remove its #.\n" if file else "remove the #.\n")
    uncommented = re.sub(f"^{mark}?" if mark != "#" else "^#", "", commented, flags=re.MULTILINE)
    explained = model.model_validate(yaml.safe_load(f"{head}\n{uncommented}"))
    assert explained != model.model_validate(yaml.safe_load(text))
