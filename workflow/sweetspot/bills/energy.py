"""Electricity and carbon of an hour of use, for owned and rented machines.

Carbon is that of the electricity; emissions from manufacturing are not included.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sweetspot.bills.schemas import FloatArray, bounds, expand
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
class PowerEstimate:
    """Energy of an hour of use as [value, low, high] in kWh, None if unknown; `missing`: undeclared inputs."""

    kwh_per_hour: FloatArray | None = None
    basis: str | None = None
    source: str | None = None
    missing: Sequence[str] = ()


def energy_columns(offer: PricedOffer, machine: Instance, energy: Energy | None) -> dict[str, Any]:
    """Return the energy columns of an offer: kWh and kg CO2e of an hour of use.

    Parameters
    ----------
    offer, machine
        The offer, and the machine that it is for.
    energy
        Power of devices and grid intensities that the study declares.

    Returns
    -------
    dict
        `kwh_per_hour` = kW x PUE, `kg_co2e_per_hour` = that x the intensity of the grid, each with its bounds;
        where these come from, and in `energy_lacks` what is not declared. Unknown columns are left out.
    """
    facts = energy or Energy()
    power = _owned_power(offer.own) if offer.own is not None else _rented_power(machine, facts)
    missing, columns = list(power.missing), {"power_basis": power.basis, "power_source": power.source}
    site = facts.site(machine.provider)
    grid = None if site is None else site.g_per_kwh
    if power.kwh_per_hour is not None:
        columns |= expand(kwh_per_hour=power.kwh_per_hour)
    if grid is None:
        missing.append(f"grid intensity of {machine.provider}")
    elif power.kwh_per_hour is not None:
        columns |= expand(kg_co2e_per_hour=power.kwh_per_hour * bounds(grid) / GRAMS_A_KG)
        columns["grid_source"] = f"{grid.value:g} g CO2e/kWh: {_citation(grid)}"
    return columns | {"energy_lacks": ", ".join(missing) or None}


def _owned_power(own: Ownership) -> PowerEstimate:
    kw, pue = bounds(own.kw) * bounds(own.load_share), bounds(own.pue)
    if not kw[0] > 0:  # In a price list, 0 means unknown power.
        return PowerEstimate(missing=["kW of the price list"])
    source = f"{kw[0]:.4g} kW, {own.kw_basis} in the price list, x PUE {pue[0]:g}"
    return PowerEstimate(kw * pue, own.kw_basis, source)


def _rented_power(machine: Instance, facts: Energy) -> PowerEstimate:
    """Estimate devices x W x (1 + host share) x utilization x PUE, whatever number of devices a job uses."""
    device, site = facts.device(machine.gpu), facts.site(machine.provider)
    host = facts.host_share if device is None or device.host_share is None else device.host_share
    pue, load = None if site is None else site.pue, facts.utilisation
    if device is None or host is None or load is None or pue is None:
        declared = {f"W of {machine.gpu}": device, "host share": host, "utilisation": load}
        declared[f"PUE of {machine.provider}"] = pue
        return PowerEstimate(missing=[name for name, fact in declared.items() if fact is None])
    kw = machine.gpus * bounds(device.watts) * (1.0 + bounds(host)) / WATTS_A_KW * bounds(load)
    source = (
        f"estimated: {machine.gpus} x {device.watts.value:g} W x (1 + {host.value:g}) x {load.value:g} = "
        f"{kw[0]:.4g} kW, x PUE {pue.value:g}; W: {_citation(device.watts)}; host: {_citation(host)}; "
        f"utilisation: {_citation(load)}; PUE: {_citation(pue)}"
    )
    return PowerEstimate(kw * bounds(pue), ESTIMATED, source)


def _citation(fact: Fact) -> str:
    return f"{fact.source} ({fact.as_of})"


@dataclass(frozen=True)
class MeteredPower:
    """Power of a machine in training in kW (median, minimum and maximum of its cells) and its source."""

    kw: tuple[float, float, float]
    source: str


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
    is_usable = throughput["basis"].eq("measured") & throughput["status"].isin(USABLE)
    is_usable &= ~throughput["logical"].fillna(False).astype(bool)
    is_usable &= np.isfinite(throughput[["joules_per_sample", "images_per_s"]].astype(float)).all(axis=1)
    cells = throughput[is_usable].groupby(["instance", "gpus"])
    return {
        name: _metered_power(table, instances[name], energy)
        for (name, gpus), table in cells
        if name in instances and instances[name].gpus == gpus
    }


def _metered_power(cells: pd.DataFrame, machine: Instance, energy: Energy | None) -> MeteredPower:
    sources = sorted(set(cells["energy_source"].astype(str)))
    factor, note = 1.0, ""
    if not any("rapl" in source for source in sources):
        device = energy.device(machine.gpu) if energy else None
        host = device.host_share if device and device.host_share else energy.host_share if energy else None
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
    if offer.own is None or metered is None or offer.own.kw_basis == "measured":
        return offer
    value, low, high = metered.kw
    declared = offer.own.kw.value * offer.own.load_share.value
    kw = Amount(value=value, low=low, high=max(high, declared))
    update = {"kw": kw, "load_share": Amount(value=1.0), "kw_basis": METERED}
    return offer.model_copy(update={"own": offer.own.model_copy(update=update)})
