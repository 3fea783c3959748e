"""How the gain moves with the choice among published figures: those of others for the devices of the answer."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.breakeven import references
from sweetspot.decision.options import Row, records, same_machine, trained
from sweetspot.wording import listed, the, times

COLUMNS = (
    "model", "device", "images_per_s", "framework_version", "batch_size", "dataset", "figure_source", "as_used",
    "alternative", "alternative_title", "alternative_figure", "rival", "rival_title", "gain", "winner", "winner_title",
    "cheapest_of_all", "cheapest_of_all_title", "gain_of_all",
)  # fmt: skip
PROPORTION = 1.05  # bills that leave USD per image by more than this decide by themselves
SAME_FIGURE = 1e-6  # of two figures: nearer than that they are one
AS_USED, LEFT_OUT = "as used", "left out"
Factors = Mapping[str, float]  # by instance: other images/s / those used; 0: the machine is left out


@dataclass(frozen=True)
class Choice:
    """A published figure of one device (`used`: the one that stands in), and how many times it the speeds become."""

    device: str
    row: dict[str, Any]
    used: bool
    factors: Factors


@dataclass(frozen=True)
class Contenders:
    """Rows of the options of one model, of those that the answer may take (`in_answer`).

    reference: the study's, else the cheapest that stays. alternative: the cheapest other machine or way of paying that
    stays; where none stays but the reference, the cheapest that can be taken away; None where there is no other.
    every: all, the cheapest first. billed: bills decide, not USD per image.
    """

    reference: Row
    alternative: Row | None
    every: tuple[Row, ...]
    billed: bool

    @property
    def cheapest(self) -> Row:
        """The cheaper of the two; where nothing else stays than the reference, that, though what goes costs less."""
        return self.reference if self.alternative is None or self.gain >= 1 else self.alternative

    @property
    def gain(self) -> float:
        """How many times cheaper the reference is than the alternative; infinite without one."""
        if self.alternative is None:
            return np.inf
        return cost(self.alternative, self.billed) / cost(self.reference, self.billed)


def contenders(rows: pd.DataFrame, own: Row | None) -> Contenders | None:
    """Those of a model's options (`trained`); `own`: the study's reference, if any. None: nothing to choose from."""
    inside, stays = rows[rows["in_answer"].astype(bool)], staying(rows)
    if inside.empty:
        return None
    billed = bills_decide(stays)
    every = _by_cost(inside, billed)
    ordered = [row for row in every if row["row"] in stays.index]
    box = ordered[0] if own is None else own
    return Contenders(box, _first_other(ordered, box) or _first_other(every, box), tuple(every), billed)


def staying(rows: pd.DataFrame) -> pd.DataFrame:
    """The options that the answer may take and nobody takes away; where all can be, all that it may take."""
    inside = rows[rows["in_answer"].astype(bool)]
    kept = inside[inside["persistent"].astype(bool)]
    return kept if len(kept) else inside


def bills_decide(rows: pd.DataFrame) -> bool:
    """Whether bills decide, not hourly prices: the USD of the workload (whole hours, fees, minimum sums) are not in
    proportion to USD per image for all options, by 5 % or more.
    """
    product = (rows["usd"] * rows["images_per_usd"])[rows["usd"] != 0]
    return bool(len(product) and product.notna().all() and product.max() > PROPORTION * product.min())


def _by_cost(rows: pd.DataFrame, billed: bool) -> list[Row]:
    return sorted(records(rows), key=lambda row: np.nan_to_num(cost(row, billed), nan=np.inf))


def cost(row: Row, billed: bool) -> float:
    """What decides: the bill, or USD per image where bills are in proportion to it; 0 for what costs nothing."""
    return float(row["usd"] if billed or row["usd"] == 0 else 1.0 / row["images_per_usd"])


def _first_other(rows: list[Row], one: Row) -> Row | None:
    return next((row for row in rows if not same_machine(row, one)), None)


def found_contenders(options: pd.DataFrame) -> dict[str, Contenders]:
    """The contenders of each model that has any, the least favourable to the reference first.

    The last digits of a float choose no model: of equal gains the first in the order of the models is told.
    """
    own = references(options)
    found = {model: contenders(rows, own.get(model)) for model, rows in trained(options).items()}
    known = {model: one for model, one in found.items() if one is not None}
    return dict(sorted(known.items(), key=lambda pair: float(f"{pair[1].gain:.9g}")))


def other_figures(contending: Mapping[str, Contenders], published: pd.DataFrame) -> pd.DataFrame:
    """One row a model, published figure of the device behind the rivals, and figure of the alternative.

    `published`: rows of throughput.csv (`read_published`) of the study and those that it borrows from. The device is
    that behind the cheapest rival whose figure stands in and is one of several published; its figures are those of one
    device in the precision and framework of the one used, whatever batch and version: every option that rests on the
    one used is as many times faster or slower. `alternative_figure`, where the alternative is another device: `as
    used`; a figure published for that machine itself (its device and count); or `left out`.
    `gain` = USD of the cheapest other persistent option (`rival`) / USD of the reference; `winner`: the cheaper of the
    two; `gain_of_all`: the same against the cheapest other option, whether or not it can be taken away.
    A model without a choice has no row, nor one where bills of whole hours decide.
    """
    found = [row for one in contending.values() if not one.billed for row in _of_model(one, published)]
    return pd.DataFrame(found, columns=list(COLUMNS))


def span_in_words(table: pd.DataFrame, model: str, title: str = "") -> str:
    """The range of the gain over the published figures of a model in a sentence; empty where there are none."""
    if table.empty or not table["model"].eq(model).any():
        return ""
    rows, title = table[table["model"] == model], title or model
    low, high = rows["gain"].min(), rows["gain"].max()
    devices = list(rows["device"].dropna().unique())
    of = f" of the {listed(devices)}" if devices else ""
    if rows["alternative_figure"].eq(LEFT_OUT).any():
        of += f" or without {the(rows['alternative_title'].iloc[0])}"
    if low < 1 < high:
        span = f"{times(low)} to {times(high)}"
        return f"With other published figures{of}, the multiple on {title} is {span}: the cheapest changes."
    low, high = (low, high) if low >= 1 else (1 / high, 1 / low)
    name = the(rows["winner_title"].iloc[0]) if rows["winner"].nunique() == 1 else "a rival"
    span = f"{times(low)} to {times(high)} times"
    return f"With other published figures{of}, {name} is still the cheaper on {title}, by {span}."


def _of_model(one: Contenders, published: pd.DataFrame) -> Iterator[Row]:
    if one.alternative is None:
        return
    pool = published[published["model"].eq(one.reference["model"])]
    devices = list(_devices(one, pool))
    rivals = list(_rivals(one, pool, devices[0].device if devices else None))
    if len(devices) * len(rivals) < 2:
        return
    for device in devices:
        for name, factors in rivals:
            row = _row(one, device, name, factors)
            if row is not None:
                yield row


def _devices(one: Contenders, pool: pd.DataFrame) -> Iterator[Choice]:
    """The published figures of the device behind the rivals, that used first.

    Of the rivals, the first whose figure stands in and is one of several that were published of its device.
    """
    rivals = [one.alternative, *sorted(one.every, key=lambda row: not row["persistent"])]
    for rival in rivals:
        found = _of_device(one, rival, pool) if rival is not None and _rests(rival) else []
        if len(found) > 1:
            yield from found
            return


def _of_device(one: Contenders, resting: Row, pool: pd.DataFrame) -> list[Choice]:
    """The figures of one device in the precision and framework of the one that `resting` rests on."""
    moved = [row for row in one.every if _figure_of(row) == _figure_of(resting)]
    device = min((row["gpu"] for row in moved if _is_form(resting["stand_in_gpu"], row["gpu"])), key=len, default="")
    same = pool[pool["gpus"].eq(1) & pool["gpu"].map(lambda gpu: bool(device) and _is_form(gpu, device))]
    same = same[same["precision"].eq(resting["stand_in_precision"])]
    same = same[same["framework"].eq(resting["stand_in_framework"])]
    used = same[[_figure_of(row) == _figure_of(resting) for row in _standing(same)]]
    if used.empty:
        return []
    value = float(used["images_per_s"].median())
    others = [
        Choice(device, _told(row), False, {option["instance"]: float(row["images_per_s"]) / value for option in moved})
        for _, row in same.drop(used.index).drop_duplicates("images_per_s").iterrows()
    ]
    return [Choice(device, _told(used.iloc[0]), True, {}), *others]


def _rivals(one: Contenders, pool: pd.DataFrame, device: str | None) -> Iterator[tuple[str, Factors]]:
    """What the alternative's speed can be, where it is not a `device` itself: as used, its own figures, or none."""
    yield AS_USED, {}
    rival = one.alternative
    assert rival is not None
    if device is None or not _rests(rival) or _is_form(rival["gpu"], device):
        return
    own = pool[pool["gpu"].eq(rival["gpu"]) & pool["gpus"].eq(rival["gpus"])].drop_duplicates("images_per_s")
    for value in own["images_per_s"]:
        if abs(value / rival["images_per_s"] - 1) > SAME_FIGURE:
            yield f"its own figure, {value:,.0f}", {rival["instance"]: float(value) / rival["images_per_s"]}
    yield LEFT_OUT, {rival["instance"]: 0.0}


