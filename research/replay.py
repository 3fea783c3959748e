"""The history month by month: what the decision would have advised, and what following it would have cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from sweetspot.bills.costs import EXTRAPOLATION_COLUMNS, THROUGHPUT_COLUMNS, cells_to_price, price_cells
from sweetspot.bills.owning import share_of_price
from sweetspot.bills.pricing import price_tables
from sweetspot.bills.schemas import with_types
from sweetspot.decision.options import build_options, staying
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList
from sweetspot.study.settings import Settings
from sweetspot.study.terms import Ownership
from sweetspot.study.trends import Resale
from sweetspot.study.workloads import Training

from research.known_then import Market, market_at, rents_at, server_at
from research.rent_history import CLOUD, LIST, QUOTE, month_name

BOX, MODEL = "own", "work"
HOURS_A_DAY = 24.0
BUY = "buy"
KINDS = {LIST: "hyperscaler", CLOUD: "small_cloud", QUOTE: "small_cloud"}


@dataclass(frozen=True)
class Box:
    """The owned machine of a study whose device has a history: its own terms, and the history's name of the device."""

    instance: str
    gpu: str
    history_gpu: str
    gpus: int
    own: Ownership
    came_out: float  # month

    def age(self, month: float) -> float:
        """Years since the device came out."""
        return max(0.0, (month - self.came_out) / 12.0)


