"""Predict a workload on other devices from measured figures."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from sweetspot.commands.render import render, to_json
from sweetspot.errors import UserError
from sweetspot.number_text import parse_number
from sweetspot.scaling.device_predictions import predict_throughput
from sweetspot.study.base import HIDDEN
from sweetspot.throughput.published import RATES
from sweetspot.transfer.figures import shipped_devices
from sweetspot.transfer.specifications import Devices, precision_name
from sweetspot.transfer.transferring import Measured
from sweetspot.transformers import unit_of
from sweetspot.warnings import as_text, joined

FIELD = f"[^:={HIDDEN}]"
FIGURE = re.compile(
    f"(?P<gpu>{FIELD}+):(?P<model>{FIELD}+):(?P<precision>{FIELD}+)(?::(?P<batch>{FIELD}*))?=(?P<rate>{FIELD}+)"
)
FORM = 'GPU:MODEL:PRECISION[:BATCH]=RATE, such as "RTX 4090:resnet50:fp16:256=1120"'


def measured(text: str, framework: str, devices: Devices) -> Measured:
    """Parse a speed that a reader timed (--measured), e.g. 'RTX 4090:resnet50:fp16:256=1120' (samples per second of
    one device), from which other devices are predicted.

    Parameters
    ----------
    text, framework, devices
        The figure, and its framework; all devices by name. UserError for another form or an unknown device.
    """
    match = FIGURE.fullmatch(text.strip())
    if match is None:
        raise UserError(f"--measured is {text!r}; expected {FORM}")
    rate = parse_number(match["rate"], "--measured: the rate")
    if not RATES[0] <= rate <= RATES[1]:
        raise UserError(f"--measured: the rate is {match['rate']!r}; expected samples per second, above 0")
    batch_size = parse_number(match["batch"], "--measured: the batch") if match["batch"] else math.nan
    if match["batch"] and not (batch_size >= 1 and batch_size.is_integer()):
        raise UserError(f"--measured: the batch is {match['batch']!r}; expected a whole number above 0")
    device = devices.get(match["gpu"].strip())
    return Measured(device, rate, match["model"].strip(), precision_name(match["precision"]), framework, batch_size)


@dataclass(frozen=True)
class PredictRequest:
    """Figures as of `measured`, and the devices and counts to predict for, e.g. 'h100-sxm,l40s' and '1,8'."""

    measured: Sequence[str]
    devices: str
    gpus: str
    framework: str
    as_json: bool


def run(request: PredictRequest) -> None:
    """Run `sweetspot predict`: print as text or JSON what the figures in `request` predict for other devices."""
    devices = shipped_devices()
    figures = [measured(text, request.framework, devices) for text in request.measured]
    gpus = [name.strip() for name in request.devices.split(",") if name.strip()]
    if not gpus:
        raise UserError(f"--on is {request.devices!r}; expected devices, such as h100-sxm,rtx-5090")
    counts = [part.strip() for part in request.gpus.split(",")]
    if not all(re.fullmatch(r"[1-9]\d{0,3}", count) for count in counts):
        raise UserError(f"--gpus is {request.gpus!r}; expected whole numbers from 1 to 9999, such as 1,8")
    table = predict_throughput(figures, gpus, list(dict.fromkeys(map(int, counts))))
    rows = table.to_dict("records")
    if request.as_json:
        content = {
            "measured": [figure._asdict() | {"device": figure.device.gpu} for figure in figures],
            "predicted": [row | {"warnings": joined(row["warnings"])} for row in rows],
            "level": 0.9,
        }
        print(to_json(content))
        return
    machines_by_warning: dict[str, list[str]] = {}
    for row in table.itertuples():
        for warning in row.warnings:
            machines_by_warning.setdefault(as_text([warning]), []).append(f"{row.gpus} x {row.gpu}")
    texts = {"machines_by_warning": machines_by_warning, "unit_of": unit_of}
    print(render("predict.txt", figures=figures, rows=rows, **texts))
