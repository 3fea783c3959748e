"""What a later reader must know of the machine and the software that a figure comes from."""

import datetime
import os
import platform
import socket
from importlib import metadata
from pathlib import Path
from typing import Any

from sweetspot.errors import UserError
from sweetspot.harness.request import Request


def framework_facts(request: Request) -> dict[str, Any]:
    """Devices and versions as the framework sees them. Raises UserError unless exactly the asked devices are seen."""
    import tensorflow as tf

    names = [
        tf.config.experimental.get_device_details(gpu)["device_name"] for gpu in tf.config.list_physical_devices("GPU")
    ]
    wanted = request.cell.gpus if request.device == "gpu" else 0
    if request.device == "gpu" and len(names) != wanted:
        raise UserError(f"--gpus is {wanted}; this process sees {len(names)} GPU(s); nothing was measured")
    for name in names[:wanted]:
        if request.expect_gpu not in name:
            raise UserError(f"--expect-gpu is {request.expect_gpu!r}; this node has {name!r}; nothing was measured")
    build = tf.sysconfig.get_build_info()
    versions = {package: metadata.version(package) for package in ("tensorflow", "keras", "numpy")}
    return {
        "device_name": names[0] if wanted else processor_name(),
        "device_count": wanted or request.cell.gpus,
        "logical": request.device == "cpu" and request.cell.gpus > 1,
        "versions": {**versions, "python": platform.python_version()},
        "cuda": build.get("cuda_version"),
        "cudnn": build.get("cudnn_version"),
    }


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
