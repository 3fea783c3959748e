"""How gradients of several devices are combined: the letters of the 2018 study in TensorFlow 2.

| variant   | tf_cnn_benchmarks, 2018                           | here                                               |
|-----------|---------------------------------------------------|----------------------------------------------------|
| `default` | parameter_server on the host                      | one set of variables on the host, a tower a device |
| `A`       | replicated, no NCCL, local_parameter_device = cpu | MirroredStrategy, gradients summed on the host     |
| `B`       | replicated, NCCL                                  | MirroredStrategy, NCCL all-reduce (GPUs only)      |
| `C`       | replicated, no NCCL, local_parameter_device = gpu | MirroredStrategy, hierarchical copies              |
"""

from collections.abc import Callable, Sequence
from typing import Any

import keras
import tensorflow as tf

from sweetspot.errors import UserError
from sweetspot.harness.fused import with_fused_normalisation
from sweetspot.harness.networks import build_network
from sweetspot.harness.request import Request

LEARNING_RATE = 0.01
LOSS_SCALE = 128.0  # tf_cnn_benchmarks' default for fp16: small gradients would vanish
POLICIES = {"fp32": "float32", "bf16": "mixed_bfloat16", "fp16": "mixed_float16"}
VARIANTS = ("default", "A", "B", "C")


def training_step(request: Request, devices: Sequence[str]) -> Callable[[], tf.Tensor]:
    """A compiled step over all devices: forward, cross-entropy, backward, combined gradients, SGD update.

    Images are synthetic and lie on their device; the batch is per device. Raises UserError for an unknown
    model or variant, and for NCCL without GPUs.
    """
    keras.config.set_dtype_policy(POLICIES[request.cell.precision])
    variant = request.cell.variant
    if variant not in VARIANTS:
        raise UserError(f"--variant is {variant!r}; expected one of {', '.join(VARIANTS)}")
    if variant == "B" and request.device == "cpu":
        raise UserError("--variant is 'B', which is NCCL between GPUs; on a processor use default, A or C")
    if variant == "default":
        return _towers(request, devices)
    return _mirrored(request, devices)


def _network(request: Request) -> tuple[keras.Model, tuple[int, ...], int]:
    network, shape, classes = build_network(request.cell.model)
    return with_fused_normalisation(network), shape, classes


def _batch(request: Request, shape: tuple[int, ...], classes: int, tower: int) -> tuple[tf.Tensor, tf.Tensor]:
    size = request.cell.batch_size
    images = tf.random.stateless_uniform((size, *shape), (request.run, 2 * tower))
    labels = tf.random.stateless_uniform((size,), (request.run, 2 * tower + 1), 0, classes, tf.int32)
    compute = keras.config.dtype_policy().compute_dtype
    return tf.cast(images, compute), labels


def _loss_and_gradients(
    request: Request, model: keras.Model, variables: list[Any], images: tf.Tensor, labels: tf.Tensor
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    scale = LOSS_SCALE if request.cell.precision == "fp16" else 1.0
    with tf.GradientTape() as tape:
        logits = tf.cast(model(images, training=True), tf.float32)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
        scaled = loss * scale
    gradients = tape.gradient(scaled, variables)
    return loss, [gradient / scale for gradient in gradients] if scale != 1.0 else gradients


def _towers(request: Request, devices: Sequence[str]) -> Callable[[], tf.Tensor]:
    host = "/CPU:0" if len(devices) > 1 else devices[0]
    with tf.device(host):
        model, shape, classes = _network(request)
    batches = []
    for tower, device in enumerate(devices):
        with tf.device(device):
            batches.append(_batch(request, shape, classes, tower))
    variables = [variable.value for variable in model.trainable_variables]

    @tf.function(jit_compile=request.xla)
    def step() -> tf.Tensor:
        losses, towers = [], []
        for device, (images, labels) in zip(devices, batches, strict=True):
            with tf.device(device):
                loss, gradients = _loss_and_gradients(request, model, variables, images, labels)
            losses.append(loss)
            towers.append(gradients)
        with tf.device(host):
            for variable, *parts in zip(variables, *towers, strict=True):
                variable.assign_sub(LEARNING_RATE / len(devices) * (tf.add_n(parts) if len(parts) > 1 else parts[0]))
        return tf.add_n(losses) / len(devices)

    return step


def _mirrored(request: Request, devices: Sequence[str]) -> Callable[[], tf.Tensor]:
    reduction = {
        "A": lambda: tf.distribute.ReductionToOneDevice(reduce_to_device="/CPU:0"),
        "B": tf.distribute.NcclAllReduce,
        "C": tf.distribute.HierarchicalCopyAllReduce,
    }[request.cell.variant]()
    strategy = tf.distribute.MirroredStrategy(list(devices), cross_device_ops=reduction)
    with strategy.scope():
        model, shape, classes = _network(request)
    variables = [variable.value for variable in model.trainable_variables]
    values = strategy.experimental_distribute_values_from_function
    images = values(lambda context: _batch(request, shape, classes, context.replica_id_in_sync_group)[0])
    labels = values(lambda context: _batch(request, shape, classes, context.replica_id_in_sync_group)[1])

    def update(strategy: tf.distribute.Strategy, gradients: list[tf.Tensor]) -> None:
        pairs = list(zip(gradients, variables, strict=True))
        reduced = strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.MEAN, pairs)
        for gradient, variable in zip(reduced, variables, strict=True):
            strategy.extended.update(
                variable, lambda mine, part: mine.assign_sub(LEARNING_RATE * part), args=(gradient,), group=False
            )

    def replica(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        loss, gradients = _loss_and_gradients(request, model, variables, images, labels)
        tf.distribute.get_replica_context().merge_call(update, args=(gradients,))
        return loss

    @tf.function
    def step() -> tf.Tensor:
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, strategy.run(replica, args=(images, labels)), axis=None)

    return step
