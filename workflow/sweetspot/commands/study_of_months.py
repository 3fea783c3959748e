"""The work of months in a new study, where jobs take some devices of a machine: what is there, the offer, the jobs."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

from sweetspot.errors import UserError

MONTH_DAYS, DOWNTIME = 30.5, 0.04  # what is there works day and night; a day a month is lost
DEVICES = 4  # of the box on offer
# Of one's own currency, where office-box-2026 has cents of USD in the United States. Assumed.
PER_KWH = {"value": 0.30, "low": 0.25, "high": 0.35}
PLACEHOLDER = {"value": 1.0, "low": 0.7, "high": 1.3}  # kW of a box
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


class Work(NamedTuple):
    """The work of a month. Numbers are those of a file: one, or a mapping with its range.

    have: how many machines are there; size: what a job takes, `samples`, or `hours` and `instance`; used_months:
    over which machines are used; urgent: jobs a month
    and the hours within which they are due; limits: `at_most_up_front` and such; box: whether a box of four is offered.
    """

    have: int = 1
    months: float = 36
    used_months: Any = 36
    size: Mapping[str, Any] = MappingProxyType({"samples": 100_000_000})
    per_month: Any = MappingProxyType({"value": 20, "low": 10, "high": 30})
    urgent: tuple[Any, float] | None = (1, 24)
    limits: Mapping[str, float] = MappingProxyType({})
    kw: Any = None  # of one machine that is there; None: a quarter of the box's
    per_kwh: Any = None
    box: bool = True
    source: str = "our estimate, to be replaced"


def month_block(model: str, devices: int | str, there: str, asked: Work | None) -> str:
    """The workload of months for workloads.yaml: the work that is `asked` about, or behind # what one might ask.

    there: the instance that is there.
    """
    work = asked or Work()
    hint = "" if asked else ": take the # away and put yours in"
    values = {
        "hint": hint,
        "have": f"[{', '.join([there] * work.have)}]" if asked else "[]",
        "model": model,
        "devices": devices,
        "months": f"{work.months:g}",
        "limits": "".join(f"  {key}: {most:.9g}\n" for key, most in work.limits.items()),
        "size": "\n      ".join(f"{key}: {value}" for key, value in work.size.items()),
        "per_month": _flow(work.per_month),
        "urgent": URGENT.format(within=f"{work.urgent[1]:g}", number=_flow(work.urgent[0])) if work.urgent else "",
        "source": work.source,
    }
    block = BLOCK.format(**values)
    if asked:
        return block
    lines = block.splitlines()
    lines[4] = lines[4].replace("is spent", f"is spent ([{there}], with capex: 0)")
    return "".join(f"{line if line.startswith('#') else f'# {line}'}\n" for line in lines)


def _flow(number: Any) -> str:
    """A number or its range, as one writes it."""
    if isinstance(number, Mapping):
        return f"{{{', '.join(f'{name}: {end:.9g}' for name, end in number.items())}}}"
    return f"{number:.9g}"


def with_what_is_there(
    prices: Mapping[str, Any], there: str, currency: str, usd_per_unit: float, work: Work
) -> dict[str, Any]:
    """The box's price list for the work of months: in `currency`, without resale, with the machine that is there.

    prices: `offers` with the box first, in USD where the offer says so. Both work day and night but for DOWNTIME; the
    machine there draws its share of the box's power. Without `work.box` or a machine that is there the list lacks
    theirs. Raises UserError where the list offers no box.
    """
    offers = list(prices["offers"])
    if not offers:
        raise UserError("no box is offered; expected an offer to add what is there to")
    box = dict(offers[0])
    own = {name: value for name, value in box["own"].items() if name != "residual"}
    if box.get("currency") == "USD" and currency != "USD":
        own |= {"capex": _ranged(own["capex"], lambda usd: round(usd / usd_per_unit / 10) * 10), "per_kwh": PER_KWH}
        box["source"] = f"{box['source']}; in {currency} at {usd_per_unit:g} USD; electricity assumed"
        del box["currency"]
    own |= {"months": work.used_months, "days_per_month": MONTH_DAYS, "downtime_share": DOWNTIME}
    own |= {"per_kwh": work.per_kwh} if work.per_kwh is not None else {}
    share = _ranged(own.get("kw", PLACEHOLDER), lambda kw: round(kw / DEVICES, 4))
    ours = {"capex": 0, **{name: own[name] for name in ("months", "per_kwh", "days_per_month", "downtime_share")}}
    source = "what is there: its purchase is spent; power assumed, a quarter of the box's"
    if work.kw is not None:
        share, source = work.kw, "what is there: its purchase is spent; power as told"
    there_offer = {"instance": there, "purchase": "own", "source": source, "own": ours | {"kw": share}}
    offers = [box | {"own": own}] * work.box + [there_offer] * (work.have > 0)
    title = {(True, True): "The box, and what is there", (False, True): "What is there"}.get(
        (work.box, work.have > 0), "The box"
    )
    return {**prices, "title": title, "offers": offers}


def _ranged(amount: Any, change: Any) -> Any:
    """A number or its range, each end changed."""
    if isinstance(amount, Mapping):
        return {name: change(value) for name, value in amount.items()}
    return change(amount)
