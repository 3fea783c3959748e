"""JSON Schemas of every file a person edits, written from the models; `python -m sweetspot.commands.schemas DIR`.

Editors complete and check YAML with them, and they are the reference of all keys. The models stay the
authority; a test keeps the files in step.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pydantic import RootModel

from sweetspot.files import write_whole
from sweetspot.study.base import Slug
from sweetspot.study.claims import Claim
from sweetspot.study.config import Config
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList
from sweetspot.study.study import Study
from sweetspot.study.workloads import Workloads


def schemas() -> dict[str, dict[str, Any]]:
    """Schema by file name, one for each kind of configuration file."""
    models = {
        "config": Config,
        "study": Study,
        "instances": RootModel[dict[Slug, Instance]],
        "prices": PriceList,
        "workloads": Workloads,
        "claims": RootModel[list[Claim]],
    }
    return {f"{name}.schema.json": model.model_json_schema() for name, model in models.items()}


def main(folder: str) -> None:
    """Write all schemas into `folder`."""
    for name, schema in schemas().items():
        with write_whole(Path(folder) / name) as temporary:
            temporary.write_text(json.dumps(schema, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:2] or ["config/schemas"])
