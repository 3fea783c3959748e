"""Write JSON schemas of every file that a person edits, of the answer for programs, and docs/tables.md: make schemas

Editors complete and check YAML with them, and they are the reference of all keys. They are made from the models of the
library, which stay the authority; a test keeps both in step.
"""

import json
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, RootModel
from sweetspot.facts.shipped_tables import table
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
ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "config" / "schemas"
CATALOGUE = ROOT / "workflow" / "schemas" / "config.schema.yaml"  # where snakedeploy and the catalogue look


TABLES_HEAD = """# Tables

After this page you can read any table below `results/<study>/` in a program of your own. The columns are declared in
`sweetspot/facts/tables.csv`; their units and meanings also stand in the Parquet files.

`*`: the column has a `_low` and a `_high` beside it (90 % unless the table says otherwise).
"""


def schemas() -> dict[str, dict[str, Any]]:
    """Return the schemas by file name, one for each kind of file."""
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
    names = {f"{name}.schema.json": model for name, model in models.items()}
    return {name: {"$schema": DIALECT, "$id": name, **_with_text_in_one_line(names[name])} for name in names}


def _with_text_in_one_line(model: type[BaseModel]) -> dict[str, Any]:
    """Return the schema of a model, whose descriptions have no line ends."""
    return dict(json.loads(json.dumps(model.model_json_schema()).replace("\\n", " ")))


def catalogue_schema() -> dict[str, Any]:
    """Return the schema of config.yaml without `$ref`, whose keys the workflow catalogue hides."""
    schema = schemas()["config.schema.json"]
    parts = schema.pop("$defs", {})

    def resolve(value: Any) -> Any:
        if isinstance(value, list):
            return [resolve(entry) for entry in value]
        if not isinstance(value, dict):
            return value
        part = parts[value["$ref"].rpartition("/")[2]] if "$ref" in value else {}
        others = {name: entry for name, entry in value.items() if name != "$ref"}
        return {name: resolve(entry) for name, entry in (part | others).items()}

    return resolve(schema) | {"$id": CATALOGUE.name}


def tables_page() -> str:
    """Return docs/tables.md: the columns of every table that a rule writes."""
    rows = table("tables")
    lines = [TABLES_HEAD]
    for name in dict.fromkeys(row["table"] for row in rows):
        lines += [f"## {name}", "", "| column | type | unit | meaning |", "|---|---|---|---|"]
        for row in rows:
            if row["table"] == name:
                column = f"`{row['column']}`{' *' * bool(row['bounds'])}"
                lines.append(f"| {column} | {row['type']} | {row['unit']} | {row['description']} |")
        lines.append("")
    return "\n".join(lines)


def write_schemas() -> None:
    """Write all schemas of this project, and the page of its tables."""
    texts = {FOLDER / name: json.dumps(schema, indent=2, ensure_ascii=False) for name, schema in schemas().items()}
    texts[CATALOGUE] = yaml.safe_dump(catalogue_schema(), sort_keys=False, width=120).rstrip()
    texts[ROOT / "docs" / "tables.md"] = tables_page().rstrip()
    for file, text in texts.items():
        file.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    write_schemas()
