"""Hours on the devices of a record as hours on one other: by what both do with other workloads."""

import math
import re
from collections.abc import Iterable, Mapping

import numpy as np

from sweetspot.errors import UserError
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.specifications import Device
from sweetspot.transfer.transferring import Measured, learn_devices, transferred
from sweetspot.use.month_counts import Range

RUN_TOGETHER = re.compile(r"\b([rg]tx)(?=\d)", re.IGNORECASE)  # as administrators name their GPUs: rtx4090
SURE = Range(1.0, 1.0, 1.0)


def read_devices_told(texts: Iterable[str]) -> dict[str, str]:
    """What recorded names mean, of RECORDED=GPU each; an empty one is of jobs whose device is not recorded.

    Raises UserError.
    """
    told = {}
    for text in texts:
        recorded, equals, gpu = text.partition("=")
        if not equals or not gpu.strip():
            raise UserError(f"--device is {text!r}; expected RECORDED=GPU, such as 'a100=A100 SXM4 80GB'")
        told[recorded.strip()] = shipped_devices().get(gpu.strip()).gpu
    return told


def known_devices(recorded: Iterable[str], told: Mapping[str, str]) -> dict[str, Device]:
    """The device of each recorded name. Raises UserError, one sentence, asking for all that nobody knows."""
    devices, found, unknown = shipped_devices(), {}, []
    for name in dict.fromkeys(recorded):
        device = devices.find(told.get(name, RUN_TOGETHER.sub(r"\1 ", name)))
        if device is None:
            unknown.append(name)
        else:
            found[name] = device
    if unknown:
        named = ", ".join(repr(name) if name else "jobs without a recorded device" for name in unknown)
        flags = " ".join(f"--device '{name}=GPU'" for name in unknown)
        raise UserError(f"which device is meant is not known: {named}; say it: {flags} (names of facts/devices.csv)")
    return found


def hours_per_hour(known: Mapping[str, Device], reference: Device, model: str, precision: str) -> dict[str, Range]:
    """Hours on the reference that an hour on each recorded device is worth, with a 90 % range; 1 of the same device.

    The rate that is transferred is a usual one of the pool's figures of such a device: of one's own nothing is known.
    Raises UserError where a device cannot run the precision.
    """
    learnt = learn_devices()
    figures, found = learnt.figures, {}
    for name, device in known.items():
        if device.gpu == reference.gpu:
            found[name] = SURE
            continue
        rates = figures.loc[figures["device"] == device.gpu, "log_rate"]
        rate = float(np.exp((rates if len(rates) else figures["log_rate"]).median()))
        row = transferred([Measured(device, rate, model, precision, "torch")], [reference], learnt).iloc[0]
        found[name] = Range(*(rate / float(row[f"images_per_s{end}"]) for end in ("", "_high", "_low")))
    return found


def on_reference(hours: Range, by_device: Mapping[str, float], worth: Mapping[str, Range]) -> Range:
    """Hours with the range of both: what the record says of them, and what an hour is worth on the reference."""
    total = sum(by_device.values())
    ends = [sum(part * worth[name][end] for name, part in by_device.items()) / total for end in range(3)]
    if hours.value <= 0:
        return hours
    low, high = (
        math.exp(math.hypot(math.log(ends[end] / ends[0]), math.log(max(hours[end], 1e-9) / hours.value)))
        for end in (1, 2)
    )
    value = hours.value * ends[0]
    return Range(value, value / low, value * high)
