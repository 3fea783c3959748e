"""How the gain moves with the choice among published figures: those of others for the devices of the answer."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.decision.breakeven import references
from sweetspot.decision.options import Row, records, same_machine, trained

COLUMNS = (
    "model", "device", "images_per_s", "framework_version", "batch_size", "dataset", "figure_source", "as_used",
    "alternative", "alternative_title", "alternative_figure", "rival", "rival_title", "gain", "winner", "winner_title",
    "cheapest_of_all", "cheapest_of_all_title", "gain_of_all",
)  # fmt: skip
PROPORTION = 1.05  # bills that leave USD per image by more than this decide by themselves
SAME_FIGURE = 1e-6  # of two figures: nearer than that they are one
AS_USED, LEFT_OUT = "as used", "left out"
TOLD = ("images_per_s", "framework_version", "batch_size", "dataset")
RESTS_ON = ("gpu", "framework", "batch_size", "precision")  # of a published figure; of an option `stand_in_...`
Factors = Mapping[str, float]  # by instance: other images/s / those used; 0: the machine is left out
Other = tuple[Row, Factors]  # columns of a row, and what they do to speeds


@dataclass(frozen=True)
class Contenders:
    """Rows of the options of one model, of those that the answer may take (`in_answer`). reference: the study's, else
    the cheapest that stays. alternative: the cheapest other machine or way of paying that stays; where none stays but
    the reference, the cheapest that can be taken away; None where there is no other. every: all, the cheapest first.
    billed: bills decide, not USD per image.
    """

    reference: Row
    alternative: Row | None
    every: tuple[Row, ...]
    billed: bool

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
    every = sorted(records(inside), key=lambda row: np.nan_to_num(cost(row, billed), nan=np.inf))
    ordered = [row for row in every if row["row"] in stays.index]
    box = ordered[0] if own is None else own
    other = next((row for row in (*ordered, *every) if not same_machine(row, box)), None)
    return Contenders(box, other, tuple(every), billed)


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


def cost(row: Row, billed: bool) -> float:
    """What decides: the bill, or USD per image where bills are in proportion to it; 0 for what costs nothing."""
    return float(row["usd"] if billed or row["usd"] == 0 else 1.0 / row["images_per_usd"])


def found_contenders(options: pd.DataFrame) -> dict[str, Contenders]:
    """The contenders of each model that has any, the least favourable to the reference first. The last digits of a
    float choose no model: of equal gains the first in the order of the models is told.
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


def _of_model(one: Contenders, published: pd.DataFrame) -> Iterator[Row]:
    rival, pool = one.alternative, published[published["model"].eq(one.reference["model"])]
    if rival is None:
        return
    # Of the rivals, the first whose figure stands in and is one of several that were published of its device.
    rivals = [rival, *sorted(one.every, key=lambda row: not row["persistent"])]
    known = (_of_device(one, row, pool) for row in rivals if pd.notna(row["stand_in_gpu"]))
    found = next((choices for choices in known if len(choices) > 1), [])
    for of_device, moved in found:
        for of_rival, own in _of_rival(rival, pool, of_device["device"]):
            # A figure of the alternative itself does not move with that of the device.
            told = _told(one, {**moved, **own})
            if told is not None:
                names = {"model": one.reference["model"], **_named("alternative", rival)}
                yield {**names, **of_device, **of_rival, **told}


def _of_device(one: Contenders, resting: Row, pool: pd.DataFrame) -> list[Other]:
    """The figures of one device in the precision and framework of the one that `resting` rests on, that used first."""
    rests_on = [f"stand_in_{name}" for name in RESTS_ON]
    used = _plain(resting[name] for name in rests_on)
    moved = [row for row in one.every if _plain(row[name] for name in rests_on) == used]
    device = min((row["gpu"] for row in moved if _is_form(resting["stand_in_gpu"], row["gpu"])), key=len, default=None)
    if device is None:
        return []
    same = pool[pool["gpus"].eq(1) & pool["gpu"].map(lambda gpu: _is_form(gpu, device))]
    same = same[same["precision"].eq(resting["stand_in_precision"])]
    same = same[same["framework"].eq(resting["stand_in_framework"])]
    is_used = np.array([_plain(row) == used for row in same[list(RESTS_ON)].to_numpy()], bool)
    if not is_used.any():
        return []
    value = same["images_per_s"][is_used].median()
    rows = [same[is_used].iloc[0], *(row for _, row in same[~is_used].drop_duplicates("images_per_s").iterrows())]
    return [
        (
            {"device": device, **row[list(TOLD)], "figure_source": row["source"], "as_used": not place},
            {option["instance"]: row["images_per_s"] / value if place else 1.0 for option in moved},
        )
        for place, row in enumerate(rows)
    ]


def _of_rival(rival: Row, pool: pd.DataFrame, device: str) -> Iterator[Other]:
    """What the alternative's speed can be, where it is not a `device` itself: as used, its own figures, or none."""
    yield {"alternative_figure": AS_USED}, {}
    if pd.isna(rival["stand_in_gpu"]) or _is_form(rival["gpu"], device):
        return
    used = rival["images_per_s"]
    own = pool.loc[pool["gpu"].eq(rival["gpu"]) & pool["gpus"].eq(rival["gpus"]), "images_per_s"].drop_duplicates()
    for value in own[(own / used - 1).abs() > SAME_FIGURE]:
        yield {"alternative_figure": f"its own figure, {value:,.0f}"}, {rival["instance"]: value / used}
    yield {"alternative_figure": LEFT_OUT}, {rival["instance"]: 0.0}


def _told(one: Contenders, factors: Factors) -> Row | None:
    """Who wins with other speeds; None where that leaves no reference, or none but that."""

    def usd(row: Row) -> float:
        factor = factors.get(row["instance"], 1.0)
        return cost(row, billed=False) / factor if factor > 0 else np.inf

    box = one.reference
    others = sorted((row for row in one.every if not same_machine(row, box) and usd(row) < np.inf), key=usd)
    if not others or usd(box) == np.inf:
        return None
    # As in the answer: who stays, unless nobody else does.
    rival = next((row for row in others if row["persistent"]), others[0])
    gain = usd(rival) / usd(box)
    named = _named("rival", rival) | _named("winner", box if gain >= 1 else rival)
    return named | _named("cheapest_of_all", others[0]) | {"gain": gain, "gain_of_all": usd(others[0]) / usd(box)}


def _named(side: str, option: Row) -> Row:
    return {side: option["option"], f"{side}_title": option["title"]}


def _plain(values: Iterable[Any]) -> tuple[Any, ...]:
    """Values that can be compared: what is not known is None."""
    return tuple(None if pd.isna(value) else value for value in values)


def _is_form(gpu: str, device: str) -> bool:
    """Whether `gpu` is the device or one of its forms: Tesla V100-SXM3-32GB is a Tesla V100."""
    return gpu == device or gpu.startswith(f"{device}-")
