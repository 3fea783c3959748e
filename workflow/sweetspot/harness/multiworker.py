"""A run of TensorFlow over several nodes, from a worker's side: gradients combined by collectives.

The supervisor starts srun in place of one training process (`nodes.command`, as TensorFlow's backend says), and srun
one worker a node: `python -m sweetspot.harness.multiworker REQUEST_JSON`. Worker 0 tells the steps; all tell what
they are, and the supervisor, which alone writes, puts that into the one run file. Figures are those of all devices
together.
"""

import json
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from sweetspot.errors import UserError, exit_on_user_error
from sweetspot.harness.backends import tensorflow as backend
from sweetspot.harness.facts import device_facts
from sweetspot.harness.nodes import GRACE_S, first_port, worker_facts
from sweetspot.harness.peak_memory import counted
from sweetspot.harness.request import Request
from sweetspot.harness.train import say, train

if TYPE_CHECKING:
    import tensorflow as tf


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


def main(request: Request) -> None:
    """One worker: find the others, train in step with them until worker 0 says that it is enough."""
    backend.prepare(request)
    devices = backend.devices(request)
    configuration = cluster(os.environ, request.nodes)
    os.environ["TF_CONFIG"] = json.dumps(configuration)
    chief = configuration["task"]["index"] == 0
    distributed = strategy(request)
    facts = {**device_facts(request), **backend.facts(request)}
    tell = say if chief else _nothing
    tell(facts={**facts, "strategy": f"MultiWorkerMirroredStrategy over {request.nodes} nodes"})
    step, arithmetic = backend.build_step(request, devices, distributed)
    tell(facts=arithmetic)
    train(request, step, tell, agreement(distributed, chief))
    memory = counted(request)
    tell(trained=True)
    say(worker={**memory, **backend.rates(request, devices), **worker_facts(request, facts)})


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
