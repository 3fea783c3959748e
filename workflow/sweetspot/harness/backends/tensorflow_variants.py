"""How gradients of several devices are combined: the letters of the 2018 study in TensorFlow 2.

| variant   | tf_cnn_benchmarks, 2018                           | here                                               |
|-----------|---------------------------------------------------|----------------------------------------------------|
| `default` |                                                   | MirroredStrategy as it comes: NCCL between GPUs    |
| `towers`  | parameter_server on the host (its default)        | one set of variables on the host, a tower a device |
| `A`       | replicated, no NCCL, local_parameter_device = cpu | MirroredStrategy, gradients summed on the host     |
| `B`       | replicated, NCCL                                  | MirroredStrategy, NCCL all-reduce (GPUs only)      |
| `C`       | replicated, no NCCL, local_parameter_device = gpu | MirroredStrategy, hierarchical copies              |
"""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from sweetspot.errors import UserError
from sweetspot.harness.backends import LOSS_SCALE
from sweetspot.harness.backends.tensorflow_updates import AdamW, descend, times, updater
from sweetspot.harness.networks import BuiltNetwork
from sweetspot.harness.own_networks import SGD_RATE
from sweetspot.harness.request import Request
from sweetspot.study.frameworks import FRAMEWORKS


def training_step(
    request: Request, devices: Sequence[str], build: Callable[[], BuiltNetwork]
) -> Callable[[], tf.Tensor]:
    """A compiled step over all devices: forward, cross-entropy, backward, combined gradients, SGD update.

    `build` makes the workload, in the scope where its variables belong. Data are synthetic and lie on their
    device; the batch is per device. Raises UserError for an unknown variant, for NCCL without GPUs, and for XLA with a
    variant that it cannot compile.
    """
    variant = request.cell.variant
    if variant not in FRAMEWORKS["tensorflow"].variants:
        raise UserError(f"--variant is {variant!r}; expected one of {', '.join(FRAMEWORKS['tensorflow'].variants)}")
    if variant == "B" and request.device == "cpu":
        raise UserError("--variant is 'B', which is NCCL between GPUs; on a processor use default, A or C")
    towers = variant == "towers" or (variant == "default" and len(devices) == 1)
    if request.xla and not towers:
        raise UserError(
            f"--xla is given with --variant {variant!r} on {len(devices)} device(s); XLA compiles the step of variant "
            "towers, and on one device of default, only"
        )
    return (_towers if towers else _mirrored)(request, devices, build)


def _batch(request: Request, workload: BuiltNetwork, tower: int) -> tuple[tf.Tensor, tf.Tensor]:
    shape, seeds = (request.cell.batch_size, *workload.shape), [(request.run, 2 * tower + part) for part in (0, 1)]
    if workload.vocabulary:
        inputs = tf.random.stateless_uniform(shape, seeds[0], 0, workload.vocabulary, tf.int32)
    else:
        inputs = tf.cast(tf.random.stateless_uniform(shape, seeds[0]), keras.config.dtype_policy().compute_dtype)
    labels = tf.random.stateless_uniform(
        (*shape[:1], *workload.labels), seeds[1], 0, max(workload.classes, 2), tf.int32
    )
    return inputs, labels


def _cross_entropy(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    logits = tf.cast(logits, tf.float32)
    if logits.shape[-1] == 1:
        wanted = tf.cast(labels[:, None], tf.float32)
        return tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=wanted, logits=logits))
    return tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))


def _loss_and_gradients(
    request: Request, model: keras.Model, variables: list[Any], images: tf.Tensor, labels: tf.Tensor
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    scale = LOSS_SCALE if request.cell.precision == "fp16" else 1.0
    with tf.GradientTape() as tape:
        loss = _cross_entropy(model(images, training=True), labels)
        scaled = loss * scale
    gradients = tape.gradient(scaled, variables)
    return loss, gradients if scale == 1.0 else [times(gradient, 1 / scale) for gradient in gradients]


def _towers(request: Request, devices: Sequence[str], build: Callable[[], BuiltNetwork]) -> Callable[[], tf.Tensor]:
    host = "/CPU:0" if len(devices) > 1 else devices[0]
    with tf.device(host):
        workload = build()
    model = workload.network
    batches = []
    for tower, device in enumerate(devices):
        with tf.device(device):
            batches.append(_batch(request, workload, tower))
    variables = [variable.value for variable in model.trainable_variables]
    with tf.device(host):
        move = updater(variables, workload.adamw, SGD_RATE)

    @tf.function(jit_compile=request.xla)
    def step() -> tf.Tensor:
        losses, towers = [], []
        for device, (images, labels) in zip(devices, batches, strict=True):
            with tf.device(device):
                loss, gradients = _loss_and_gradients(request, model, variables, images, labels)
            losses.append(loss)
            towers.append(gradients)
        whole = [
            parts if isinstance(parts[0], tf.IndexedSlices) or len(parts) == 1 else [tf.add_n(parts)]
            for parts in zip(*towers, strict=True)
        ]
        # An update while a gradient still reads the variable would copy it first.
        with tf.device(host), tf.control_dependencies([part for parts in whole for part in parts]):
            for number, parts in enumerate(whole):
                summed = [tf.add_n([tf.convert_to_tensor(part) for part in parts])] if workload.adamw else parts
                for part in summed:
                    move(number, part, 1 / len(devices))
        return tf.add_n(losses) / len(devices)

    return step


def _mirrored(request: Request, devices: Sequence[str], build: Callable[[], BuiltNetwork]) -> Callable[[], tf.Tensor]:
    reduction: Any = {
        "default": lambda: None,
        "A": lambda: tf.distribute.ReductionToOneDevice(reduce_to_device="/CPU:0"),
        "B": tf.distribute.NcclAllReduce,
        "C": tf.distribute.HierarchicalCopyAllReduce,
    }[request.cell.variant]()
    return replicated(request, tf.distribute.MirroredStrategy(list(devices), cross_device_ops=reduction), build)


def replicated(
    request: Request, strategy: tf.distribute.Strategy, build: Callable[[], BuiltNetwork]
) -> Callable[[], tf.Tensor]:
    """A compiled step with a replica on each of the strategy's devices, which sums gradients in its own way."""
    with strategy.scope():
        workload = build()
        model = workload.network
        variables = [variable.value for variable in model.trainable_variables]
        states = AdamW(variables).state if workload.adamw else [()] * len(variables)
    values = strategy.experimental_distribute_values_from_function
    images = values(lambda context: _batch(request, workload, context.replica_id_in_sync_group)[0])
    labels = values(lambda context: _batch(request, workload, context.replica_id_in_sync_group)[1])

    def moved(mine: tf.Variable, part: Any, *state: tf.Variable) -> Any:
        return AdamW.move(mine, part, state) if state else descend(mine, part, SGD_RATE)

    def update(strategy: tf.distribute.Strategy, gradients: list[tf.Tensor]) -> None:
        pairs = list(zip(gradients, variables, strict=True))
        reduced = strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.MEAN, pairs)
        for gradient, variable, state in zip(reduced, variables, states, strict=True):
            strategy.extended.update(variable, moved, args=(gradient, *state), group=False)

    def replica(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        loss, gradients = _loss_and_gradients(request, model, variables, images, labels)
        tf.distribute.get_replica_context().merge_call(update, args=(gradients,))
        return loss

    @tf.function
    def step() -> tf.Tensor:
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica, args=(images, labels)), axis=None)

    return step
