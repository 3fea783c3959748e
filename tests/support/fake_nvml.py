"""Two NVIDIA devices as NVML tells of them, one fact of which is kept secret."""

from types import SimpleNamespace


class RefusedError(Exception):
    """What NVML raises where a card keeps a fact to itself."""


def refuse(*_):
    raise RefusedError


NVML = SimpleNamespace(
    NVMLError=RefusedError,
    NVML_TEMPERATURE_GPU=0,
    NVML_CLOCK_SM=1,
    nvmlDeviceGetHandleByUUID=lambda card: {"GPU-a": 0, "GPU-b": 1}[card],
    nvmlDeviceGetHandleByIndex=lambda index: index,
    nvmlDeviceGetName=lambda handle: "Tesla K80",
    nvmlDeviceGetUtilizationRates=lambda handle: SimpleNamespace(gpu=(90, 30)[handle]),
    nvmlDeviceGetMemoryInfo=lambda handle: SimpleNamespace(used=(5, 7)[handle], total=12),
    nvmlDeviceGetPowerUsage=lambda handle: (100_000, 200_000)[handle],
    nvmlDeviceGetTotalEnergyConsumption=refuse,  # before Volta
    nvmlDeviceGetTemperature=lambda handle, sensor: (50, 70)[handle],
    nvmlDeviceGetClockInfo=refuse,
    nvmlDeviceGetCurrentClocksThrottleReasons=refuse,
    nvmlDeviceGetDeviceHandleFromMigDeviceHandle=refuse,  # no slice
    nvmlDeviceGetCudaComputeCapability=lambda handle: (3, 7),
    nvmlDeviceGetComputeMode=lambda handle: 0,
    nvmlDeviceGetMaxClockInfo=lambda handle, clock: 875,
    nvmlDeviceGetEnforcedPowerLimit=lambda handle: 149_000,
    nvmlSystemGetDriverVersion=lambda: "535.1",
)
