"""A price list edited as text: comments, order and layout of the rest stay."""

from collections.abc import Mapping
from datetime import date
from operator import itemgetter

import yaml

Value = float | str | date


def with_values(text: str, changes: Mapping[int, Mapping[str, Value]]) -> str:
    """Return a price list's YAML text with new values in some offers and everything else, comments too, as the user
    wrote it. `changes`: {position in `offers`: {key: value}}, e.g. {0: {"per_hour": 1.2}}; new keys are added.
    """
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    offers = next(value.value for key, value in root.value if key.value == "offers")
    edits = []
    for position, values in changes.items():
        offer = offers[position]
        nodes = {key.value: value for key, value in offer.value}
        if offer.flow_style:
            end, separator = offer.end_mark.index - 1, ", "
        else:
            end, separator = _end(text, offer), "\n" + " " * offer.start_mark.column
            end += len(text[end:].partition("\n")[0])
        for key, value in values.items():
            # Quoted where commas and brackets around it need that.
            item = yaml.safe_dump([value], default_flow_style=True, allow_unicode=True, width=float("inf"))
            item = item.strip()[1:-1]
            node = nodes.get(key)
            if node is None:
                edits.append((end, end, f"{separator}{key}: {item}"))
            else:
                edits.append((node.start_mark.index, _end(text, node), item))

    for start, stop, item in reversed(sorted(edits, key=itemgetter(0))):
        text = text[:start] + item + text[stop:]
    return text


def _end(text: str, node: yaml.Node) -> int:
    """Return the offset in YAML `text` behind a node's value (of a mapping or list: its last), to insert text."""
    while isinstance(node, yaml.CollectionNode) and not node.flow_style and node.value:
        node = node.value[-1][1] if isinstance(node, yaml.MappingNode) else node.value[-1]
    start = node.start_mark.index
    return start + len(text[start : node.end_mark.index].rstrip(" \r\n"))
