"""A step of TensorFlow 2: how gradients of several devices are combined, by the letters of the 2018 study, and fused
normalisation.

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
from sweetspot.harness.keras_networks import BuiltNetwork
from sweetspot.harness.own_networks import ADAMW, SGD_RATE
from sweetspot.harness.request import Request

BEGIN = tf.zeros, tf.zeros, tf.ones, tf.ones  # of AdamW's moments and powers
Gradient = Any  # tf.Tensor, or tf.IndexedSlices of the rows that an embedding was asked for


def training_step(
    request: Request, devices: Sequence[str], build: Callable[[], BuiltNetwork]
) -> Callable[[], tf.Tensor]:
    """A compiled step over all devices: forward, cross-entropy, backward, combined gradients, SGD update.

    `build` makes the workload, in the scope where its variables belong. Data are synthetic and lie on their
    device; the batch is per device. Raises UserError for NCCL without GPUs, and for XLA with a variant that it cannot
    compile.
    """
    variant = request.cell.variant
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
        states = states_of(variables, workload.adamw)

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
            for variable, state, parts in zip(variables, states, whole, strict=True):
                summed = [tf.add_n([tf.convert_to_tensor(part) for part in parts])] if workload.adamw else parts
                for part in summed:
                    moved(variable, part, *state, share=1 / len(devices))
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
        states = states_of(variables, workload.adamw)
    values = strategy.experimental_distribute_values_from_function
    images = values(lambda context: _batch(request, workload, context.replica_id_in_sync_group)[0])
    labels = values(lambda context: _batch(request, workload, context.replica_id_in_sync_group)[1])

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


def times(gradient: Gradient, factor: float) -> Gradient:
    """An embedding's gradient has rows only for the words seen; it stays so."""
    if isinstance(gradient, tf.IndexedSlices):
        return tf.IndexedSlices(gradient.values * factor, gradient.indices, gradient.dense_shape)
    return gradient * factor


def descend(variable: tf.Variable, gradient: Gradient, rate: float) -> Any:
    """Plain SGD in one pass over the variable: VGG16's weights are half a gigabyte, a product of its own costs 2 %."""
    if isinstance(gradient, tf.IndexedSlices):
        return variable.scatter_sub(times(gradient, rate))
    return tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=rate, delta=gradient)


def states_of(variables: Sequence[tf.Variable], adamw: bool) -> list[tuple[tf.Variable, ...]]:
    """Of AdamW two moments and two powers a variable; of plain SGD none.

    Make them where the variables are made: under the strategy's scope they are mirrored as those are.
    """
    if not adamw:
        return [()] * len(variables)
    return [
        tuple(tf.Variable(begin(size), trainable=False) for begin, size in zip(BEGIN, sizes, strict=True))
        for sizes in ((variable.shape, variable.shape, (), ()) for variable in variables)
    ]


def moved(variable: tf.Variable, gradient: Gradient, *state: tf.Variable, share: float = 1.0) -> Any:
    """One step of plain SGD, or, with a state, of AdamW (Loshchilov & Hutter 2019, algorithm 2) by the fused Adam.

    `share` is what the gradient counts, such as one over the devices whose gradients are summed.
    """
    if not state:
        return descend(variable, gradient, SGD_RATE * share)
    first, second, power1, power2 = state
    power1.assign(power1 * ADAMW["beta1"])
    power2.assign(power2 * ADAMW["beta2"])
    whole = tf.cast(tf.convert_to_tensor(gradient), variable.dtype)
    variable.assign(variable * (1 - ADAMW["lr"] * ADAMW["weight_decay"]))
    rule = {name: ADAMW[name] for name in ("lr", "beta1", "beta2", "epsilon")}
    kept = {"m": first.handle, "v": second.handle, "beta1_power": power1, "beta2_power": power2}
    return tf.raw_ops.ResourceApplyAdam(var=variable.handle, grad=whole * share, **kept, **rule)


class FusedBatchNormalization(keras.layers.BatchNormalization):
    """The stock layer's arithmetic by TensorFlow's fused kernel (channels last, four dimensions).

    Keras 3 composes it of many operations, which costs a quarter of ResNet-50's speed.
    Forward pass, gradients and moving statistics equal the stock layer's; the kernel returns the unbiased
    variance, which is brought back to the biased one that Keras averages.
    """

    def call(self, inputs: tf.Tensor, training: bool | None = None, mask: tf.Tensor | None = None) -> tf.Tensor:
        """Normalise `inputs` (batch, height, width, channels)."""
        mean, variance = self.moving_mean.value, self.moving_variance.value
        scale = tf.convert_to_tensor(self.gamma.value if self.scale else tf.ones_like(mean))
        offset = tf.convert_to_tensor(self.beta.value if self.center else tf.zeros_like(mean))
        learns = bool(training and self.trainable)
        moving = {} if learns else {"mean": tf.convert_to_tensor(mean), "variance": tf.convert_to_tensor(variance)}
        outputs, batch_mean, batch_variance = tf.compat.v1.nn.fused_batch_norm(
            inputs, scale, offset, epsilon=self.epsilon, is_training=learns, **moving
        )
        if learns:
            count = tf.cast(tf.size(inputs) // tf.shape(inputs)[-1], batch_variance.dtype)
            kept = tf.cast(1 - self.momentum, batch_mean.dtype)
            mean.assign_sub((mean - batch_mean) * kept)
            variance.assign_sub((variance - batch_variance * (count - 1) / count) * kept)
        return outputs


def with_fused_normalisation(model: keras.Model, keep_weights: bool = False) -> keras.Model:
    """A copy of a model whose four-dimensional batch normalisations are fused; weights are new, unless kept.

    A convolution whose output goes only into such a normalisation loses its bias: the normalisation subtracts
    it again, its gradient is zero, and He et al.'s ResNet, unlike keras.applications', has none.
    """

    def replaced(layer: keras.layers.Layer) -> keras.layers.Layer:
        settings = layer.get_config()
        if _is_fusable(layer):
            fused = FusedBatchNormalization.from_config(settings)
            fused.autocast = False  # statistics and scale stay fp32 under a mixed policy, as the kernel wants them
            return fused
        consumers = [node.operation for node in layer._outbound_nodes]
        if isinstance(layer, keras.layers.Conv2D) and consumers and all(map(_is_fusable, consumers)):
            settings["use_bias"] = False
        return type(layer).from_config(settings)

    fused = keras.models.clone_model(model, clone_function=replaced)
    pairs = list(zip(model.layers, fused.layers, strict=True)) if keep_weights else []
    for source, target in pairs:
        target.set_weights(source.get_weights()[: len(target.weights)])
    for source, target in pairs:
        if len(source.weights) > len(target.weights):
            # A bias dropped before a normalisation moves into its mean: (x + bias) - mean = x - (mean - bias).
            for node in target._outbound_nodes:
                mean = node.operation.moving_mean
                mean.assign(mean - source.bias)
    return fused


def _is_fusable(layer: keras.layers.Layer) -> bool:
    return type(layer) is keras.layers.BatchNormalization and len(layer.output.shape) == 4
