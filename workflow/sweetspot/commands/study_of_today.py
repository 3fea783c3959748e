"""The files of a new study about one GPU: rentals of today, whose speed is transferred from that device's figure, the
box on offer, and the work of months where jobs take some devices of a machine.
"""

import csv
import datetime
import io
import json
import re
import string
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import yaml

from sweetspot.bills.lint.known import device_key, power_of, purchase_of
from sweetspot.errors import UserError
from sweetspot.facts.shipped_tables import figures_file
from sweetspot.study.terms import wrong_rate
from sweetspot.study.yamlfile import load_yaml
from sweetspot.throughput.published import THROUGHPUT_CSV
from sweetspot.transfer.specifications import Device, Devices

TEMPLATE = Path(__file__).parent / "study_template_today"
PRICES_FROM = "office-box-2026"
# Studies and their lists of rentals on demand in USD, whose offers are taken over; of two alike the first counts.
RENTALS = {
    PRICES_FROM: ("single-gpus", "marketplace", "clouds"),
    "lab-of-five": ("rent",),
    "start-up-2026": ("rent",),
    "eight-gpus-2026": ("clouds",),
}
PROVIDERS = 6  # the cheapest, of each device
OWN = "mine"  # the instance that is there
BOX = (
    "Keep what we have, buy a box of {count}, or rent?",
    "We own {have} x {gpu}. What of a month's work does it do, and is a box with {count} {offered} cheaper than\n"
    "  renting machines of today?",
    "reference: {instance}            # the option that the decision is about\n",
)
OFFERS = (
    "What to have, and what to rent?",
    "We have {have} x {gpu}. What of a month's work do they do, what is rented, and does an offer on our desk pay?",
    "",
)
"""Title, question and reference of a study about a box of four, and of one about offers."""
# USD per unit, for the offers on one's desk, each with its day and source; of other currencies the person types one.
# Low and high: the reference rates of 2026-10-08 and 2026-06-17, the ends of what was read of that half-year.
RATES = {
    "EUR": {
        "usd": {"value": 1.1378, "low": 1.1186, "high": 1.1591},
        "as_of": "2026-09-28",
        "source": "ECB euro reference rate of 2026-09-28, second hand (as public code quotes it; 1.1367 on 2026-09-24)",
    }
}
HEAD = {
    "instances.yaml": "Machines this study asks about. Rentals and their devices are those of the studies of 2026.",
    "prices/rent.yaml": "The six cheapest providers of each device, from the studies of 2026. Newer: "
    "sweetspot import-prices.",
    "prices/box.yaml": "The box. Every number may be {value: 10, low: 8, high: 12}; intervals then reach the answer.",
}


MONTH_DAYS, DOWNTIME = 30.5, 0.04  # what is there works day and night; a day a month is lost
DEVICES = 4  # of the box on offer
# Of one's own currency, where office-box-2026 has cents of USD in the United States. Assumed.
PER_KWH = {"value": 0.30, "low": 0.25, "high": 0.35}
# USD of a host for four devices, and kW for each, as office-box-2026 assumes them; what a box draws at the plug over
# the limit of its devices and its host there: 1.6 to 2.5 kW of 2.2.
HOST_USD, HOST_KW, DRAWN = {"value": 6000, "low": 4000, "high": 9000}, 0.1, (1.6 / 2.2, 2.5 / 2.2)
BLOCK = """\
# The work of a month, from which the page says what to have and what to rent{hint}.
month:
  kind: monthly
  months: {months}
  have: {have}                     # machines that are there, each with an offer `own`: its purchase is spent
{limits}  jobs:
    - name: runs
      model: {model}
      {size}
      per_month: {per_month}
      devices_per_job: {devices}
{urgent}      source: {source}
  source: {source}
"""
URGENT = """\
      within_hours: {within}         # now and then a result is due
      urgent_per_month: {number}
"""


class Own(NamedTuple):
    """The device that a person has, and what it does.

    instance: its name (one of config/instances.yaml where it is measured here, else OWN); images_per_s: None where it
    is to be measured; currency: of the page and of the machine on offer.
    """

    device: Device
    instance: str
    model: str = "resnet50"
    precision: str = "fp32"
    framework: str = "tensorflow"
    batch_size: int = 16
    images_per_s: float | None = None
    currency: str = "USD"
    usd_per_unit: float | None = None  # of the currency, typed by the person; None: that of RATES


