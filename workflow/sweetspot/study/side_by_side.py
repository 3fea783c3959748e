"""How a job uses the devices of a machine: stated for each training and run, never assumed."""

from typing import Annotated, Literal

from pydantic import Field

from sweetspot.study.base import Count
from sweetspot.study.memory import Needs

# Two RTX 4090 that train ResNet-50 together lose 5 % (1,301 to 2,468 images/s, Lambda 2024), eight H100 1 %; that
# includes the exchange of gradients, which independent jobs do not make. So they lose less: between nothing and 5 %.
CONTENTION = 0.03
DevicesPerJob = Count | Literal["all"]
Contention = Annotated[float, Field(strict=True, ge=0, lt=1)]
SAYS_DEVICES = "Devices that one job takes; a machine of more works on several jobs side by side; all: it takes all"
SAYS_CONTENTION = (
    "Share of its speed that a job loses where others run beside it on the machine's other devices (disks, processors, "
    "heat); absent: 0.03, assumed between nothing and the 5 % that two RTX 4090 lose in training one model together"
)


class SideBySide(Needs):
    """The keys by which a workload says how many devices of a machine one of its jobs takes."""

    devices_per_job: DevicesPerJob = Field("all", description=SAYS_DEVICES)
    contention: Contention = Field(CONTENTION, description=SAYS_CONTENTION)
