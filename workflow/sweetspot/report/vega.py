"""Vega-Lite specifications as plain dicts: channels, layers, facets; nothing is imported to make them."""

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    import pandas as pd

Spec = dict[str, Any]


class Drawing(NamedTuple):
    """A Vega-Lite specification that refers to its data by name, and the data."""

    spec: Spec
    data: dict[str, "pd.DataFrame"]


def amount(field: str, **more: Any) -> Spec:
    """A channel that shows a number; `more`: title, scale, axis."""
    return {"field": field, "type": "quantitative", **more}


def kind(field: str, **more: Any) -> Spec:
    """A channel that tells names apart; `more`: title, scale, axis, sort, legend."""
    return {"field": field, "type": "nominal", **more}


def end(field: str) -> Spec:
    """The second end of a bar or band (channels x2 and y2)."""
    return {"field": field}


def by_field(field: str, order: str, op: str | None = None) -> Spec:
    """A sorting of names by another column; `op` joins several rows of a name."""
    return {"field": field, "order": order} | ({"op": op} if op else {})


def layer(
    mark: str, style: Spec | None = None, data: str = "rows", where: tuple[Any, ...] = (), **channels: Any
) -> Spec:
    """One mark: its style, the name of its data, the rows it draws (Vega expressions or predicates), its channels."""
    filters = {"transform": [{"filter": condition} for condition in where]} if where else {}
    return {"data": {"name": data}, "mark": {"type": mark, **(style or {})}, "encoding": channels, **filters}


def layered(*layers: Spec, width: int, height: int | Spec) -> Spec:
    """Layers on top of each other, in that order. `height`: pixels, or {"step": pixels a row}."""
    return {"layer": list(layers), "width": width, "height": height}


def by_row(spec: Spec, field: str, independent: tuple[str, ...] = (), name: str = "rows") -> Spec:
    """One such drawing a value of `field`, below each other; the scales named in `independent` are each its own."""
    # The facet divides the data: a layer that names it again would draw all of it in each row.
    layers = [{key: value for key, value in one.items() if key != "data"} for one in spec["layer"]]
    resolve = {"resolve": {"scale": dict.fromkeys(independent, "independent")}} if independent else {}
    row = {"field": field, "type": "nominal", "title": None}
    return {"data": {"name": name}, "facet": {"row": row}, "spec": spec | {"layer": layers}, **resolve}
