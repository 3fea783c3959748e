"""The work of months in a new study, where jobs take some devices of a machine: what is there, the offer, the jobs."""

from collections.abc import Mapping
from typing import Any

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
  months: 36
  have: {have}                     # machines that are there, each with an offer `own`: its purchase is spent
  jobs:
    - name: runs
      model: {model}
      samples: 100000000
      per_month: {{value: 20, low: 10, high: 30}}
      devices_per_job: {devices}
      within_hours: 24         # now and then a result is due
      urgent_per_month: 1
      source: our estimate, to be replaced
  source: our estimate, to be replaced
"""


def month_block(model: str, devices: int | str, there: str, asked: bool) -> str:
    """The workload of months for workloads.yaml: as it stands where it is `asked` for, else behind #.

    there: the instance that is there.
    """
    if asked:
        return BLOCK.format(hint="", have=f"[{there}]", model=model, devices=devices)
    hint = ": take the # away and put yours in"
    lines = BLOCK.format(hint=hint, have="[]", model=model, devices=devices).splitlines()
    lines[4] = lines[4].replace("is spent", f"is spent ([{there}], with capex: 0)")
    return "".join(f"{line if line.startswith('#') else f'# {line}'}\n" for line in lines)


def with_what_is_there(prices: Mapping[str, Any], there: str, currency: str, usd_per_unit: float) -> dict[str, Any]:
    """The box's price list for the work of months: in `currency`, without resale, with the machine that is there.

    prices: `offers` with the box first, in USD where the offer says so. Both work day and night but for DOWNTIME; the
    machine there draws its share of the box's power. Raises UserError where the list offers no box.
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
    own |= {"days_per_month": MONTH_DAYS, "downtime_share": DOWNTIME}
    share = _ranged(own.get("kw", PLACEHOLDER), lambda kw: round(kw / DEVICES, 4))
    ours = {"capex": 0, **{name: own[name] for name in ("months", "per_kwh", "days_per_month", "downtime_share")}}
    source = "what is there: its purchase is spent; power assumed, a quarter of the box's"
    there_offer = {"instance": there, "purchase": "own", "source": source, "own": ours | {"kw": share}}
    return {**prices, "title": "The box, and what is there", "offers": [box | {"own": own}, there_offer]}


def _ranged(amount: Any, change: Any) -> Any:
    """A number or its range, each end changed."""
    if isinstance(amount, Mapping):
        return {name: change(value) for name, value in amount.items()}
    return change(amount)
