"""A run over several nodes: one worker a node, started by srun, gradients combined by collectives.

`command` is what the supervisor starts in place of one training process; each worker is
`python -m sweetspot.harness.multiworker REQUEST_JSON`. Worker 0 tells the steps; all tell what they are, and the
supervisor, which alone writes, puts that into the one run file. Figures are those of all devices together.
"""

import json
import os
import re
import resource
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.harness.frameworks import build_step, framework_devices, prepare
from sweetspot.harness.request import Request
from sweetspot.harness.train import arithmetic, say, train

if TYPE_CHECKING:
    import tensorflow as tf

PORTS = 10_000, 20_000  # first and how many: below the range from which Linux gives outgoing connections theirs
WORDS = {"worker", "failure", "refused"}  # what any worker may say, worker 0 or not
GRACE_S = 30  # after its time limit a worker ends by itself, should srun have died without ending it


def command(request: Request) -> list[str]:
    """The srun that starts a worker on every node of the job; it ends all when one fails.

    The supervisor is itself a step of the job, whose cores and cards the workers take: hence --overlap.
    """
    nodes = str(request.nodes)
    place = ["--nodes", nodes, "--ntasks", nodes, "--ntasks-per-node=1"]
    ends = ["--overlap", "--cpu-bind=none", "--kill-on-bad-exit=1", "--wait=30"]
    return ["srun", *place, *ends, sys.executable, "-m", "sweetspot.harness.multiworker", request.to_json()]


def outer(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment without what describes the supervisor's own step, which srun would take for its defaults."""
    kept = ("SLURM_JOB_ID", "SLURM_CONF")
    return {name: value for name, value in environment.items() if name in kept or not name.startswith("SLURM_")}


def first_port(environment: Mapping[str, str]) -> int:
    """The port of worker 0, the same on all nodes; jobs and their steps that share a node get different ones."""
    step = int(environment["SLURM_JOB_ID"]) * 101 + int(environment.get("SLURM_STEP_ID", "0")) * 10
    return PORTS[0] + step % PORTS[1]


def cluster(environment: Mapping[str, str], nodes: int) -> dict[str, Any]:
    """TF_CONFIG of this worker, from Slurm's variables as TensorFlow's resolver reads them.

    The resolver sorts hosts by their text (n10 before n9) and Slurm ranks them by their number, so a worker finds
    its index by its node's name. Each has a port of its own: nodes may be names of one machine. Raises UserError
    where Slurm started another number of workers.
    """
    import tensorflow as tf

    resolver = tf.distribute.cluster_resolver.SlurmClusterResolver(gpus_per_node=1, gpus_per_task=1, auto_set_gpu=False)
    hosts = [address.rsplit(":", 1)[0] for address in resolver.cluster_spec().job_tasks("worker")]
    name = environment["SLURMD_NODENAME"]
    if len(hosts) != nodes or hosts.count(name) != 1:
        raise UserError(f"this run takes {nodes} nodes, one worker on each; Slurm started workers on {hosts}")
    port = first_port(environment)
    workers = [f"{host}:{port + index}" for index, host in enumerate(hosts)]
    return {"cluster": {"worker": workers}, "task": {"type": "worker", "index": hosts.index(name)}}


def strategy(request: Request) -> "tf.distribute.MultiWorkerMirroredStrategy":
    """TensorFlow's strategy over the workers of TF_CONFIG; variant B insists on NCCL, default takes what fits.

    Raises UserError for a variant that combines gradients within one node, and for NCCL without GPUs.
    """
    import tensorflow as tf

    means = tf.distribute.experimental.CommunicationImplementation
    chosen = {"default": means.AUTO, "B": means.NCCL}
    variant = request.cell.variant
    if variant not in chosen:
        raise UserError(f"--variant is {variant!r}; over several nodes expected one of {', '.join(chosen)}")
    if variant == "B" and request.device == "cpu":
        raise UserError("--variant is 'B', which is NCCL between GPUs; on processors use default")
    options = tf.distribute.experimental.CommunicationOptions(implementation=chosen[variant])
    return tf.distribute.MultiWorkerMirroredStrategy(communication_options=options)


def agreement(distributed: "tf.distribute.Strategy", chief: bool) -> Callable[[bool], bool]:
    """A function by which all workers learn what worker 0 decided; every worker calls it after each step."""
    import tensorflow as tf

    @tf.function
    def total(mine: "tf.Tensor") -> "tf.Tensor":
        return distributed.reduce(tf.distribute.ReduceOp.SUM, distributed.run(tf.identity, args=(mine,)), axis=None)

    return lambda decided: bool(total(tf.constant(1.0 if decided and chief else 0.0)) > 0)


def worker_facts(request: Request, facts: Mapping[str, Any]) -> dict[str, Any]:
    """What one worker has to tell of itself when it has measured."""
    return {
        "host": socket.gethostname(),
        "node": os.environ["SLURMD_NODENAME"],
        "device_name": facts["device_name"],
        "device_count": request.local_gpus,
        "versions": facts["versions"],
        "memory_peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }


def joined(workers: list[dict[str, Any]], device: str) -> dict[str, Any]:
    """Facts of a run from those of its workers: rates and memory add up.

    Workers on processors of one host share them, as logical devices do, and the run is named logical.
    """
    hosts = {worker["host"] for worker in workers}
    shared = device == "cpu" and len(hosts) < len(workers)
    found: dict[str, Any] = {"workers": sorted(workers, key=lambda worker: worker["node"])}
    if workers:
        found["logical"] = shared
    for name in ("machine_matmul_flops", "machine_conv_flops", "memory_peak_bytes"):
        if workers and all(name in worker for worker in workers):
            found[name] = sum(worker[name] for worker in workers)
    return found


def message(failures: list[str], errors: str, otherwise: str | None) -> str | None:
    """Why a run over several nodes failed: srun's word on the first worker that ended, and the workers' own."""
    ended = re.findall(r"^srun: error: (.*task.*)$", errors, re.MULTILINE)
    return "; ".join([*ended[:1], *failures[:1]])[:300] or otherwise


def main(request: Request) -> None:
    """One worker: find the others, train in step with them until worker 0 says that it is enough."""
    prepare(request)
    devices = framework_devices(request)
    configuration = cluster(os.environ, request.nodes)
    os.environ["TF_CONFIG"] = json.dumps(configuration)
    chief = configuration["task"]["index"] == 0
    distributed = strategy(request)
    from sweetspot.harness.facts import framework_facts
    from sweetspot.harness.roofline import machine_rates

    facts = framework_facts(request)
    tell = say if chief else _nothing
    tell(facts={**facts, "strategy": f"MultiWorkerMirroredStrategy over {request.nodes} nodes"})
    step, workload = build_step(request, devices, distributed)
    tell(facts=arithmetic(workload))
    train(request, step, tell, agreement(distributed, chief))
    say(worker={**machine_rates(request, devices), **worker_facts(request, facts)})


def _nothing(**fact: Any) -> None:
    """Workers other than the first tell no steps."""


def run(request: Request) -> None:
    """`main`, whose failure is told to the supervisor too: srun ends the other workers and its exit code is theirs."""
    signal.alarm(request.time_limit_s + GRACE_S)
    try:
        main(request)
    except UserError as error:
        say(refused=str(error))
        raise
    except Exception as error:
        said = (str(error).splitlines() or [""])[0]
        say(failure=f"{type(error).__name__} on {os.environ.get('SLURMD_NODENAME')}: {said}")
        raise


if __name__ == "__main__":
    with exit_on_user_error():
        run(Request.from_json(sys.argv[1]))
