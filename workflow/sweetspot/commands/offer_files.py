"""The files of a study with one more offer in them: its machine, its price, its speed, and that it is in hand."""

import datetime
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from sweetspot.catalogues.price_file import with_entries, with_flag, with_item
from sweetspot.cells import is_slug
from sweetspot.commands.offer_line import BOX, RENTAL, Offered, Range, check_magnitudes
from sweetspot.commands.scratch import machines_of_study, read_text
from sweetspot.commands.study_of_today import middle, ranged
from sweetspot.errors import UserError
from sweetspot.matrix.invocation import price_list_names
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PriceList, load_price_list
from sweetspot.study.spelling import near, slipped
from sweetspot.study.study import Study, load_study
from sweetspot.study.terms import wrong_rate
from sweetspot.study.titles import PROVIDERS, provider_title
from sweetspot.study.workloads import load_monthly
from sweetspot.study.yamlfile import load_yaml
from sweetspot.throughput.published import read_published
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.specifications import PROCESSOR, Device

OFFERED = "offered"  # the provider of a contract of which nobody says whose it is
NEW_LIST = "offers"  # the price list of a study that has none where the offer belongs
INSTANCES, STUDY = Path("instances.yaml"), Path("study.yaml")
FOUND_THERE = ("per_kwh", "days_per_month", "downtime_share", "discount_rate")


@dataclass
class Desk:
    """The study `study` of the project `root`, as far as an offer asks of it, and what is written for the offer.

    told: the offer as it was said; instance, into (a price list), rate: as they were typed. texts: by path below the
    study's folder; sentences: what a person must know.
    """

    root: Path
    study: str
    instance: str | None
    into: str | None
    rate: float | None
    today: datetime.date
    told: str
    texts: dict[Path, str] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        """Where the study lies."""
        return self.root / "studies" / self.study

    def text(self, path: Path) -> str:
        """A file of the study as it will be."""
        return self.texts.get(path, read_text(self.folder / path))

    @cached_property
    def said(self) -> Study:
        """study.yaml."""
        return load_study(self.folder)

    @cached_property
    def instances(self) -> dict[str, Instance]:
        """All machines that the study may name."""
        return machines_of_study(self.root, self.study)

    @cached_property
    def lists(self) -> dict[str, PriceList]:
        """The price lists by name, those first that the answer is made of."""
        folder = self.folder / "prices"
        names = price_list_names(folder) if folder.is_dir() else []
        names = sorted(names, key=lambda name: name not in (self.said.answer_prices or names))
        return {name: load_price_list(folder / f"{name}.yaml") for name in names}

    @cached_property
    def timed(self) -> set[str]:
        """Instances and devices of which single-device figures are published in the study."""
        file = self.folder / "throughput.csv"
        if not file.is_file():
            return set()
        table = read_published(file)
        alone = table[table["gpus"] == 1]
        return {*alone["instance"].dropna(), *alone["gpu"]}

    @property
    def day(self) -> datetime.date:
        """The day of the offer: today, but not after the day that the study speaks of."""
        return min(self.today, self.said.as_of)


def write_offer(desk: Desk, offered: Offered) -> str:
    """Put into `desk.texts` what the study's files become with the offer; its machine's name. Raises UserError."""
    device = known_device(offered.gpu)
    check_magnitudes(offered, _usd(desk, offered.currency))
    provider = "own" if offered.kind == BOX else _provider(desk, offered.provider)
    name = _name(desk, offered, provider, device)
    if name not in desk.instances:
        _add_machine(desk, offered, device, provider, name)
    _add_price(desk, offered, device, name)
    if desk.said.offers_in_hand:
        desk.texts[STUDY] = with_item(desk.text(STUDY), "offers_in_hand", name)
    return name


def known_device(gpu: str) -> Device:
    """The device that a person means. Raises UserError, with the name of the nearest, where there is none."""
    devices = shipped_devices()
    found = devices.find(gpu)
    if found is None and not PROCESSOR.search(gpu):
        known = {name.lower(): name for name in devices.by_gpu}
        meant = near(gpu.lower(), known)
        if meant is not None:
            raise UserError(f"{gpu!r}: no device of that name is specified; did you mean {known[meant]!r}?")
    return found or devices.get(gpu)


def _provider(desk: Desk, text: str | None) -> str:
    """The key of a provider by its key or its name. Raises UserError for one that is surely misspelt."""
    if text is None:
        return OFFERED
    own = {machine.provider for machine in desk.instances.values()} - {"own"}
    known = {title: key for key, title in PROVIDERS.items() if key != "own"} | {key: key for key in PROVIDERS}
    known |= {provider_title(key, desk.said.titles): key for key in own} | {key: key for key in own}
    exact = {title.lower(): key for title, key in known.items()}
    if text.lower() in exact:
        return exact[text.lower()]
    meant = slipped(text, known) or near(text, known)
    if meant is not None:
        raise UserError(f"the provider is {text!r}; did you mean {meant!r}? (another one needs another name)")
    return _slug(text)