def _row(one: Contenders, device: Choice, figure: str, factors: Factors) -> Row | None:
    """One choice; None where it leaves the reference without a rival."""
    # A figure of the alternative itself does not move with that of the device.
    factor = {**device.factors, **factors}
    box = one.reference
    costs = {
        row["option"]: cost(row, billed=False) / factor.get(row["instance"], 1.0)
        for row in one.every
        if factor.get(row["instance"], 1.0) > 0
    }
    own = cost(box, billed=False) / factor.get(box["instance"], 1.0)
    others = [row for row in one.every if row["option"] in costs and not same_machine(row, box)]
    if not others:
        return None
    others.sort(key=lambda row: costs[row["option"]])
    # As in the answer: who stays, unless nobody else does.
    rival = next((row for row in others if row["persistent"]), others[0])
    gain = costs[rival["option"]] / own
    winner = box if gain >= 1 else rival
    assert one.alternative is not None
    return {
        "model": box["model"],
        "device": device.device,
        **device.row,
        "as_used": device.used,
        **_named("alternative", one.alternative),
        "alternative_figure": figure,
        **_named("rival", rival),
        "gain": gain,
        **_named("winner", winner),
        **_named("cheapest_of_all", others[0]),
        "gain_of_all": costs[others[0]["option"]] / own,
    }


def _named(side: str, option: Row) -> dict[str, str]:
    return {side: option["option"], f"{side}_title": option["title"]}


def _told(row: pd.Series) -> dict[str, Any]:
    names = ("images_per_s", "framework_version", "batch_size", "dataset")
    return {name: row[name] for name in names} | {"figure_source": row["source"]}


def _rests(option: Row | None) -> bool:
    return option is not None and pd.notna(option["stand_in_gpu"])


def _figure_of(option: Mapping[str, Any]) -> tuple[Any, ...]:
    """The published figure that an option rests on: device, framework, batch, precision; unknown is None."""
    names = ("stand_in_gpu", "stand_in_framework", "stand_in_batch_size", "stand_in_precision")
    return tuple(None if pd.isna(option[name]) else option[name] for name in names)


def _standing(rows: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """Published rows as the figures that stand in are named."""
    for _, row in rows.iterrows():
        yield {f"stand_in_{name}": row[name] for name in ("gpu", "framework", "batch_size", "precision")}


def _is_form(gpu: str, device: str) -> bool:
    """Whether `gpu` is the device or one of its forms: Tesla V100-SXM3-32GB is a Tesla V100."""
    return gpu == device or gpu.startswith(f"{device}-")
