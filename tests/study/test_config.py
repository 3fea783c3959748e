"""What a person can get wrong in the configuration ends in one sentence that names file, key, value and remedy."""

import json
import os
from pathlib import Path

import jsonschema
import pytest
import yaml
from snakemake.cli import parse_config
from sweetspot.cells import Cell, run_path, weakest
from sweetspot.commands.schemas import CATALOGUE, catalogue_schema, schemas
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import expand_matrix, load_invocation
from sweetspot.study.yamlfile import load_yaml

ROOT = Path(__file__).parent.parent.parent
CONFIG = ROOT / "config" / "config.yaml"
AXES = {
    "model": ["resnet50", "vgg16"],
    "batch_size": [16, 32],
    "gpus": [1],
    "precision": ["fp32"],
    "variant": ["default"],
    "framework": ["tensorflow"],
}


def plan(**overrides):
    return load_invocation(CONFIG, overrides, ROOT / "config")


def test_matrix_is_every_combination_in_the_order_of_the_lists():
    cells = expand_matrix(["a", "b"], AXES)
    assert len(cells) == 2 * 2 * 2
    assert cells[0] == Cell("a", "tensorflow", "resnet50", 16, 1, "fp32", "default")
    assert cells[-1] == Cell("b", "tensorflow", "vgg16", 32, 1, "fp32", "default")


def test_exclusion_takes_out_the_cells_that_agree_with_every_key():
    cells = expand_matrix(["a", "b"], AXES, [{"instance": "a", "model": "vgg16"}])
    assert len(cells) == 6
    assert not [cell for cell in cells if cell.instance == "a" and cell.model == "vgg16"]


def test_run_path_names_every_column():
    cell = Cell("p3.2xlarge", "tensorflow", "vgg16", 64, 1, "fp16", "A")
    assert run_path(cell, 2) == (
        "instance~p3.2xlarge/framework~tensorflow/model~vgg16/batch_size~64/gpus~1/precision~fp16/variant~A/run~2"
    )


def test_a_composed_number_carries_its_weakest_part():
    assert weakest("scaled", "stand_in") == "stand_in"
    assert weakest("published", "equivalent") == "equivalent"
    assert weakest("measured") == "measured"


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"stdy": "x"}, ["config.yaml", "'stdy'", "unknown"]),
        ({"study": "nowhere"}, ["'nowhere'", "does not exist", "parkopedia-2018"]),
        ({"runs": 0}, ["'runs'", "0", "expected a number of at least 1"]),
        ({"runs": "two"}, ["'runs'", "'two'", "integer"]),
        ({"measure_on": ["p9"]}, ["measure_on", "'p9'", "expected one of"]),
        ({"measure_on": ["p2.xlarge"]}, ["measure_on", "'p2.xlarge'", "measure"]),
        ({"matrix": {"model": []}}, ["'matrix.model'", "at least 1 item"]),
        ({"matrix": {"model": ["<b>x</b>"]}}, ["'matrix.model[0]'", "'<b>x</b>'", "letters"]),
        ({"matrix": {"model": ["a; rm -rf x"]}}, ["'matrix.model[0]'", "letters"]),
        ({"matrix": {"model": ["../x"]}}, ["'matrix.model[0]'", "letters"]),
        ({"matrix": {"model": ["$(id)"]}}, ["'matrix.model[0]'", "letters"]),
        ({"matrix": {"model": ["resnet50\n"]}}, ["'matrix.model[0]'", "letters"]),
        ({"matrix": {"model": ["rеsnet50"]}}, ["'matrix.model[0]'", "letters"]),  # a Cyrillic e
        ({"matrix": {"model": ["x" * 300]}}, ["'matrix.model[0]'", "1 to 64"]),
        ({"matrix": {"batch_size": [16, 16]}}, ["matrix.batch_size", "'16' twice"]),
        ({"matrix": {"batch_size": [-1]}}, ["'matrix.batch_size[0]'", "-1"]),
        ({"matrix": {"batch_size": [10**12]}}, ["'matrix.batch_size[0]'", "expected a number of at most 100000"]),
        ({"matrix": {"precision": ["int8"]}}, ["'matrix.precision[0]'", "'int8'", "fp16"]),
        ({"matrix": {"precision": ["fp8"]}}, ["precision fp8 with framework tensorflow", "fp32, tf32, fp16, bf16"]),
        ({"matrix": {"framework": ["command"]}}, ["matrix.framework holds command", "expected a script of"]),
        ({"measure": {"min_seconds": float("nan")}}, ["'measure.min_seconds'", "nan"]),
        ({"matrix": {"model": ["vgg61"]}}, ["matrix.model", "'vgg61'", "nearest: vgg19, vgg16"]),
        ({"matrix": {"variant": ["B"]}}, ["workstation", "'B'", "NCCL"]),
        ({"measure_on": ["workstation-gpu"], "matrix": {"gpus": [8]}}, ["workstation-gpu with gpus 8", "has 1"]),
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
        ("matrix={batch_size: [16, 32], gpus: [1, 2]}", "matrix.gpus", [1, 2]),
        ("measure={budget_minutes: 30}", "measure.budget_minutes", 30.0),
        ("measure={budget_minutes: null}", "measure.budget_minutes", None),
        ("measure={min_steps: 7, xla: true}", "measure.min_steps", 7),
        ("measure={min_seconds: 2.5}", "measure.min_seconds", 2.5),
        ("measure_on=[workstation]", "measure_on", ["workstation"]),
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", ["empty"]),
        ("a: [1", ["line"]),
        ("a: 1\na: 2\n", ["line 2", "'a' stands twice"]),
        ("a: &x 1\nb: *x\n", ["line 2", "aliases"]),
        ("true: 1\n", ["line 1", "not text"]),
        ("a: !!python/object/apply:os.system ['id']\n", ["line 1"]),
        ("a: \x00\n", ["not YAML"]),
    ],
)
def test_yaml_is_data_only(tmp_path, text, words):
    file = tmp_path / "x.yaml"
    file.write_text(text)
    with pytest.raises(UserError) as caught:
        load_yaml(file)
    for word in [*words, "x.yaml"]:
        assert word in str(caught.value)