def _name(desk: Desk, offered: Offered, provider: str, device: Device) -> str:
    short = _slug(re.sub(r"\b(rtx|geforce|tesla) ", "", device.gpu.lower()))
    usual = f"{'box' if offered.kind == BOX else provider}-{offered.devices}x{short}"
    name = desk.instance or (_slug(offered.title) if offered.title else usual)
    if not is_slug(name):
        raise UserError(f"--instance is {name!r}; expected letters, digits, '.', '_' and '-', first a letter or digit")
    other = desk.instances.get(name)
    if other is None:
        return name
    alike = other.gpus == offered.devices and other.provider == provider and known_device(other.gpu) == device
    priced = next(
        (file for file, prices in desk.lists.items() if name in {one.instance for one in prices.offers}), None
    )
    if priced is not None or not alike:
        where = f"in prices/{priced}.yaml" if priced else "as another machine"
        raise UserError(
            f"{name!r} is there already, {where}; edit it there, or call this one otherwise: --instance NAME"
        )
    return name


def _add_machine(desk: Desk, offered: Offered, device: Device, provider: str, name: str) -> None:
    """The machine, and one of a single such device where it needs one, with what tells their speed."""
    base, said = _base(desk, device), desk.said
    entries: dict[str, Any] = {}
    single = base or f"{_slug(device.gpu.lower())}-1x"
    gpu = desk.instances[base].gpu if base else device.gpu
    machine = {"title": _title(desk, offered, provider, gpu), "provider": provider, "gpu": gpu, "gpus": offered.devices}
    study = desk.text(STUDY)
    if offered.devices > 1:
        joined = offered.interconnect or ("nvswitch" if "SXM" in gpu and offered.devices >= 8 else "pcie")
        machine |= {"interconnect": joined, "base_instance": single}
        if base is None:
            entries[single] = {"title": f"1 {gpu}", "provider": "own", "gpu": gpu, "gpus": 1}
        if said.targets:
            study = with_item(study, "targets", {"instance": name, "base_instance": single, "gpus": offered.devices})
    elif base is not None:
        machine["equivalent_to"] = base
    desk.texts[INSTANCES] = with_entries(desk.text(INSTANCES), entries | {name: machine})
    is_measured = base is not None and said.measure and desk.instances[base].measure is not None
    if not desk.timed & {single, gpu} and not said.transfer and not is_measured:
        study = with_flag(study, "transfer")
        told = f"No figure of {gpu} is in the study: its speed follows from other devices' (transfer: true)."
        desk.sentences.append(told)
    desk.texts[STUDY] = study


def _base(desk: Desk, device: Device) -> str | None:
    """A machine of the study with one such device, one that was timed before others; None where there is none."""
    devices = shipped_devices()
    alone = [
        name
        for name, machine in desk.instances.items()
        if machine.gpus == 1
        and machine.equivalent_to is None
        and machine.framework in (None, desk.said.cells.framework)
        and devices.find(machine.gpu) == device
    ]
    return min(alone, key=lambda name: name not in desk.timed, default=None)


def _title(desk: Desk, offered: Offered, provider: str, gpu: str) -> str:
    whose = "box" if offered.kind == BOX else "the offer"
    if offered.kind != BOX and provider != OFFERED:
        whose = provider_title(provider, desk.said.titles)
    return offered.title or f"{whose} with {offered.devices} {gpu}"


def _add_price(desk: Desk, offered: Offered, device: Device, name: str) -> None:
    """The offer in its price list, with the rate of its currency where the list has none."""
    chosen, currency = _list(desk, offered), offered.currency
    prices, file = desk.lists.get(chosen), Path("prices") / f"{chosen}.yaml"
    purchase = {BOX: "own", RENTAL: "on_demand"}.get(offered.kind, "reserved")
    offer: dict[str, Any] = {"instance": name, "purchase": purchase} | _terms(desk, offered, device)
    if offered.weeks is not None:
        offer["available_from_weeks"] = offered.weeks.written()
    offer["source"] = f"the offer in hand, told to sweetspot add-offer on {desk.today}: {desk.told}"
    if prices is None:
        head: dict[str, Any] = {"title": "Offers in hand", "currency": currency, "as_of": desk.day}
        head |= {"source": "offers told to sweetspot add-offer", "max_age_days": 180}
        head |= {} if currency == "USD" else {"rates": [_rate(desk, currency)]}
        text = with_entries("", head)
    else:
        text = desk.text(file)
        if currency != prices.currency:
            offer["currency"] = currency
            if currency not in ("USD", *(rate.currency for rate in prices.rates)):
                text = with_item(text, "rates", _rate(desk, currency), before="offers")
        if desk.day != prices.as_of:
            offer["as_of"] = desk.day
    desk.texts[file] = with_item(text, "offers", offer)