@dataclass(frozen=True)
class Offer:
    """A machine that one may buy: `count` of a device, at a price in the owner's currency.

    price: None: what the facts know of it; kw: None: by the data sheets; weeks: until it is delivered.
    """

    device: Device
    count: int = DEVICES
    price: float | None = None
    kw: float | None = None
    weeks: float = 0.0

    @property
    def instance(self) -> str:
        """The machine's name in the files."""
        return f"box-{self.count}"


class Work(NamedTuple):
    """The work of a month. Numbers are those of a file: one, or a mapping with its range.

    have: how many machines are there; size: what a job takes, `samples`, or `hours` and `instance`; used_months: over
    which machines are used; urgent: jobs a month and the hours within which they are due; limits: `at_most_up_front`
    and such; offer: the machine that one may buy (None: four of one's own device).
    """

    have: int = 1
    months: float = 36
    used_months: Any = 36
    size: Mapping[str, Any] = MappingProxyType({"samples": 100_000_000})
    per_month: Any = MappingProxyType({"value": 20, "low": 10, "high": 30})
    urgent: tuple[Any, float] | None = (1, 24)
    limits: Mapping[str, float] = MappingProxyType({})
    offer: Offer | None = None
    source: str = "our estimate, to be replaced"


def checked_money(currency: str, rate: float | None) -> tuple[str, float | None]:
    """A currency and what was typed of its rate, if anything. Raises UserError, also for one without any rate."""
    code = currency.upper()
    if not re.fullmatch("[A-Z]{3}", code):
        raise UserError(f"CURRENCY is {currency!r}; expected three letters, such as EUR")
    known = ("USD", *RATES)
    if rate is None and code not in known:
        raise UserError(f"CURRENCY is {code!r}; expected {', '.join(known)}, or RATE beside it: USD per {code}")
    if rate is not None and (code == "USD" or not 1e-6 < rate < 1e3):
        expected = "no RATE for USD" if code == "USD" else f"USD per {code}, such as 1.14"
        raise UserError(f"RATE is {rate}; expected {expected}")
    if rate is not None and (wrong := wrong_rate(code, rate, datetime.date.today())):
        raise UserError(f"RATE is {rate:g} USD for one {code}; {wrong}")
    return code, rate


def files_of_today(
    name: str, own: Own, studies: Path, devices: Devices, today: str, work: Work | None = None
) -> dict[str, str]:
    """Path below the study's folder -> text, but workloads.yaml. Raises UserError for a currency without a rate.

    work: that of a month, which it asks about. A box whose price is not in the facts is not offered.
    """
    work, rate = work or Work(), _rate(own, today)
    offer = work.offer or Offer(own.device)
    owned = _owned(own, work, offer, load_yaml(figures_file(PRICES_FROM, studies, "prices/office.yaml")), rate, today)
    has_box = any(entry["instance"] == offer.instance for entry in owned["offers"])
    rent, known = rentals(studies, devices, own.device.maker)
    is_timed = own.images_per_s is not None
    instances, targets = _machines(own, known, devices, offer if has_box else None)
    if is_timed:
        instances = {OWN: _one(own.device.gpu, own.device.gpu), **instances}
    told = {"gpu": own.device.gpu, "have": work.have, "count": offer.count}
    told |= {"offered": offer.device.gpu, "instance": offer.instance}
    title, question, reference = (text.format(**told) for text in (BOX if has_box else OFFERS))
    words = {
        "name": name,
        "title": title,
        "question": question,
        "reference": reference,
        "today": today,
        "model": own.model,
        "batch_size": own.batch_size,
        "headline": "own" if is_timed else own.batch_size,
        "precision": own.precision,
        "framework": own.framework,
        "measure": "false" if is_timed else "true",
        "targets": "\n".join(f"  - {json.dumps(target)}" for target in targets),
    }
    study = string.Template((TEMPLATE / "study.yaml").read_text(encoding="utf-8")).substitute(words)
    study += currency_block(own.currency, own.usd_per_unit, today)
    made: dict[str, Any] = {"study.yaml": study, "instances.yaml": instances, "prices/rent.yaml": rent}
    made |= {"prices/box.yaml": owned} if owned["offers"] else {}
    made |= {"throughput.csv": as_csv([_figure(own, today)])} if is_timed else {}
    return made | {path: f"# {head}\n{_yaml(made[path])}" for path, head in HEAD.items() if path in made}


