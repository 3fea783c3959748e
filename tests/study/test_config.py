"""The configuration: its mistakes, its schemas, every key used or explained; logs; scripts of one's own."""

import json
import re
import shutil
from collections.abc import Iterator
from datetime import date
from typing import Any

import jsonschema
import pytest
import yaml
from project_copy import ROOT
from pydantic import BaseModel, RootModel
from schemas import CATALOGUE, catalogue_schema, schemas
from snakemake.cli import parse_config
from sweetspot.cells import Cell
from sweetspot.commands.new_study import StudyRequest, create_study
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import load_invocation
from sweetspot.study.base import Closed
from sweetspot.study.claims import Claims
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList
from sweetspot.study.scenarios import Scenario
from sweetspot.study.scripts import Script
from sweetspot.study.stock import Availability
from sweetspot.study.study import Study
from sweetspot.study.workloads import Workloads
from sweetspot.study.yamlfile import load_yaml

CONFIG = ROOT / "config" / "config.yaml"


def plan(**overrides):
    return load_invocation(CONFIG, overrides, ROOT / "config")


@pytest.mark.parametrize(
    ("overrides", "words"),
    [
        ({"stdy": "x"}, ["config.yaml", "'stdy'", "unknown"]),
        ({"study": "nowhere"}, ["'nowhere'", "does not exist", "parkopedia-2018"]),
        ({"runs": 0}, ["'runs'", "0", "expected a number of at least 1"]),
        ({"measure_on": ["p9"]}, ["measure_on", "'p9'", "expected one of"]),
        ({"measure_on": ["p2.xlarge"]}, ["measure_on", "'p2.xlarge'", "measure"]),
        ({"matrix": {"model": ["<b>x</b>"]}}, ["'matrix.model[0]'", "'<b>x</b>'", "letters"]),
        ({"matrix": {"model": ["rеsnet50"]}}, ["'matrix.model[0]'", "letters"]),  # a Cyrillic e
        ({"matrix": {"framework": ["command"]}}, ["matrix.framework command", "expected a script of"]),
        ({"measure": {"min_seconds": float("nan")}}, ["'measure.min_seconds'", "nan"]),
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
        ("measure={min_steps: 7, xla: true}", "measure.min_steps", 7),
        ("measure_on=workstation", "measure_on", ["workstation"]),
        ("runs=3", "runs", 3),
    ],
)
def test_what_is_typed_after_config_is_taken_as_in_the_file(typed, key, value):
    found = plan(**parse_config([typed])).config
    for part in key.split("."):
        found = getattr(found, part)
    assert found == value


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
    [("{batch_size} * {gpus}", 64), ("{global_batch_size}*1024", 65_536), (2048, 2048), ("{batch_size}*3*{gpus}", 192)],
)
def test_samples_of_a_step_are_a_product(product, samples):
    assert Script(command="x", samples_per_step=product, steps="keras").samples(CELL) == samples


@pytest.mark.parametrize(
    ("file", "model", "mark"), [("prices/rent.yaml", PriceList, "#"), ("", RootModel[dict[str, Instance]], "# ")]
)
def test_what_a_template_explains_in_comments_is_right(new_study, file, model, mark):
    text = (new_study / file if file else ROOT / "config" / "instances.yaml").read_text(encoding="utf-8")
    head, _, commented = text.rpartition("remove its #.\n" if file else "remove the #.\n")
    uncommented = re.sub(f"^{mark}?" if mark != "#" else "^#", "", commented, flags=re.MULTILINE)
    explained = model.model_validate(yaml.safe_load(f"{head}\n{uncommented}"))
    assert explained != model.model_validate(yaml.safe_load(text))


MODELS: dict[str, type[BaseModel]] = {
    "config.yaml": Config,
    "study.yaml": Study,
    "instances.yaml": RootModel[dict[str, Instance]],
    "prices/*.yaml": PriceList,
    "workloads.yaml": Workloads,
    "availability.yaml": Availability,
    "scenarios/*.yaml": Scenario,
    "claims.yaml": Claims,
}
# Templates of `new-study`, and what explains own scripts and what `sweetspot import-use` writes.
EXPLAINING = ("workflow/sweetspot/commands/templates/**/*.j2", "config/studies/*/scenarios/*.yaml",
              "config/*.yaml", "docs/measuring.md", "workflow/sweetspot/use/*.py",
              "workflow/sweetspot/commands/new_study.py", "workflow/sweetspot/commands/import_use.py")  # fmt: skip


def defining_model(model: type[BaseModel], key: str) -> str:
    """Return the name of the class that declares a key, which may be a base of `model`."""
    return next(base.__name__ for base in reversed(model.__mro__) if key in getattr(base, "__annotations__", {}))


def given_keys(value: Any) -> Iterator[tuple[str, str]]:
    """Yield model and key of what the models within a value were given."""
    if isinstance(value, BaseModel):
        for key in value.model_fields_set:
            if key in type(value).model_fields and not isinstance(value, RootModel):
                yield defining_model(type(value), key), key
            yield from given_keys(getattr(value, key))
    for item in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from given_keys(item)


def models_below(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for derived in model.__subclasses__():
        if derived.__module__.startswith("sweetspot.study.") and derived.__name__ != "Name":
            yield derived
        yield from models_below(derived)


def test_every_key_is_used_or_explained():
    assert Script  # whose keys docs/measuring.md explains
    used: set[tuple[str, str]] = set()
    for pattern, model in MODELS.items():
        for file in (ROOT / "config").rglob(pattern):
            content = yaml.load(file.read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
            used |= set(given_keys(model.model_validate({"claims": content} if model is Claims else content)))
    texts = [file.read_text(encoding="utf-8") for pattern in EXPLAINING for file in ROOT.glob(pattern)]
    names = set(re.findall(r"\b([a-z][a-z_0-9]*)[\"'`:]", "\n".join(texts)))
    declared = {(defining_model(model, key), key) for model in models_below(Closed) for key in model.model_fields}
    assert sorted(f"{model}.{key}" for model, key in declared - used if key not in names) == []
