"""What a later reader must know of the machine and the software that a figure comes from."""

import datetime
import os
import platform
import socket
from importlib import metadata
from pathlib import Path
from typing import Any

from sweetspot.harness.request import Request


def framework_facts(request: Request) -> dict[str, Any]:
    """Name and count of the devices, versions, and what a reader must be told of them."""
    import tensorflow as tf

    build = tf.sysconfig.get_build_info()
    versions = {package: metadata.version(package) for package in ("tensorflow", "keras", "numpy")}
    facts = {
        "device_name": processor_name(),
        "device_count": request.cell.gpus,
        "logical": request.device == "cpu" and request.cell.gpus > 1,
        "emulated": request.device == "cpu" and request.cell.precision == "fp16",
        "versions": {**versions, "python": platform.python_version()},
        "onednn": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "default"),
    }
    if request.device == "gpu":
        cards = tf.config.list_physical_devices("GPU")
        details = [tf.config.experimental.get_device_details(card) for card in cards]
        facts["device_name"] = details[0].get("device_name", "unknown")
        facts["compute_capability"] = [list(detail.get("compute_capability", ())) for detail in details]
        facts |= {"cuda": build.get("cuda_version"), "cudnn": build.get("cudnn_version")}
    return facts


def machine_facts(request: Request, command: list[str]) -> dict[str, Any]:
    """Host, processor, load before the run, start time and command."""
    return {
        "protocol": request.protocol,
        "cpu": processor_name(),
        "cpu_count": os.cpu_count(),
        "load_before": os.getloadavg()[0],
        "host": socket.gethostname(),
        "started_at": datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        "command": command,
        "job_id": os.environ.get("SLURM_JOB_ID"),
        "xla": request.xla,
    }


def processor_name() -> str:
    """The processor's model name."""
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()
