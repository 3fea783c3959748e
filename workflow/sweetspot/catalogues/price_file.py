"""A price list, or another YAML file of a study, edited as text: comments, order and layout of the rest stay."""

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

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


def with_item(text: str, key: str, item: Any, before: str | None = None, within: str | None = None) -> str:
    """The text with one more item at the end of the list `key`, of the file or of its entry `within`.

    Where the file has no such list it begins with the item: above the key `before`, else at the end of the file.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    if within is not None:
        root = next(value for name, value in root.value if name.value == within)
    found = {name.value: (name, value) for name, value in root.value}
    eol = _line_end(text)
    if key not in found:
        lines = _dumped({key: [item]}, eol)
        at = found[before][0].start_mark.index if before is not None else None
        return text[:at] + lines + text[at:] if at is not None else _ended(text, eol) + lines
    items = found[key][1]
    if items.flow_style:
        at = items.end_mark.index - 1
        new = (
            yaml.safe_dump(item, default_flow_style=True, allow_unicode=True, width=10_000)
            .removesuffix("...\n")
            .strip()
        )
        return text[:at] + (", " if items.value else "") + new + text[at:]
    line_end = LINE_END.search(text, _end(text, items.value[-1]))
    at = line_end.end() if line_end else len(text)
    lines = textwrap.indent(_dumped([item], eol), " " * items.start_mark.column)
    return (text[:at] if line_end else text + eol) + lines + text[at:]


def with_entries(text: str, entries: Mapping[str, Any]) -> str:
    """The text with more keys at its end, each with a line of its own."""
    eol = _line_end(text)
    return _ended(text, eol) + "".join(_dumped({key: entry}, eol, plain=False) for key, entry in entries.items())


def with_value(text: str, place: Sequence[str | int], item: Any) -> str:
    """The text in which the value at a place (keys, and numbers in lists) is another, on one line.

    A key that is not there is put behind the last one of its mapping, which must be there.
    """
    node = yaml.compose(text, Loader=yaml.SafeLoader)
    for part in place[:-1]:
        node = node.value[part] if isinstance(part, int) else next(v for k, v in node.value if k.value == part)
    key = str(place[-1])
    new = yaml.safe_dump(item, default_flow_style=True, sort_keys=False, allow_unicode=True, width=10_000)
    new = new.removesuffix("...\n").strip()
    found = next((value for name, value in node.value if name.value == key), None)
    if found is not None:
        return text[: found.start_mark.index] + new + text[_end(text, found) :]
    if node.flow_style:
        at = node.end_mark.index - 1
        return f"{text[:at]}, {key}: {new}{text[at:]}"
    line_end = LINE_END.search(text, _end(text, node))
    at, eol = (line_end.start(), line_end[0]) if line_end else (len(text), "\n")
    return f"{text[:at]}{eol}{' ' * node.value[0][0].start_mark.column}{key}: {new}{text[at:]}"


def with_flag(text: str, key: str) -> str:
    """The text in which a key is true."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    node = next((value for name, value in root.value if name.value == key), None)
    if node is None:
        return with_entries(text, {key: True})
    return text[: node.start_mark.index] + "true" + text[node.end_mark.index :]


def _dumped(value: Any, eol: str, plain: bool = True) -> str:
    """YAML in which what holds plain values alone stands on one line, within brackets where it may be `plain`."""
    nested = plain or any(isinstance(part, dict | list) for part in value.values())
    style = None if nested else False
    text = yaml.safe_dump(value, sort_keys=False, allow_unicode=True, default_flow_style=style, width=10_000)
    return str(text).replace("\n", eol)


def _line_end(text: str) -> str:
    found = LINE_END.search(text)
    return found[0] if found else "\n"


def _ended(text: str, eol: str) -> str:
    return text if not text or text.endswith("\n") else text + eol


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
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
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
