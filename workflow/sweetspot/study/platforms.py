"""The ways to run a job: how each is known, and what it is asked for by the words of Snakemake's executor.

To add one, add its row here; words of a platform stand nowhere else but in the profiles. A plain module: a run reads it
too, and has no use for the models of the configuration.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

JOB = {"cpus_per_task": "cpus", "mem_mb": "mem_mb", "runtime": "runtime_min"}


class Platform(NamedTuple):
    """One way to run jobs: how it is known, and what it is asked for."""

    how: str  # for the configuration: where a job goes
    title: str = ""
    job: str = ""  # what a job is called there
    inside: str | None = None  # variable of the environment that every job there has; None: no such proof is needed
    profile: str = ""  # the profile that submits to it
    names_machine: str | None = None  # key of Executor that says which machines; it must be given
    resources: Mapping[str, str] = MappingProxyType({})  # Snakemake's resource: key of Executor
    cores_are_threads: bool = False  # takes a job's cores from Snakemake's threads
    several_nodes: bool = False  # can start the workers of a cell on several nodes
    gpus_named: str = "gpu"  # Snakemake's resource that its plugin reads the number of devices from
    hands_out_devices: bool = False  # shows a job only its own devices, so that none is leased on the node
    plugin: str = ""  # of Snakemake, that submits to it
    extra: str = ""  # of pyproject.toml, that installs the plugin
    programs: tuple[str, ...] = ()  # that must be there where jobs are submitted


PLATFORMS = {
    "local": Platform("this machine"),
    "slurm": Platform(
        "submitted to a partition",
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
        "to nodes of a machine type",
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
    "aws-batch": Platform(
        "to the profile's queue",
        title="AWS Batch",
        job="Batch job",
        inside="AWS_BATCH_JOB_ID",
        profile="profiles/aws-batch",
        resources={"mem_mb": "mem_mb"},  # queue and time limit are the profile's: its plugin has no word for a job
        cores_are_threads=True,
        gpus_named="_gpus",
        plugin="snakemake-executor-plugin-aws-batch",
        extra="aws",
    ),
    "google-batch": Platform(
        "to a virtual machine of a type",
        title="Google Batch",
        job="Batch task",
        inside="BATCH_TASK_INDEX",
        profile="profiles/google-batch",
        names_machine="machine_type",
        resources={
            "googlebatch_machine_type": "machine_type",
            "googlebatch_memory": "mem_mb",
            "googlebatch_cpu_milli": "cpu_milli",
            "googlebatch_max_run_duration": "duration",
            "nvidia_gpu": "gpu_model",
        },
        plugin="snakemake-executor-plugin-googlebatch",
        extra="google",
    ),
}
