"""The ways to run a job: what each is called, and what it is asked for by the words of Snakemake's executor. To add
one, add its row here; words of a platform stand nowhere else but in the profiles. A plain module: a run reads it too,
and has no use for the models of the configuration.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

JOB = {"cpus_per_task": "cpus", "mem_mb": "mem_mb", "runtime": "runtime_min"}


class Platform(NamedTuple):
    """A way to run jobs, such as Slurm: its names, and the resources that Snakemake requests from it."""

    title: str = ""
    job: str = ""  # what a job is called there
    inside: str | None = None  # variable of the environment that every job there has; None: no such proof is needed
    profile: str = ""  # the profile that submits to it
    names_machine: str | None = None  # key of Executor that says which machines; it must be given
    resources: Mapping[str, str] = MappingProxyType({})  # Snakemake's resource: key of Executor
    cores_are_threads: bool = False  # takes a job's cores from Snakemake's threads
    several_nodes: bool = False  # can start the workers of a cell on several nodes
    hands_out_devices: bool = False  # shows a job only its own devices, so that none is leased on the node
    plugin: str = ""  # of Snakemake, that submits to it
    extra: str = ""  # of pyproject.toml, that installs the plugin
    programs: tuple[str, ...] = ()  # that must be there where jobs are submitted


PLATFORMS = {
    "local": Platform(),
    "slurm": Platform(
        title="Slurm",
        job="Slurm job",
        inside="SLURM_JOB_ID",
        profile="profiles/slurm",
        names_machine="partition",
        resources={"slurm_partition": "partition", "constraint": "constraint", "gpu_model": "gpu_model", **JOB},
        several_nodes=True,
        hands_out_devices=True,
        plugin="snakemake-executor-plugin-slurm",
        extra="slurm",
        programs=("sbatch", "squeue"),
    ),
    "kubernetes": Platform(
        title="Kubernetes",
        job="pod",
        inside="KUBERNETES_SERVICE_HOST",
        profile="profiles/kubernetes",
        names_machine="machine_type",
        resources={"machine_type": "machine_type", "gpu_model": "gpu_model", **JOB},
        cores_are_threads=True,
        plugin="snakemake-executor-plugin-kubernetes",
        extra="kubernetes",
        programs=("kubectl",),
    ),
}
