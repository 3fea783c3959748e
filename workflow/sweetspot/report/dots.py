"""What the charts share that have a name a row: a point by its basis on its interval, along a scale of rates."""

from typing import TYPE_CHECKING, Any

from sweetspot.report.marks import ENDS, PLOT, line_step, log_axis, name_axis, points

if TYPE_CHECKING:
    import altair as alt
    import pandas as pd

WIDE = 20  # the largest by the smallest, from where on a logarithmic scale tells the small ones apart
TWO = 60  # characters of two names together, at most
OWN_FIGURES = ("measured", "own", "published")
ROW = 18  # pixels of a row whose name has one line


def ends_of(rate: str, unit: str) -> dict[str, str]:
    """Columns of a rate and of its interval, for a tooltip."""
    return {f"{rate}{end}": f"{unit}{name}" for end, name in ENDS.items()}


def rate_axis(rows: "pd.DataFrame", rate: str, unit: str, log: bool = True) -> "alt.X":
    """The scale of a rate, as long as its points and intervals need; not `log`: only where points differ WIDE."""
    import altair as alt
    import pandas as pd

    values = rows[rate]
    if not log and not values.max() > WIDE * values.min() > 0:
        return alt.X(f"{rate}:Q", title=unit, scale=alt.Scale(zero=False, padding=8))
    every = pd.concat([rows[name].dropna() for name in (rate, f"{rate}_low", f"{rate}_high") if name in rows.columns])
    scale = alt.Scale(type="log", nice=False, padding=10)
    return alt.X(f"{rate}:Q", title=f"{unit} (log scale)", scale=scale, axis=log_axis(every))


def dots(rows: "pd.DataFrame", rate: str, x: "alt.X", name: str, **marks: Any) -> "alt.LayerChart":
    """A panel of `by_row` of these rows: `rate` by `name`, a column of `wrapped`; a line where an interval is known.

    marks: `sort` of the names (the largest rate first), `tint` and `words` (tooltip) of the points, `beside` (more
    channels of both) and `height`.
    """
    import altair as alt

    sort = marks.get("sort", alt.EncodingSortField(rate, op="max", order="descending"))
    y = alt.Y(f"{name}:N", sort=sort, title=None, axis=name_axis())
    low, high = alt.X(f"{rate}_low:Q", title=x.to_dict()["title"]), alt.X2(f"{rate}_high:Q")
    both = {"y": y, "color": marks["tint"], **marks.get("beside", {})}
    bounded = alt.Chart().transform_filter(f"isValid(datum.{rate}_low)")
    return alt.layer(
        bounded.mark_rule(strokeWidth=1.5).encode(x=low, x2=high, **both),
        *points(alt.Chart(), x=x, tooltip=marks["words"], **both),
        width=PLOT,
        height=marks.get("height") or line_step(rows[name], ROW),
    )


def alike(rows: "pd.DataFrame", rate: str, own: str) -> "pd.DataFrame":
    """One machine for all that have the same figures on a model: a device is as fast wherever it is rented.

    rows: columns instance, machine (names for people), model, batch_size, basis and `rate`. Of machines alike, one
    with a figure of its own on some model stays, with the others in its name: one by name, more by their number. `own`,
    an instance, keeps its row.
    """
    figures = rows["batch_size"].astype(str) + " " + rows[rate].map("{:.6g}".format)
    of = [rows["instance"], rows["model"]]
    figures = figures.groupby(of).transform(lambda found: "; ".join(sorted(found)))
    figures = figures.mask(rows["instance"] == own, own)
    taken = ~rows["basis"].isin(OWN_FIGURES).groupby(rows["instance"]).transform("any")
    rows = rows.assign(figures=figures, taken=taken).sort_values(["taken", "instance"], kind="stable")
    same = rows.groupby(["model", "figures"], sort=False)
    names = same["machine"].transform(lambda found: _all_of(list(dict.fromkeys(found))))
    kept = rows["instance"] == same["instance"].transform("first")
    return rows.assign(machine=names)[kept].drop(columns=["figures", "taken"]).reset_index(drop=True)


def _all_of(names: list[str]) -> str:
    """The first, with the others by name or by number."""
    if len(names) == 1:
        return names[0]
    both = f"{names[0]} and {names[1]}"
    return (
        both
        if len(names) == 2 and len(both) <= TWO
        else f"{names[0]} and {len(names) - 1} other{'s'[: len(names) - 2]}"
    )
