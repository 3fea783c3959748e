"""A price list edited as text: only the values that change, so that comments, order and layout stay."""

import json
import re
from collections.abc import Mapping
from datetime import date

import yaml

Value = float | str | date
LINE_END = re.compile(r"\r?\n")


def with_values(text: str, changes: Mapping[int, Mapping[str, Value]]) -> str:
    """The text of a price list in which offers have other values: {place in `offers`: {key: value}}.

    A key that an offer lacks is put behind its `per_hour`, which it must have. `text` must be a list that loads.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    offers = next(value for key, value in root.value if key.value == "offers").value
    edits: list[tuple[int, int, str]] = []
    for place, values in changes.items():
        edits += _edits(text, offers[place], values)
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def _edits(text: str, offer: yaml.MappingNode, values: Mapping[str, Value]) -> list[tuple[int, int, str]]:
    """Start, end and new text of each piece of one offer."""
    found = {key.value: (key, value) for key, value in offer.value}
    edits, added = [], []
    for name, value in values.items():
        if name not in found:
            added.append(f"{name}: {_written(value)}")
            continue
        node = found[name][1]
        start, end = node.start_mark.index, node.end_mark.index
        while end > start and text[end - 1] in " \r\n":  # a block text ends where the next key begins
            end -= 1
        edits.append((start, end, _written(value)))
    if added:
        key, price = found["per_hour"]
        end = price.end_mark.index
        if offer.flow_style:
            edits.append((end, end, "".join(f", {piece}" for piece in added)))
        else:
            line_end = LINE_END.search(text, end)
            at, eol = (line_end.start(), line_end[0]) if line_end else (len(text), "\n")
            edits.append((at, at, "".join(f"{eol}{' ' * key.start_mark.column}{piece}" for piece in added)))
    return edits


def _written(value: Value) -> str:
    """A value as YAML: numbers without an exponent, texts in double quotes."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:.6f}".rstrip("0").rstrip(".")