def _list(desk: Desk, offered: Offered) -> str:
    """The price list that an offer belongs to: where others of its kind are, one that knows its currency first."""
    if desk.into is not None:
        if desk.into not in desk.lists and not is_slug(desk.into):
            raise UserError(f"--list is {desk.into!r}; expected one of {', '.join(desk.lists)}, or a new name")
        return desk.into
    ranks = {}
    for name, prices in desk.lists.items():
        bound = [offer.own is not None or offer.commitment is not None for offer in prices.offers]
        if (not all(bound)) if offered.kind == RENTAL else any(bound):
            ranks[name] = offered.currency != prices.currency, all(offer.own is None for offer in prices.offers)
    return min(ranks, key=ranks.__getitem__, default=NEW_LIST)


def _terms(desk: Desk, offered: Offered, device: Device) -> dict[str, Any]:
    """The price of the offer, in the words of a price list. Raises UserError for what nobody says."""
    if offered.kind == RENTAL and offered.per_hour is not None:
        return {"per_hour": offered.per_hour.written()}
    known, work = _of_what_is_there(desk, offered.currency), load_monthly(desk.folder / "workloads.yaml")
    days = offered.days_per_month.written() if offered.days_per_month else known.get("days_per_month")
    days = desk.said.month_days if days is None and work else days
    if days is None:
        raise UserError("the study does not say how many days a month a machine works; add such as 20 days a month")
    if offered.kind != BOX:
        sums = {name: getattr(offered, name) for name in ("upfront", "per_month", "per_hour")}
        terms = _written(term_months=offered.months, **sums)
        return {"commitment": terms, "days_per_month": days}
    if offered.per_kwh is None and "per_kwh" not in known:
        raise UserError("the study does not say what electricity costs; add such as 0.35 EUR a kWh")
    own = _written(capex=offered.price) | {"months": _months(desk, offered, [one.months for one in work.values()])}
    own |= _resale(desk, offered, device) | _written(kw=offered.kw) | known
    return {"own": own | _written(per_kwh=offered.per_kwh) | {"days_per_month": days}}


def _written(**numbers: Range | None) -> dict[str, Any]:
    return {name: number.written() for name, number in numbers.items() if number is not None}


def _months(desk: Desk, offered: Offered, of_work: list[float]) -> Any:
    """Months over which a box is used: as said, else those of the work of months or of a list's project."""
    projects = [prices.project_months.value for prices in desk.lists.values() if prices.project_months is not None]
    if offered.months is None and not of_work + projects:
        raise UserError("the study does not say how long it goes on; add such as 36 months")
    return (offered.months or Range((of_work + projects)[0])).written()


def _resale(desk: Desk, offered: Offered, device: Device) -> dict[str, Any]:
    if offered.resale is None:
        desk.sentences.append("Nothing is reckoned for its sale at the end; add such as: resale gaming 68 %.")
        return {}
    if isinstance(offered.resale, Range):
        return {"residual": offered.resale.written()}
    curve, share = offered.resale
    return {"residual": {"curve": curve, "share": share, "age_years": round(device.age(desk.day), 1)}}


def _of_what_is_there(desk: Desk, currency: str) -> dict[str, Any]:
    """FOUND_THERE of the first machine that the study owns, in the currency of the offer."""
    files = ((prices, load_yaml(desk.folder / "prices" / f"{name}.yaml")) for name, prices in desk.lists.items())
    owned = ((prices, offer) for prices, raw in files for offer in raw["offers"] if "own" in offer)
    if (first := next(owned, None)) is None:
        return {}
    prices, offer = first
    found = {key: offer["own"][key] for key in FOUND_THERE if key in offer["own"]}
    factor = _usd(desk, offer.get("currency", prices.currency)) / _usd(desk, currency)
    if factor != 1:
        kwh = found["per_kwh"] if isinstance(found["per_kwh"], dict) else {"value": found["per_kwh"]}
        found["per_kwh"] = ranged(kwh, lambda value: float(f"{value * factor:.4g}"))
    return found


def _usd(desk: Desk, currency: str) -> float:
    return 1.0 if currency == "USD" else middle(_rate(desk, currency)["usd"])


def _rate(desk: Desk, currency: str) -> dict[str, Any]:
    """The rate of a currency for a price list: as typed, else another list's, else that of the page."""
    if desk.rate is not None:
        if wrong := wrong_rate(currency, desk.rate, desk.day):
            raise UserError(f"--rate is {desk.rate:g} USD for one {currency}; {wrong}")
        told = f"typed on {desk.today} (--rate of sweetspot add-offer)"
        return {"currency": currency, "usd": desk.rate, "as_of": desk.day, "source": told}
    for rate in (rate for prices in desk.lists.values() for rate in prices.rates):
        if rate.currency == currency:
            return rate.model_dump(exclude_none=True)
    shown = desk.said.currency
    if shown is not None and shown.code == currency:
        return {"currency": currency, "usd": shown.usd_per_unit, "as_of": shown.as_of, "source": shown.source}
    raise UserError(f"the price is in {currency}, of which the study has no rate; add --rate, USD for one {currency}")


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._-]+", "-", text.strip().lower()).strip("-._")
