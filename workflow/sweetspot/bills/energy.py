"""Electricity of an hour of use of owned and rented machines, and its carbon; manufacturing is not included."""

from sweetspot.bills.schemas import Columns, bounds, expand
from sweetspot.study.energy_facts import Energy, Fact
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import PricedOffer
from sweetspot.study.terms import Ownership

GRAMS_A_KG = 1000.0
WATTS_A_KW = 1000.0
ESTIMATED = "estimated"  # `power_basis` of rented machines, whose power cannot be measured


def energy_columns(offer: PricedOffer, machine: Instance, energy: Energy | None) -> Columns:
    """Return an offer's columns about electricity and carbon by name: kWh and kg CO2e per hour of use, with sources.
    kWh = kW x PUE, kg CO2e = kWh x intensity of the grid; the page sets carbon beside cost. Columns that are not known
    are left out of the dict; `energy_lacks` names the facts that are missing.

    Parameters
    ----------
    offer, machine, energy
        The offer (one price), its machine, and the power of devices and grid intensities that the study declares.
    """
    facts = energy or Energy()
    columns, missing = _rented_power(machine, facts) if offer.own is None else _owned_power(offer.own)
    kwh, site = columns.get("kwh_per_hour"), facts.site(machine.provider)
    grid = None if site is None else site.g_per_kwh
    if grid is None:
        missing.append(f"grid intensity of {machine.provider}")
    elif kwh is not None:
        columns["kg_co2e_per_hour"] = kwh * bounds(grid) / GRAMS_A_KG
        columns["grid_source"] = f"{grid.value:g} g CO2e/kWh: {_citation(grid)}"
    return expand(**columns, energy_lacks=", ".join(missing) or None)


def _owned_power(ownership: Ownership) -> tuple[Columns, list[str]]:
    """Return ({offers column: value}, [names of missing facts]) about the electricity of a machine to buy. The columns
    are kWh per hour of use ([value, low, high]; kW of the price list x PUE), its basis and source.
    """
    kw = bounds(ownership.kw) * bounds(ownership.load_share)
    if not kw[0] > 0:  # In a price list, 0 means unknown power.
        return {}, ["kW of the price list"]
    source = f"{kw[0]:.4g} kW, {ownership.kw_basis} in the price list, x PUE {ownership.pue.value:g}"
    return {"kwh_per_hour": kw * bounds(ownership.pue), "power_basis": ownership.kw_basis, "power_source": source}, []


def _rented_power(machine: Instance, facts: Energy) -> tuple[Columns, list[str]]:
    """Return ({offers column: value}, [names of missing facts]) about the electricity of a rented machine, an estimate.
    The columns are kWh per hour of use ([value, low, high]; watts of devices x host x load x PUE), basis and source.
    """
    device, site = facts.device(machine.gpu), facts.site(machine.provider)
    host_share = device.host_share if device else None
    declared: dict[str, Fact | None] = {
        f"W of {machine.gpu}": device.watts if device else None,
        "host share": host_share or facts.host_share,
        "utilisation": facts.utilisation,
        f"PUE of {machine.provider}": site.pue if site else None,
    }
    facts_declared = [fact for fact in declared.values() if fact is not None]
    if len(facts_declared) < len(declared):
        return {}, [name for name, fact in declared.items() if fact is None]
    watts, host, load, pue = facts_declared
    kw = machine.gpus * bounds(watts) * (1.0 + bounds(host)) / WATTS_A_KW * bounds(load)
    source = (
        f"estimated: {machine.gpus} x {watts.value:g} W x (1 + {host.value:g}) x {load.value:g} = "
        f"{kw[0]:.4g} kW, x PUE {pue.value:g}; W: {_citation(watts)}; host: {_citation(host)}; "
        f"utilisation: {_citation(load)}; PUE: {_citation(pue)}"
    )
    return {"kwh_per_hour": kw * bounds(pue), "power_basis": ESTIMATED, "power_source": source}, []


def _citation(fact: Fact) -> str:
    """Return the source of a fact with its date in brackets."""
    return f"{fact.source} ({fact.as_of})"
