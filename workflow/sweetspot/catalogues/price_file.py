"""A price list edited as text: comments, order and layout of the rest stay."""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import yaml

Value = float | str | date
YamlPath = Sequence[str | int]
LINE_END = re.compile(r"\r?\n|$")


def with_values(text: str, changes: Mapping[int, Mapping[str, Value]]) -> str:
    """Return a price list in which offers have other values: {position in `offers`: {key: value}}."""
    return _replace(
        text, {("offers", index, key): value for index, values in changes.items() for key, value in values.items()}
    )


def _replace(text: str, values: Mapping[tuple[str | int, ...], Any]) -> str:
    root = _compose(text)
    edits = [_edit(text, root, path, _inline(value)) for path, value in values.items()]
    for start, end, new in reversed(sorted(edits, key=lambda edit: edit[0])):
        text = text[:start] + new + text[end:]
    return text


def _edit(text: str, root: Any, path: tuple[str | int, ...], new: str) -> tuple[int, int, str]:
    """Return start and end of the text to be replaced, and the new text."""
    node, key = _node(root, path[:-1]), path[-1]
    value = _node(node, (key,))
    if value is not None:
        return value.start_mark.index, _end(text, value), new
    if node.flow_style:
        at = node.end_mark.index - 1
        return at, at, f", {key}: {new}"
    at = _line_end(text, node)
    return at, at, f"{_eol(text)}{' ' * node.start_mark.column}{key}: {new}"


def _compose(text: str) -> Any:
    return yaml.compose(text, Loader=yaml.SafeLoader)


def _node(node: Any, path: YamlPath) -> Any:
    """Return the node at a path, None if its last key is missing."""
    for step in path:
        if isinstance(step, int):
            node = node.value[step]
        else:
            node = next((value for name, value in node.value if name.value == step), None)
    return node


def _inline(item: Any) -> str:
    """Write a value on one line, quoted where commas and brackets around it need that."""
    text = yaml.safe_dump([item], default_flow_style=True, sort_keys=False, allow_unicode=True, width=float("inf"))
    return str(text).strip()[1:-1]


def _eol(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_end(text: str, node: yaml.Node) -> int:
    match = LINE_END.search(text, _end(text, node))
    return match.start() if match else len(text)


def _end(text: str, node: yaml.Node) -> int:
    """Return where a value ends: a block with its last value, a block text where the next key begins."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
    end: int = node.end_mark.index
    while end > node.start_mark.index and text[end - 1] in " \r\n":
        end -= 1
    return end
