"""What commands print and write: templates filled (the files of a new study among them), and JSON."""

import json
import math
from pathlib import Path
from typing import Any

import jinja2
import yaml

TEMPLATES = Path(__file__).parent / "templates"


def render(template: str, **values: Any) -> str:
    """Fill a template of `templates/` (without `.j2`) with `values` by name; return the text to print or write."""
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["flow"] = flow_yaml
    return environment.get_template(f"{template}.j2").render(values)


def to_json(value: Any) -> str:
    """Return plain values as indented JSON text, as `--json` prints it; NaN and infinities become null."""
    without_nan = json.loads(json.dumps(value), parse_constant=lambda _: None)
    return json.dumps(without_nan, indent=2, ensure_ascii=False)


def flow_yaml(value: Any) -> str:
    """Return a value as one line of YAML, `{value: 1, low: 0.8}`: the filter `flow` in templates of study files."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    text = yaml.safe_dump(value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=math.inf)
    return str(text).removesuffix("...\n").strip()
