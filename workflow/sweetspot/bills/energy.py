"""Electricity and carbon of an hour of use, for owned and rented machines.

Carbon is that of the electricity; emissions from manufacturing are not included.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from sweetspot.bills.schemas import bounds, expand
from sweetspot.cells import USABLE
from sweetspot.study.energy_facts import Energy, Fact
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PricedOffer
from sweetspot.study.terms import Amount, Ownership

GRAMS_A_KG = 1000.0
WATTS_A_KW = 1000.0
# Values of `power_basis` besides those of a price list.
ESTIMATED = "estimated"  # of rented machines, whose power cannot be measured
METERED = "metered"  # by the counters of devices and processor


@dataclass(frozen=True)
class MeteredPower:
    """Power of a machine in training in kW (median, minimum and maximum of its cells) and its source."""

    kw: tuple[float, float, float]
    source: str


def energy_columns(
    offer: PricedOffer, machine: Instance, energy: Energy | None, metered: MeteredPower | None = None
) -> dict[str, Any]:
    """Return the energy columns of an offer: kWh and kg CO2e of an hour of use.

    Parameters
    ----------
    offer, machine
        The offer, and the machine that it is for.
    energy
        Power of devices and grid intensities that the study declares.
    metered
        Where the offer's power comes from if it is METERED.

    Returns
    -------
    dict
        `kwh_per_hour` = kW x PUE, `kg_co2e_per_hour` = that x the intensity of the grid, each with its bounds;
        where these come from, and in `energy_lacks` what is not declared. Unknown columns are left out.
    """
    facts = energy or Energy()
    columns, missing = _rented_power(machine, facts) if offer.own is None else _owned_power(offer.own, metered)
    kwh, site = columns.get("kwh_per_hour"), facts.site(machine.provider)
    grid = None if site is None else site.g_per_kwh
    if grid is None:
        missing.append(f"grid intensity of {machine.provider}")
    elif kwh is not None:
        columns["kg_co2e_per_hour"] = kwh * bounds(grid) / GRAMS_A_KG
        columns["grid_source"] = f"{grid.value:g} g CO2e/kWh: {_citation(grid)}"
    return expand(**columns, energy_lacks=", ".join(missing) or None)


def _owned_power(own: Ownership, metered: MeteredPower | None) -> tuple[dict[str, Any], list[str]]:
    """Return kWh per hour with its basis and source, and what is missing."""
    kw = bounds(own.kw) * bounds(own.load_share)
    if not kw[0] > 0:  # In a price list, 0 means unknown power.
        return {}, ["kW of the price list"]
    source, pue = f"{kw[0]:.4g} kW, {own.kw_basis} in the price list,", bounds(own.pue)
    if own.kw_basis == METERED and metered is not None:
        source = f"{metered.source};"
    return {"kwh_per_hour": kw * pue, "power_basis": own.kw_basis, "power_source": f"{source} x PUE {pue[0]:g}"}, []


def _rented_power(machine: Instance, facts: Energy) -> tuple[dict[str, Any], list[str]]:
    """Estimate devices x W x (1 + host share) x utilization x PUE, whatever number of devices a job uses."""
    device, site = facts.device(machine.gpu), facts.site(machine.provider)
    declared: dict[str, Fact | None] = {
        f"W of {machine.gpu}": device.watts if device else None,
        "host share": _host_share(machine.gpu, facts),
        "utilisation": facts.utilisation,
        f"PUE of {machine.provider}": site.pue if site else None,
    }
    known = [fact for fact in declared.values() if fact is not None]
    if len(known) < len(declared):
        return {}, [name for name, fact in declared.items() if fact is None]
    watts, host, load, pue = known
    kw = machine.gpus * bounds(watts) * (1.0 + bounds(host)) / WATTS_A_KW * bounds(load)
    source = (
        f"estimated: {machine.gpus} x {watts.value:g} W x (1 + {host.value:g}) x {load.value:g} = "
        f"{kw[0]:.4g} kW, x PUE {pue.value:g}; W: {_citation(watts)}; host: {_citation(host)}; "
        f"utilisation: {_citation(load)}; PUE: {_citation(pue)}"
    )
    return {"kwh_per_hour": kw * bounds(pue), "power_basis": ESTIMATED, "power_source": source}, []


def _host_share(gpu: str, facts: Energy) -> Fact | None:
    device = facts.device(gpu)
    return facts.host_share if device is None or device.host_share is None else device.host_share


def _citation(fact: Fact) -> str:
    return f"{fact.source} ({fact.as_of})"


def metered_machines(
    throughput: pd.DataFrame, instances: Mapping[str, Instance], energy: Energy | None
) -> dict[str, MeteredPower]:
    """Return the power of machines whose runs on all devices measured joules.

    kW of a cell = samples/s x J per sample / 1000. If no counter of the processor was readable, it is multiplied
    by 1 + the study's host share; without a host share, the devices alone count.

    Parameters
    ----------
    throughput
        Table throughput.parquet.
    instances
        Machines by name.
    energy
        Power that the study declares.
    """
    if "joules_per_sample" not in throughput.columns:
        return {}
    gpus = throughput["instance"].map({name: machine.gpus for name, machine in instances.items()})
    is_usable = throughput["basis"].eq("measured") & throughput["status"].isin(USABLE) & throughput["gpus"].eq(gpus)
    cells = throughput[is_usable & ~throughput["logical"].eq(True)].dropna(subset=["joules_per_sample", "images_per_s"])
    return {
        str(name): _metered_power(table, _host_share(instances[str(name)].gpu, energy or Energy()))
        for name, table in cells.groupby("instance")
    }


def _metered_power(cells: pd.DataFrame, host: Fact | None) -> MeteredPower:
    sources = sorted(set(cells["energy_source"].astype(str)))
    factor, note = 1.0, ""
    if not any("rapl" in source for source in sources):
        factor = 1.0 if host is None else 1.0 + host.value
        note = ", devices alone" if host is None else f", x (1 + {host.value:g}) for the host"
    kw = (cells["images_per_s"] * cells["joules_per_sample"]).astype(float) / WATTS_A_KW * factor
    count = f"{len(cells)} cell{'s' if len(cells) > 1 else ''}"
    source = f"{kw.median():.4g} kW by {', '.join(sources)} of {count}{note}; supplies, fans and disks are not in it"
    return MeteredPower((kw.median(), kw.min(), kw.max()), source)


def with_metered_power(offer: PricedOffer, metered: MeteredPower | None) -> PricedOffer:
    """Return the offer with its declared kW replaced by the metered one.

    Offers to rent and machines measured at the plug stay as they are. The high value is the declared one if that
    is more: what counters miss lies between the two.
    """
    own = offer.own
    if own is None or metered is None or own.kw_basis == "measured":
        return offer
    value, low, high = metered.kw
    kw = Amount(value=value, low=low, high=max(high, own.kw.value * own.load_share.value))
    update = {"kw": kw, "load_share": Amount(value=1.0), "kw_basis": METERED}
    return offer.model_copy(update={"own": own.model_copy(update=update)})
