"""Write JSON schemas of every file that a person edits (config, study, instances, ...), and of the answer for programs.

Editors complete and check YAML with them, and they are the reference of all keys. They are made from the models of the
library, which stay the authority; a test keeps both in step.

    sweetspot schemas                  # config/schemas/*.schema.json
    sweetspot schemas /tmp/schemas
"""

import argparse
import json
from pathlib import Path
from typing import Any

from pydantic import BaseModel, RootModel

from sweetspot.errors import UserError
from sweetspot.files import write_whole
from sweetspot.report.answer_file import Answer
from sweetspot.study.base import Slug
from sweetspot.study.claims import Claim
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList
from sweetspot.study.scripts import Script
from sweetspot.study.study import Study
from sweetspot.study.workloads import Workloads


def schemas() -> dict[str, dict[str, Any]]:
    """Schema by file name, one for each kind of configuration file."""
    models: dict[str, type[BaseModel]] = {
        "config": Config,
        "study": Study,
        "instances": RootModel[dict[Slug, Instance]],
        "prices": PriceList,
        "workloads": Workloads,
        "claims": RootModel[list[Claim]],
        "commands": Script,
        "answer": Answer,  # what is written, not read: results/<study>/report/answer.json
    }
    return {f"{name}.schema.json": model.model_json_schema() for name, model in models.items()}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """The command line of `sweetspot schemas`."""
    parser.add_argument(
        "folder", type=Path, nargs="?", default=Path("config/schemas"), help="where to write (config/schemas)"
    )


def run(arguments: argparse.Namespace) -> None:
    """Write all schemas. Raises UserError where the folder cannot be written."""
    if arguments.folder.exists() and not arguments.folder.is_dir():
        raise UserError(f"{arguments.folder}: a file of that name exists; expected a folder")
    for name, schema in schemas().items():
        with write_whole(arguments.folder / name) as temporary:
            temporary.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
