"""What an hour of use takes from the grid and what that emits: kWh and kg CO2e, of machines owned and rented.

Electricity is priced by the same kWh (owning.running_per_hour). Carbon is that of the electricity; what making the
machine emitted is not in it.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from sweetspot.bills.columns import ENDS, Columns, Triple, from_arrow, spread, times, triple
from sweetspot.bills.owning import kwh_per_hour
from sweetspot.cells import USABLE
from sweetspot.study.energy_facts import Energy, Fact
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import Offer
from sweetspot.study.terms import Amount, Own

Row = dict[str, Any]
GRAMS_A_KG = 1000.0
NOTHING_DECLARED = Energy()
# Nobody has measured a rented machine's power here: it is never anything but estimated.
ESTIMATED = "estimated"


def energy_terms(offer: Offer, machine: Instance, energy: Energy | None) -> Row:
    """The energy columns of an offer (OFFER_COLUMNS): what an hour of use takes and emits; null where not known.

    `kwh_per_hour` = kW x PUE. Owned: those of the price list; `power_basis` is `measured` or `declared` as it says, or
    `metered` where runs measured joules (`with_metered`).
    Rented: devices x W x (1 + host share) x utilisation and the provider's PUE, all declared in study.yaml;
    `power_basis` is `estimated`. The machine draws for all its devices, whatever a cell uses. `kg_co2e_per_hour` =
    that x the grid's intensity. `_low` takes the low end of every factor, `_high` the high end. `power_source`,
    `grid_source`: the factors and where they come from; `energy_lacks`: what is not declared, null where all is.
    """
    facts = energy or NOTHING_DECLARED
    row, lacks = _owned(offer.own) if offer.own is not None else _rented(machine, facts)
    site = facts.site(machine.provider)
    if site is None or site.g_per_kwh is None:
        lacks.append(f"grid intensity of {machine.provider}")
    elif not lacks:
        grid = site.g_per_kwh
        kwh = (row[f"kwh_per_hour{end}"] for end in ENDS)
        value, low, high = (power * grams / GRAMS_A_KG for power, grams in zip(kwh, grid.three, strict=True))
        row |= spread("kg_co2e_per_hour", (value, low, high))
        row["grid_source"] = f"{grid.value:g} g CO2e/kWh: {_told(grid)}"
    return row | {"energy_lacks": ", ".join(lacks) or None}


def _owned(own: Own) -> tuple[Row, list[str]]:
    """Of a machine bought. Power that nobody told is written as 0 in a price list: it is not known."""
    kw, pue = times(triple(own.kw), triple(own.load_share)), triple(own.pue)
    if not kw[0] > 0:
        return {}, ["kW of the price list"]
    source = f"{kw[0]:.4g} kW, {own.kw_basis} in the price list, x PUE {pue[0]:g}"
    return {**_kwh(kw, pue), "power_basis": own.kw_basis, "power_source": source}, []


def _rented(machine: Instance, facts: Energy) -> tuple[Row, list[str]]:
    device, site = facts.device(machine.gpu), facts.site(machine.provider)
    host = facts.host_share if device is None or device.host_share is None else device.host_share
    pue = None if site is None else site.pue
    known = {f"W of {machine.gpu}": device, "host share": host, "utilisation": facts.utilisation,
             f"PUE of {machine.provider}": pue}  # fmt: skip
    lacks = [name for name, fact in known.items() if fact is None]
    if device is None or host is None or facts.utilisation is None or pue is None:
        return {}, lacks
    factors = zip(device.watts.three, host.three, facts.utilisation.three, strict=True)
    # The most that it draws: its devices by their data sheet, and the rest as a share of them.
    value, low, high = (machine.gpus * watts * (1.0 + rest) / WATTS_A_KW * used for watts, rest, used in factors)
    source = (
        f"estimated: {machine.gpus} x {device.watts.value:g} W x (1 + {host.value:g}) x {facts.utilisation.value:g} = "
        f"{value:.4g} kW, x PUE {pue.value:g}; W: {_told(device.watts)}; host: {_told(host)}; utilisation: "
        f"{_told(facts.utilisation)}; PUE: {_told(pue)}"
    )
    return {**_kwh((value, low, high), pue.three), "power_basis": ESTIMATED, "power_source": source}, []


def _kwh(kw: Triple, pue: Triple) -> Row:
    value, low, high = (kwh_per_hour({"kw": kw[end], "pue": pue[end]}) for end in range(3))
    return spread("kwh_per_hour", (value, low, high))


def _told(fact: Fact) -> str:
    return f"{fact.source} ({fact.as_of})"


METERED = "metered"  # the power basis: by the counters of devices and processor
COLUMNS = ("instance", "gpus", "basis", "status", "logical", "images_per_s", "joules_per_sample", "energy_source")
WATTS_A_KW = 1000.0


class Metered(NamedTuple):
    """kW of a machine in training: median, least and most of its cells, and in words where they come from."""

    kw: tuple[float, float, float]
    source: str


def metered_machines(throughput: Any, instances: Mapping[str, Instance], energy: Energy | None) -> dict[str, Metered]:
    """The machines of which runs on all their devices measured joules; throughput: the Arrow table throughput.parquet.

    kW of a cell = samples/s x J a sample / 1000. Where the processor's counter was not readable beside devices that
    have their own, it is multiplied by 1 + the study's host share; without one the devices alone count.
    """
    if "joules_per_sample" not in throughput.column_names:
        return {}
    cells = from_arrow(throughput, COLUMNS)
    known = np.isfinite(cells["joules_per_sample"]) & np.isfinite(cells["images_per_s"])
    usable = [
        basis == "measured" and status in USABLE and not logical
        for basis, status, logical in zip(cells["basis"], cells["status"], cells["logical"], strict=True)
    ]
    found = {}
    for name, machine in instances.items():
        whole = (cells["instance"] == name) & (cells["gpus"] == machine.gpus)
        own = np.flatnonzero(known & np.array(usable, dtype=bool) & whole)
        if len(own):
            found[name] = _metered(cells, own, machine, energy)
    return found


def _metered(cells: Columns, own: np.ndarray, machine: Instance, energy: Energy | None) -> Metered:
    sources = sorted({str(source) for source in cells["energy_source"][own]})
    factor, host = _rest(machine, energy) if not any("rapl" in source for source in sources) else (1.0, "")
    kw = cells["images_per_s"][own] * cells["joules_per_sample"][own] / WATTS_A_KW * factor
    count = f"{len(own)} cell{'s' if len(own) > 1 else ''}"
    words = f"{np.median(kw):.4g} kW by {', '.join(sources)} of {count}{host}; supplies, fans and disks are not in it"
    return Metered((float(np.median(kw)), float(kw.min()), float(kw.max())), words)


def _rest(machine: Instance, energy: Energy | None) -> tuple[float, str]:
    """The factor for what no counter of a device sees, and its words; 1 where the study declares none."""
    device = energy.device(machine.gpu) if energy else None
    share = device.host_share if device and device.host_share else energy.host_share if energy else None
    return (1.0, ", devices alone") if share is None else (1.0 + share.value, f", x (1 + {share.value:g}) for the host")


def with_metered(offer: Offer, metered: Metered | None) -> Offer:
    """The offer with its stated kW replaced by the measured one; unchanged where it is rented or measured at the plug.

    Its high end is the stated kW where that is more: what counters miss lies between the two.
    """
    if offer.own is None or metered is None or offer.own.kw_basis == "measured":
        return offer
    value, low, high = metered.kw
    stated = times(triple(offer.own.kw), triple(offer.own.load_share))
    kw = Amount(value=value, low=low, high=max(high, stated[0]))
    changed = {"kw": kw, "load_share": Amount(value=1.0), "kw_basis": METERED}
    return offer.model_copy(update={"own": offer.own.model_copy(update=changed)})