@dataclass
class Replay:
    """One box against all who let its device. `days`: of use a month; the figures of a month are kept once found."""

    box: Box
    history: pd.DataFrame
    servers: pd.DataFrame
    resale: pd.DataFrame
    month_days: float
    days: float
    _markets: dict[float, Market] = field(default_factory=dict)
    _advice: dict[tuple[float, int], str] = field(default_factory=dict)

    def known(self, month: float) -> bool:
        """Whether there was anything to decide: a rent and the price of a server."""
        return bool(self.rents(month)) and server_at(self.servers, self.box.gpu, month) is not None

    def rents(self, month: float) -> dict[tuple[str, str], float]:
        """USD an hour of a machine of the box's size, by (kind, provider)."""
        found = rents_at(self.history, self.box.history_gpu, month)
        return {who: usd * self.box.gpus for who, usd in found.items()}

    def price(self, month: float) -> float:
        """USD of a server."""
        usd = server_at(self.servers, self.box.gpu, month)
        assert usd is not None
        return usd * self.box.gpus

    def market(self, month: float) -> Market:
        """What was known at the beginning of a month."""
        if month not in self._markets:
            self._markets[month] = market_at(self.history, self.resale, self.box.history_gpu, month)
        return self._markets[month]

    def advice(self, month: float, months: int) -> str:
        """BUY, or the provider to rent from, for a project of `months` that begins in this month."""
        key = (month, months)
        if key not in self._advice:
            self._advice[key] = self._decided(month, months)
        return self._advice[key]

    def _decided(self, month: float, months: int) -> str:
        options = staying(self.options(month, months))
        cheapest = options.loc[options["images_per_usd"].idxmax()]
        return BUY if cheapest["purchase"] == "own" else str(cheapest["provider"])

    def options(self, month: float, months: int) -> pd.DataFrame:
        """The decision's own table of options with what was known then."""
        prices, instances = self._price_list(month, months), self._instances(month)
        offers, fees, _ = price_tables(prices, "then", instances, self.month_days, prices.as_of)
        throughput = _throughput(instances)
        nothing = throughput.iloc[:0].assign(headline=True)
        cells = cells_to_price(_columns(throughput, THROUGHPUT_COLUMNS), _columns(nothing, EXTRAPOLATION_COLUMNS))
        work = Training(kind="training", model=MODEL, samples=1.0, source="an hour")
        costs, _ = price_cells(cells, offers, fees, {"hour": work}, instances)
        return build_options(
            costs,
            offers,
            throughput,
            nothing,
            self._settings,
        )

    @cached_property
    def _settings(self) -> Settings:
        return Settings("back-test", {MODEL: 1}, "fp16", "torch", BOX, self.month_days, False, 2018)

    def _instances(self, month: float) -> dict[str, Instance]:
        common: dict[str, Any] = {"gpu": self.box.gpu, "gpus": self.box.gpus}
        own = Instance(title="server", provider="own", **common)
        return {BOX: own} | {
            _slug(who): Instance(title=who[1], provider=_slug(who), **common) for who in self.rents(month)
        }

    def _price_list(self, month: float, months: int) -> PriceList:
        market, given = self.market(month), self.box.own
        share = given.residual.share if isinstance(given.residual, Resale) else 1.0
        points = [list(point) for point in market.resale]
        # Where nothing was sold yet nobody can count on a sale.
        resale = {"points": points, "share": share, "age_years": self.box.age(month)} if points else 0.0
        own = given.model_dump() | {
            "capex": self.price(month), "months": float(months), "residual": resale, "days_per_month": self.days,
        }  # fmt: skip
        rents = self.rents(month)
        rented = [{"instance": _slug(who), "per_hour": usd} for who, usd in rents.items()]
        year, number = divmod(int(month), 12)
        prices = PriceList.model_validate(
            {
                "as_of": date(year, number + 1, 1),
                "source": "history",
                "offers": [{"instance": BOX, "purchase": "own", "own": own}, *rented],
            }
        )
        # Price lists of people name presets of today; here each is the preset as it was known in that month.
        presets = {_slug(who): market.presets.get(KINDS[who[0]]) for who in rents}
        offers = [
            offer.model_copy(update={"trend": presets[offer.instance]}) if presets.get(offer.instance) else offer
            for offer in prices.offers
        ]
        return prices.model_copy(update={"offers": offers})

    # What it came to.

    def hours(self) -> float:
        """Hours of use a month."""
        return HOURS_A_DAY * self.days

    def rented(self, month: float, provider: str | None = None) -> float:
        """USD of renting in a month: from a provider (where it still is on offer), else from the cheapest."""
        rents = self.rents(month)
        own = [usd for who, usd in rents.items() if _slug(who) == provider]
        return self.hours() * (min(own) if own else min(rents.values()))

    def owned(self, bought: float, end: float, curve: tuple[tuple[float, ...], ...]) -> float:
        """USD of buying in a month and selling at the end, at the share that `curve` has for the device's age then."""
        own, months = self.box.own, end - bought
        share = own.residual.share if isinstance(own.residual, Resale) else 1.0
        kept = share * float(share_of_price([(0.0, 1.0), *((p[0], p[1]) for p in curve)], 12.0 * self.box.age(end)))
        energy = own.kw.value * own.load_share.value * own.pue.value * own.per_kwh.value * self.hours()
        return self.price(bought) * (1.0 - kept) + months * (own.maintenance_per_month.value + energy)

    def outcome(self, start: float, months: int, curve: tuple[tuple[float, ...], ...]) -> dict[str, Any]:
        """USD of a project by each way: following the advice, renting the cheapest, buying at once, hindsight."""
        end = start + months
        at = [start + month for month in range(months)]
        cheapest = np.array([self.rented(month) for month in at])
        bought = np.array([self.owned(month, end, curve) for month in at])
        until = np.concatenate([[0.0], np.cumsum(cheapest)])
        followed, when = 0.0, None
        for place, month in enumerate(at):
            advised = self.advice(month, months - place)
            if advised == BUY:
                followed, when = followed + bought[place], month
                break
            followed += self.rented(month, advised)
        return {
            "start": month_name(start), "months": months, "advice": self.advice(start, months),
            "bought": None if when is None else month_name(when), "followed": float(followed),
            "rented": float(until[-1]), "owned": float(bought[0]),
            "hindsight": float(min(until[-1], (until[:-1] + bought).min())),
        }  # fmt: skip


def _columns(table: pd.DataFrame, names: tuple[str, ...]) -> pd.DataFrame:
    """The columns that bills are computed on; null where the table has none."""
    return with_types(table.reindex(columns=list(names)))


def _slug(who: tuple[str, str]) -> str:
    return who[1].replace(" ", "-").replace("(", "").replace(")", "")


def _throughput(instances: Mapping[str, Instance]) -> pd.DataFrame:
    """One hour's work is one sample on each of the machines: they have the same devices."""
    cell = {
        "framework": "torch", "model": MODEL, "batch_size": 1, "precision": "fp16", "variant": "default",
        "images_per_s": 1 / 3600.0, "images_per_s_low": np.nan, "images_per_s_high": np.nan, "basis": "published",
        "status": "ok", "source": "the same devices", "logical": False, "runs": 0,
    }  # fmt: skip
    return pd.DataFrame(
        [cell | {"instance": name, "gpus": one.gpus, "gpu": one.gpu} for name, one in instances.items()]
    )