def currency_block(currency: str, usd_per_unit: float | None, today: str) -> str:
    """The `currency` of study.yaml; nothing for USD."""
    if currency == "USD":
        return ""
    rate = currency_rate(currency, usd_per_unit, today)
    shown = {"code": currency, "usd_per_unit": middle(rate["usd"]), "as_of": rate["as_of"], "source": rate["source"]}
    return _yaml({"currency": shown})


def rentals(studies: Path, devices: Devices, maker: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """A price list of RENTALS with the cheapest PROVIDERS of each device, by USD per device and hour; its machines.

    Single devices and whole machines of a provider both stay. Devices are those of one `maker`: from another's figure
    a speed is known within a factor of twenty, which answers nothing. An offer keeps the day, the source and the
    billing of its own list where they are others than the first list's.
    """
    head: dict[str, Any] = {}
    found: dict[tuple[str, str, int], tuple[dict[str, Any], dict[str, Any]]] = {}
    for study, names in RENTALS.items():
        machines = load_yaml(figures_file(study, studies, "instances.yaml"))
        for prices in (load_yaml(figures_file(study, studies, f"prices/{name}.yaml")) for name in names):
            head = head or {key: value for key, value in prices.items() if key != "offers"}
            own = {key: prices[key] for key in ("as_of", "billing") if prices.get(key, head[key]) != head[key]}
            for offer in prices["offers"]:
                machine, source = machines[offer["instance"]], offer.get("source", prices["source"])
                if prices["source"] not in (head["source"], source):
                    source = f"{source}; {prices['source']}"
                device = devices.get(machine["gpu"])
                if device.maker == maker:
                    told = offer | {"source": source} | {key: own[key] for key in own if key not in offer}
                    found.setdefault((machine["provider"], device.gpu, machine["gpus"]), (told, machine))
    kept = [entry for (provider, gpu, _), entry in found.items() if provider in _cheapest(found, gpu)]
    rent = {**head, "title": "Rentals on demand", "max_age_days": 180, "offers": [offer for offer, _ in kept]}
    return rent, {offer["instance"]: machine for offer, machine in kept}


def _cheapest(found: Mapping[tuple[str, str, int], tuple[dict[str, Any], Any]], gpu: str) -> list[str]:
    least: dict[str, float] = {}
    for (provider, other, count), (offer, _) in found.items():
        if other == gpu:
            least[provider] = min(middle(offer["per_hour"]) / count, least.get(provider, float("inf")))
    return sorted(least, key=least.__getitem__)[:PROVIDERS]


def _machines(
    own: Own, known: Mapping[str, Any], devices: Devices, offer: Offer | None
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Instances of the machine on `offer`, if any, and of rentals (`known`); the targets: those of several devices.

    Each is estimated from one of its devices, which is declared for it where nobody offers it alone.
    """
    instances: dict[str, Any] = {}
    targets: list[dict[str, Any]] = []
    single = {devices.get(known[name]["gpu"]).gpu: name for name in known if known[name]["gpus"] == 1}
    if offer is not None:
        gpu = offer.device.gpu
        base = own.instance if gpu == own.device.gpu else single.get(gpu)
        if base is None:
            base = single[gpu] = f"one-{gpu.lower().replace(' ', '-')}"
            instances[base] = _one(f"1 {gpu}", gpu)
        box = _one(f"box with {offer.count} {gpu}", gpu) | {"gpus": offer.count}
        if offer.count > 1:
            box |= {"interconnect": "nvswitch" if "SXM" in gpu else "pcie", "base_instance": base}
            targets.append({"instance": offer.instance, "base_instance": base, "gpus": offer.count})
        else:
            box["equivalent_to"] = base
        instances[offer.instance] = box
    for name, entry in known.items():
        machine = {key: value for key, value in entry.items() if key not in ("equivalent_to", "base_instance")}
        if machine["gpus"] > 1:
            gpu = devices.get(machine["gpu"]).gpu
            if gpu not in single:
                single[gpu] = f"one-{gpu.lower().replace(' ', '-')}"
                instances[single[gpu]] = _one(f"1 {gpu}", machine["gpu"])
            machine["base_instance"] = single[gpu]
            targets.append({"instance": name, "base_instance": single[gpu], "gpus": machine["gpus"]})
        instances[name] = machine
    return instances, targets


def _one(title: str, gpu: str) -> dict[str, Any]:
    return {"title": title, "provider": "own", "gpu": gpu, "gpus": 1}


def box_price(offer: Offer, office: Mapping[str, Any]) -> tuple[dict[str, Any], str] | None:
    """What a machine costs by the facts, in USD, and its source; None where they do not know its device.

    Parameters
    ----------
    offer : Offer
        The machine, whose own price and power are not looked at.
    office : mapping
        The price list `office` of office-box-2026, whose boxes of DEVICES come first.

    Returns
    -------
    tuple of (dict, str) or None
        `capex` and `kw` with their ranges as a price list has them, and where they are from.
    """
    device, count = offer.device, offer.count
    words = device.gpu.lower().replace("rtx", "").replace(" ", "")
    for entry in office["offers"]:
        if count == DEVICES and entry["instance"] == f"office-4x{words}":
            return {key: entry["own"][key] for key in ("capex", "kw")}, str(entry["source"])
    bought, kw = purchase_of(device_key(device.gpu)), device_kw(device, count)
    if bought is None or kw is None:
        return None
    each = {"value": bought.middle, "low": bought.low, "high": bought.high}
    capex = {end: round((count * usd + HOST_USD[end]) / 10) * 10 for end, usd in each.items()}
    source = (
        f"{count} x {device.gpu} at {bought.low:,.0f} to {bought.high:,.0f} USD each (new, facts/price_levels.csv), "
        f"a host at {HOST_USD['value']:,} ({HOST_USD['low']:,} to {HOST_USD['high']:,}), assumed; power by data sheet"
    )
    return {"capex": capex, "kw": kw}, source


def device_kw(device: Device, count: int) -> dict[str, float] | None:
    """What so many devices draw with their share of a host, kW by value, low and high; None for an unknown device."""
    known = power_of(device_key(device.gpu))
    if known is None:
        return None
    kw = count * (known.high / 1000 + HOST_KW)
    return {"value": round(kw, 4), "low": round(kw * DRAWN[0], 4), "high": round(kw * DRAWN[1], 4)}


def _owned(
    owner: Own, work: Work, offer: Offer, office: Mapping[str, Any], rate: Mapping[str, Any], today: str
) -> dict[str, Any]:
    """The price list of the machine on offer and of what is there, in the owner's currency.

    Both work day and night but for DOWNTIME, and nothing is reckoned for a sale. A machine without a price is left out.
    """
    per_kwh = office["offers"][0]["own"]["per_kwh"] if owner.currency == "USD" else PER_KWH
    use = {"months": work.used_months, "per_kwh": per_kwh, "days_per_month": MONTH_DAYS, "downtime_share": DOWNTIME}
    prices: dict[str, Any] = {"title": "What is there", "currency": owner.currency, "as_of": today}
    prices |= {"source": "the offers of this list", "max_age_days": 180, "project_months": work.months, "offers": []}
    box = _box(owner, offer, office, middle(rate["usd"]), use, today)
    if box is not None:
        prices["title"] = "The machine on offer" + ", and what is there" * (work.have > 0)
        prices |= {"as_of": today if offer.price else str(office["as_of"])} | {"max_age_days": 400}
        prices["offers"].append(box)
    if work.have:
        kw: Any = device_kw(owner.device, 1) or 0
        if box is not None and offer.device == owner.device and offer.kw is None:
            kw = ranged(box["own"]["kw"], lambda value: round(value / offer.count, 4))
        source = f"what is there: its purchase is spent; power {'by the data sheet of its device' if kw else 'unknown'}"
        own = {"capex": 0, "kw": kw} | use
        prices["offers"].append({"instance": owner.instance, "purchase": "own", "source": source, "own": own})
    if owner.currency != "USD":
        prices["rates"] = [rate]
    return prices


def _box(
    owner: Own, offer: Offer, office: Mapping[str, Any], usd_per_unit: float, use: Mapping[str, Any], today: str
) -> dict[str, Any] | None:
    """The offer of a price list for the machine that one may buy; None where nobody knows its price."""
    known = box_price(offer, office)
    if offer.price is not None:
        kw = offer.kw or device_kw(offer.device, offer.count) or 0
        source = f"the offer on our desk, given to sweetspot new-study on {today}"
        source += "" if offer.kw else "; power by data sheet" if kw else "; power unknown"
        own = {"capex": offer.price, "kw": kw}
    elif known is not None:
        own, source = known
        if owner.currency != "USD":
            own = own | {"capex": ranged(own["capex"], lambda usd: round(usd / usd_per_unit / 10) * 10)}
            source += f"; in {owner.currency} at {usd_per_unit:g} USD; electricity assumed"
    else:
        return None
    waits = {"available_from_weeks": offer.weeks} if offer.weeks else {}
    return {"instance": offer.instance, "purchase": "own", "source": source, "own": {**own, **use}} | waits


def _rate(own: Own, today: str) -> dict[str, Any]:
    return currency_rate(own.currency, own.usd_per_unit, today)


def currency_rate(currency: str, usd_per_unit: float | None, today: str) -> dict[str, Any]:
    """What a unit of a currency is worth: as the person typed it today, else of RATES."""
    if usd_per_unit is None:
        return {"currency": currency, **RATES.get(currency, {"usd": 1.0})}
    source = f"typed by us on {today} (RATE of sweetspot new-study)"
    return {"currency": currency, "usd": usd_per_unit, "as_of": today, "source": source}


def _figure(own: Own, today: str) -> dict[str, Any]:
    row: dict[str, Any] = dict.fromkeys([*THROUGHPUT_CSV, "as_of"], "")
    row |= {"gpu": own.device.gpu, "instance": OWN, "gpus": 1, "framework": own.framework, "benchmark": "own"}
    row |= {"model": own.model, "batch_size": own.batch_size, "precision": own.precision, "variant": "default"}
    row |= {"images_per_s": f"{own.images_per_s or 0:g}", "as_of": today}
    return row | {"source": f"timed by us, given to sweetspot new-study on {today}"}


def month_block(model: str, devices: int | str, there: str, asked: Work | None) -> str:
    """The workload of months for workloads.yaml: the work that is `asked` about, or behind # what one might ask.

    there: the instance that is there.
    """
    work = asked or Work()
    block = BLOCK.format(
        hint="" if asked else ": take the # away and put yours in",
        have=f"[{', '.join([there] * work.have)}]" if asked else "[]",
        model=model,
        devices=devices,
        months=f"{work.months:g}",
        limits="".join(f"  {key}: {most:.9g}\n" for key, most in work.limits.items()),
        size="\n      ".join(f"{key}: {value}" for key, value in work.size.items()),
        per_month=as_flow(work.per_month),
        urgent=URGENT.format(within=f"{work.urgent[1]:g}", number=as_flow(work.urgent[0])) if work.urgent else "",
        source=work.source,
    )
    if asked:
        return block
    lines = block.replace("is spent", f"is spent ([{there}], with capex: 0)").splitlines()
    return "".join(f"{line if line.startswith('#') else f'# {line}'}\n" for line in lines)


def as_flow(number: Any) -> str:
    """A number of a file, or its range, on one line."""
    if isinstance(number, Mapping):
        return f"{{{', '.join(f'{name}: {end:.9g}' for name, end in number.items())}}}"
    return f"{number:.9g}"


def middle(number: Any) -> float:
    """A number of a file, or the middle of its range."""
    return float(number["value"] if isinstance(number, Mapping) else number)


def ranged(number: Any, change: Callable[[float], float]) -> Any:
    """A number of a file or its range, each end changed."""
    if isinstance(number, Mapping):
        return {name: change(end) for name, end in number.items()}
    return change(number)


def as_csv(rows: Sequence[Mapping[str, Any]]) -> str:
    """A table of one row or more as the text of a file."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


class _Plain(yaml.SafeDumper):
    """Writes what stands twice twice: the files of a study have no aliases."""

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _yaml(value: Any) -> str:
    return yaml.dump(value, Dumper=_Plain, sort_keys=False, allow_unicode=True, width=120)
