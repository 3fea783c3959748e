"""Machines whose devices work on several jobs side by side: how many at once, and how fast."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np

from sweetspot.bills.columns import Columns, objects, size, stacked, take
from sweetspot.cells import weakest
from sweetspot.study.instances import Instance
from sweetspot.study.sharing import SideBySide

RATES = ("images_per_s", "images_per_s_low", "images_per_s_high")
KEY = ("framework", "model", "batch_size", "precision")


class Part(NamedTuple):
    """Figures of `devices` devices alone, as cells; `source`: what stands behind them, in words."""

    cells: Columns
    basis: str | None = None
    share: float = 1.0


def with_slots(cells: Columns, work: SideBySide, instances: Mapping[str, Instance]) -> Columns:
    """The cells that `work` is priced on, with columns `slots`: jobs that their machine works on at once, and
    `figure_images_per_s`, `figure_gpus`: the figure that their rate is made of, and of how many devices.

    Where a job takes all devices: `cells`, one at a time. Else a machine of n devices works on floor(n / d) jobs of d
    devices each, and the rate of its cell is that of all of them together: slots x the rate of d devices alone x (1 -
    contention), where several run. The rate of d devices alone is that of a machine of d such devices: itself, its
    `base_instance`, that of the machine it is equivalent to, another of the same device; else an equal share of its own
    (basis at best `scaled`). A machine of fewer than d devices has no cell. Nothing here enters the scaling fit.
    """
    wanted = work.devices_per_job
    if wanted == "all":
        return one_at_a_time(cells)
    kept = np.array([_devices(cells, row, instances) == wanted for row in range(size(cells))], dtype=bool)
    parts = [one_at_a_time(take(cells, kept))]
    names = dict.fromkeys([*instances, *cells["instance"]])
    here = {name: np.flatnonzero(cells["instance"] == name) for name in names}
    for name in names:
        total = instances[name].gpus if name in instances else max(cells["gpus"][here[name]], default=0)
        if total <= wanted:
            continue
        part = next(_parts(name, total, wanted, cells, here, instances), None)
        if part is not None:
            parts.append(_side_by_side(part, name, total, wanted, work.contention, instances))
    return stacked(parts)


def one_at_a_time(cells: Columns) -> Columns:
    """The cells with the columns of `with_slots`, where one job takes all devices of its machine."""
    own = {"figure_images_per_s": cells["images_per_s"], "figure_gpus": cells["gpus"].astype(float)}
    return cells | own | {"slots": np.ones(size(cells))}


def _devices(cells: Columns, row: int, instances: Mapping[str, Instance]) -> int:
    """Devices of the cell where they are all of its machine's, else 0: a part of a machine is no machine."""
    machine = instances.get(cells["instance"][row])
    gpus = int(cells["gpus"][row])
    return gpus if machine is None or machine.gpus == gpus else 0


def _parts(
    name: str,
    total: int,
    wanted: int,
    cells: Columns,
    here: Mapping[str, np.ndarray],
    instances: Mapping[str, Instance],
) -> Iterator[Part]:
    """Figures of `wanted` devices of machine `name`, the nearest first."""
    for other in _relatives(name, instances):
        rows = here.get(other, np.array([], dtype=int))
        found = rows[(cells["gpus"][rows] == wanted) & (cells["status"][rows] == "ok")]
        if len(found):
            yield Part(take(cells, found))
    own = here.get(name, np.array([], dtype=int))
    whole = own[(cells["gpus"][own] == total) & (cells["status"][own] == "ok")]
    if len(whole):
        yield Part(take(cells, whole), "scaled", wanted / total)


def _relatives(name: str, instances: Mapping[str, Instance]) -> Iterator[str]:
    """Machines with the same devices: itself, its base, its twin and the twin's base, others of that device."""
    yield name
    machine = instances.get(name)
    if machine is None:
        return
    twin = instances.get(machine.equivalent_to) if machine.equivalent_to else None
    named = (machine.base_instance, machine.equivalent_to, twin.base_instance if twin else None)
    yield from (other for other in named if other)
    yield from (other for other, one in instances.items() if one.gpu == machine.gpu and other not in (name, *named))


def _side_by_side(
    part: Part, name: str, total: int, wanted: int, contention: float, instances: Mapping[str, Instance]
) -> Columns:
    """The cells of `part` as those of machine `name` with all its slots at work."""
    slots, cells, count = total // wanted, part.cells, size(part.cells)
    factor = part.share * slots * (1.0 - contention if slots > 1 else 1.0)
    machine = instances.get(name)
    words = f" ; {slots} jobs side by side on {total} devices" + (f", {contention:.0%} less each" if slots > 1 else "")
    named = {
        "instance": objects([name] * count),
        "gpus": np.full(count, total, dtype=cells["gpus"].dtype),
        "gpu": objects([machine.gpu if machine is not None else own for own in cells["gpu"]]),
        "basis": objects(own if part.basis is None else weakest(own, part.basis) for own in cells["basis"]),
        "source": objects(f"{source}{words}" for source in cells["source"]),
    }
    figure = {"figure_images_per_s": cells["images_per_s"], "figure_gpus": cells["gpus"].astype(float)}
    rates = {rate: cells[rate] * factor for rate in RATES}
    return cells | rates | named | figure | {"slots": np.full(count, float(slots))}