def test_yaml_that_grows_without_end_is_refused_at_once(tmp_path):
    file = tmp_path / "bomb.yaml"
    levels = "\n".join(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 30))
    file.write_text(f"a0: &a0 [lol]\n{levels}\n")
    with pytest.raises(UserError, match="aliases"):
        load_yaml(file)


def test_yaml_missing_or_not_text_is_one_sentence(tmp_path):
    with pytest.raises(UserError, match="No such file"):
        load_yaml(tmp_path / "none.yaml")
    (tmp_path / "latin.yaml").write_bytes(b"a: \xe9\n")
    with pytest.raises(UserError, match="byte 3 is not UTF-8"):
        load_yaml(tmp_path / "latin.yaml")


def test_schemas_on_disk_are_in_step_with_the_models_and_describe_every_key():
    for name, schema in schemas().items():
        on_disk = json.loads((ROOT / "config" / "schemas" / name).read_text())
        assert on_disk == json.loads(json.dumps(schema)), f"{name}: run sweetspot schemas"
        for part in [schema, *schema.get("$defs", {}).values()]:
            for key, entry in part.get("properties", {}).items():
                assert entry.get("description"), f"{name}: {key} has no description"
            if "properties" in part:
                assert part["additionalProperties"] is False


@pytest.mark.slow
def test_what_the_catalogue_shows_has_every_key_of_the_configuration_without_references():
    """snakedeploy's `get_json_schema` reads that file, and shows the properties that stand in it."""
    shown = yaml.safe_load((ROOT / CATALOGUE).read_text())
    assert shown == json.loads(json.dumps(catalogue_schema())), "run sweetspot schemas"
    assert "$ref" not in (ROOT / CATALOGUE).read_text()
    assert {"model", "gpus"} <= set(shown["properties"]["matrix"]["properties"])
    assert "min_seconds" in shown["properties"]["measure"]["properties"]
    jsonschema.validate(load_yaml(CONFIG), shown)


TEMPLATES = [ROOT / "config" / "config.yaml", ROOT / "config" / "instances.yaml"]
TEMPLATES += sorted((ROOT / "workflow/sweetspot/commands").glob("study_template*/**/*.yaml"))


@pytest.mark.parametrize("file", TEMPLATES, ids=lambda file: str(file.relative_to(ROOT)))
def test_an_editor_finds_the_schema_of_a_template_where_its_first_line_says(file):
    place = file
    if "commands" in file.parts:  # as new-study lays it
        inner = file.parts[next(i for i, part in enumerate(file.parts) if part.startswith("study_template")) + 1 :]
        place = Path(ROOT, "config", "studies", "mine", *inner)
    said = file.read_text().replace("$$", "$").partition("\n")[0].removeprefix("# yaml-language-server: $schema=")
    schema = json.loads(Path(os.path.normpath(place.parent / said)).read_text())
    kind = "prices" if file.parent.name == "prices" else file.stem
    assert schema["$id"] == f"{kind}.schema.json" and schema["$schema"].startswith("https://json-schema.org/draft/")


def test_every_study_satisfies_the_schemas_an_editor_would_use():
    loaded = schemas()
    for folder in (file.parent for file in (ROOT / "config" / "studies").glob("*/study.yaml")):
        for kind in ("study", "instances", "workloads", "claims"):
            data = json.loads(json.dumps(load_yaml(folder / f"{kind}.yaml"), default=str))
            jsonschema.validate(data, loaded[f"{kind}.schema.json"])
    jsonschema.validate(load_yaml(CONFIG), loaded["config.schema.json"])
