"""Power of owned machines by what their runs measured: joules a sample x samples a second, in place of a stated kW.

Counters of devices and processors see neither supplies nor fans and disks: what they say is the least that the machine
drew. A kW measured at the plug is kept.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from sweetspot.bills.columns import Columns, from_arrow
from sweetspot.bills.money import times, triple
from sweetspot.cells import USABLE
from sweetspot.study.energy_facts import Energy
from sweetspot.study.instances import Instance
from sweetspot.study.price_list import Offer
from sweetspot.study.terms import Amount

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
