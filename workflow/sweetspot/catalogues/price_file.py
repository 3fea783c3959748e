"""A price list, or another YAML file of a study, edited as text: comments, order and layout of the rest stay."""

import json
import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any

import yaml

Value = float | str | date
LINE_END = re.compile(r"\r?\n")


def with_values(text: str, changes: Mapping[int, Mapping[str, Value]]) -> str:
    """The text of a price list in which offers have other values: {position in `offers`: {key: value}}.

    A key that an offer lacks is put behind its `per_hour`, which it must have. `text` must be a list that loads.
    """
    offers = _entry(_composed(text), "offers")[1].value
    edits = [edit for position, values in changes.items() for edit in _edits(text, offers[position], values)]
    for start, end, new in sorted(edits, reverse=True):
        text = text[:start] + new + text[end:]
    return text


def with_item(text: str, key: str, item: Any, before: str | None = None, within: str | None = None) -> str:
    """The text with one more item at the end of the list `key`, of the file or of its entry `within`.

    Where the file has no such list it begins with the item: above the key `before`, else at the end of the file.
    """
    root, eol = _composed(text), _line_end(text)
    _, items = _entry(root if within is None else _entry(root, within)[1], key)
    if items is None:
        lines = _dumped({key: [item]}, eol)
        if before is None:
            return _ended(text, eol) + lines
        at = _entry(root, before)[0].start_mark.index
        return text[:at] + lines + text[at:]
    if items.flow_style:
        at = items.end_mark.index - 1
        return text[:at] + (", " if items.value else "") + _on_a_line(item) + text[at:]
    line_end = LINE_END.search(text, _end(text, items.value[-1]))
    at = line_end.end() if line_end else len(text)
    lines = textwrap.indent(_dumped([item], eol), " " * items.start_mark.column)
    return (text[:at] if line_end else text + eol) + lines + text[at:]


def with_entries(text: str, entries: Mapping[str, Any]) -> str:
    """The text with more keys at its end, each with a line of its own."""
    eol = _line_end(text)
    return _ended(text, eol) + "".join(_dumped({key: entry}, eol, brackets=False) for key, entry in entries.items())


def with_value(text: str, path: Sequence[str | int], item: Any) -> str:
    """The text in which the value at a path (keys, and positions in lists) is another, on one line.

    A key that is not there is put behind the last one of its mapping, which must be there.
    """
    node = _composed(text)
    for part in path[:-1]:
        node = node.value[part] if isinstance(part, int) else _entry(node, part)[1]
    key, new = str(path[-1]), _on_a_line(item)
    _, value = _entry(node, key)
    if value is not None:
        return text[: value.start_mark.index] + new + text[_end(text, value) :]
    if node.flow_style:
        at = node.end_mark.index - 1
        return f"{text[:at]}, {key}: {new}{text[at:]}"
    at, added = _lines_behind(text, node, node.value[0][0], [f"{key}: {new}"])
    return text[:at] + added + text[at:]


def _composed(text: str) -> Any:
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _entry(node: Any, key: str) -> tuple[Any, Any]:
    """The nodes of a key of a mapping and of its value; None where there is none."""
    return next(((name, value) for name, value in node.value if name.value == key), (None, None))


def _yaml(item: Any, style: bool | None) -> str:
    text = yaml.safe_dump(item, default_flow_style=style, sort_keys=False, allow_unicode=True, width=float("inf"))
    return str(text)


def _on_a_line(item: Any) -> str:
    return _yaml(item, True).removesuffix("...\n").strip()


def _dumped(value: Any, eol: str, brackets: bool = True) -> str:
    """YAML in which what holds plain values alone stands on one line, within brackets where these are allowed."""
    nested = brackets or any(isinstance(part, dict | list) for part in value.values())
    return _yaml(value, None if nested else False).replace("\n", eol)


def _line_end(text: str) -> str:
    match = LINE_END.search(text)
    return match[0] if match else "\n"


def _ended(text: str, eol: str) -> str:
    return text if not text or text.endswith("\n") else text + eol


def _lines_behind(text: str, node: yaml.Node, beside: yaml.Node, pieces: Sequence[str]) -> tuple[int, str]:
    """Where the line ends on which a value does, and lines to put there, each as far in as `beside`."""
    line_end = LINE_END.search(text, _end(text, node))
    at, eol = (line_end.start(), line_end[0]) if line_end else (len(text), "\n")
    return at, "".join(f"{eol}{' ' * beside.start_mark.column}{piece}" for piece in pieces)


def _edits(text: str, offer: yaml.MappingNode, values: Mapping[str, Value]) -> Iterator[tuple[int, int, str]]:
    """Start, end and new text of each piece of one offer."""
    added = []
    for name, value in values.items():
        node = _entry(offer, name)[1]
        if node is None:
            added.append(f"{name}: {_written(value)}")
        else:
            yield node.start_mark.index, _end(text, node), _written(value)
    if added:
        key, price = _entry(offer, "per_hour")
        at, lines = _end(text, price), "".join(f", {piece}" for piece in added)
        if not offer.flow_style:
            at, lines = _lines_behind(text, price, key, added)
        yield at, at, lines


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
