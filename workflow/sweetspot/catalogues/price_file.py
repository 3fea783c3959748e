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

    `commitment.per_hour` is the key within the commitment. A key that an offer lacks is put behind its `per_hour` or
    its `commitment`, one of which it must have. `text` must be a list that loads.
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
        node = _node(offer, name)
        if node is None:
            added.append(f"{name}: {_written(value)}")
        else:
            edits.append((node.start_mark.index, _end(text, node), _written(value)))
    if added:
        key, price = found["per_hour" if "per_hour" in found else "commitment"]
        end = _end(text, price)
        if offer.flow_style:
            edits.append((end, end, "".join(f", {piece}" for piece in added)))
        else:
            line_end = LINE_END.search(text, end)
            at, eol = (line_end.start(), line_end[0]) if line_end else (len(text), "\n")
            edits.append((at, at, "".join(f"{eol}{' ' * key.start_mark.column}{piece}" for piece in added)))
    return edits


def _node(offer: yaml.MappingNode, name: str) -> yaml.Node | None:
    """The value of a key, of one within another after a dot; None where there is none."""
    first, _, rest = name.partition(".")
    found = next((value for key, value in offer.value if key.value == first), None)
    return _node(found, rest) if rest and isinstance(found, yaml.MappingNode) else found


def _end(text: str, node: yaml.Node) -> int:
    """Where a value ends: a block ends with its last value, and a block text where the next key begins."""
    while isinstance(node, yaml.MappingNode) and not node.flow_style and node.value:
        node = node.value[-1][1]
    end: int = node.end_mark.index
    while end > node.start_mark.index and text[end - 1] in " \r\n":
        end -= 1
    return end


def _written(value: Value) -> str:
    """A value as YAML: numbers without an exponent, texts in double quotes."""
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    return f"{value:.6f}".rstrip("0").rstrip(".")
