"""Write JSON schemas of every file that a person edits (config, study, instances, ...), and of the answer for programs.

Editors complete and check YAML with them, and they are the reference of all keys. They are made from the models of the
library, which stay the authority; a test keeps both in step.

    sweetspot schemas                  # config/schemas/*.schema.json, workflow/schemas/config.schema.yaml
    sweetspot schemas /tmp/schemas
"""

import argparse
import json
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, RootModel

from sweetspot.errors import UserError
from sweetspot.files import write_whole
from sweetspot.report.answer_file import Answer
from sweetspot.study.base import Slug
from sweetspot.study.claims import Claim
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList
from sweetspot.study.scenarios import Scenario
from sweetspot.study.scripts import Script
from sweetspot.study.stock import Availability
from sweetspot.study.study import Study
from sweetspot.study.workloads import Workloads

DIALECT = "https://json-schema.org/draft/2020-12/schema"  # pydantic's
CATALOGUE = Path("workflow/schemas/config.schema.yaml")  # where snakedeploy and the catalogue look


def schemas() -> dict[str, dict[str, Any]]:
    """Schema by file name, one for each kind of configuration file."""
    models: dict[str, type[BaseModel]] = {
        "config": Config,
        "study": Study,
        "instances": RootModel[dict[Slug, Instance]],
        "prices": PriceList,
        "workloads": Workloads,
        "availability": Availability,
        "claims": RootModel[list[Claim]],
        "commands": Script,
        "scenario": Scenario,
        "answer": Answer,  # what is written, not read: results/<study>/report/answer.json
    }
    return {
        f"{name}.schema.json": {"$schema": DIALECT, "$id": f"{name}.schema.json", **model.model_json_schema()}
        for name, model in models.items()
    }


def catalogue_schema() -> dict[str, Any]:
    """The schema of config.yaml as the workflow catalogue's table of keys reads it: no `$ref`, whose keys it hides."""
    schema = schemas()["config.schema.json"]
    parts = schema.pop("$defs", {})

    def whole(value: Any) -> Any:
        if isinstance(value, list):
            return [whole(entry) for entry in value]
        if not isinstance(value, dict):
            return value
        part = parts[value["$ref"].rpartition("/")[2]] if "$ref" in value else {}
        said = {name: entry for name, entry in value.items() if name != "$ref"}
        return {name: whole(entry) for name, entry in (part | said).items()}

    return whole(schema) | {"$id": CATALOGUE.name}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot schemas`."""
    default = Path("config/schemas")
    parser.add_argument("folder", type=Path, nargs="?", default=default, help="where to write (config/schemas)")


def run(arguments: argparse.Namespace) -> None:
    """Write all schemas. Raises UserError where the folder cannot be written."""
    folder = arguments.folder
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder}: a file of that name exists; expected a folder")
    if not folder.parent.is_dir():
        raise UserError(f"{folder.parent}: is no folder; expected a project here, or another folder to write into")
    texts = {folder / name: json.dumps(one, indent=2, ensure_ascii=False) + "\n" for name, one in schemas().items()}
    if CATALOGUE.parent.is_dir():
        texts[CATALOGUE] = yaml.safe_dump(catalogue_schema(), sort_keys=False, width=120)
    for file, text in texts.items():
        with write_whole(file) as temporary:
            temporary.write_text(text, encoding="utf-8")
