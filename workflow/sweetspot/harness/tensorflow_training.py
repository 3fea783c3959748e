"""Networks of keras.applications, and their training step in TensorFlow on one device or several.

Besides them there is one tiny network, by which a run passes through the whole harness in a second. Variants:

| variant   | tf_cnn_benchmarks, 2018                           | here: MirroredStrategy with                      |
|-----------|---------------------------------------------------|--------------------------------------------------|
| `default` |                                                   | what it chooses itself: NCCL between GPUs        |
| `A`       | replicated, no NCCL, local_parameter_device = cpu | ReductionToOneDevice: gradients summed on the host |
| `B`       | replicated, NCCL                                  | NcclAllReduce (GPUs only)                        |
| `C`       | replicated, no NCCL, local_parameter_device = gpu | HierarchicalCopyAllReduce                        |
"""

from collections.abc import Callable, Sequence
from functools import partial

import keras
import tensorflow as tf

from sweetspot.frameworks import TINY_NETWORK, keras_application
from sweetspot.harness.backends import LOSS_SCALE
from sweetspot.harness.request import Request

CLASSES = 1000
LEARNING_RATE = 0.01
CROSS_DEVICE_OPERATIONS: dict[str, Callable[[], tf.distribute.CrossDeviceOps]] = {
    "A": partial(tf.distribute.ReductionToOneDevice, reduce_to_device="/CPU:0"),
    "B": tf.distribute.NcclAllReduce,
    "C": tf.distribute.HierarchicalCopyAllReduce,
}
TensorFlowStep = Callable[[], tf.Tensor]


def build_network(name: str) -> keras.Model:
    """Return the Keras model to train, such as `resnet50`: new weights, fused normalisations, logits as output."""
    layers = keras.layers
    if name == TINY_NETWORK:
        convolution = [keras.Input((32, 32, 3)), layers.Conv2D(8, 3, strides=2), layers.BatchNormalization()]
        classifier = [layers.ReLU(), layers.GlobalAveragePooling2D(), layers.Dense(10)]
        model = keras.Sequential([*convolution, *classifier])
    else:
        build = getattr(keras.applications, str(keras_application(name)))
        # Without `input_shape` Keras takes images of the size with which the network was published.
        model = build(weights=None, classes=CLASSES, classifier_activation=None)
    return keras.models.clone_model(model, clone_function=_as_trained)


class FusedBatchNormalization(keras.layers.BatchNormalization):
    """Keras' layer computed by TensorFlow's fused kernel, for images with their channels last. Keras 3 composes the
    layer of many operations, which costs a quarter of ResNet-50's speed. Results equal those of the stock layer.
    """

    def call(self, inputs: tf.Tensor, training: bool | None = None, mask: tf.Tensor | None = None) -> tf.Tensor:
        """Return the batch of images normalised by channel, of the same shape; Keras calls this method for each step.

        Parameters
        ----------
        inputs, training, mask
            Batch x height x width x channels; whether statistics are the batch's, and update the moving ones; unused.
        """
        mean = self.moving_mean.value
        variance = self.moving_variance.value
        scale = self.gamma.value if self.scale else tf.ones_like(mean)
        offset = self.beta.value if self.center else tf.zeros_like(mean)
        in_training = bool(training and self.trainable)
        statistics = {} if in_training else {"mean": mean, "variance": variance}
        outputs, batch_mean, batch_variance = tf.compat.v1.nn.fused_batch_norm(
            inputs, scale, offset, epsilon=self.epsilon, is_training=in_training, **statistics
        )
        if in_training:
            # The kernel gives the unbiased variance; Keras averages the biased one.
            values = tf.cast(tf.size(inputs) // tf.shape(inputs)[-1], batch_variance.dtype)
            biased_variance = batch_variance * (values - 1) / values
            mean.assign_sub((mean - batch_mean) * (1 - self.momentum))
            variance.assign_sub((variance - biased_variance) * (1 - self.momentum))
        return outputs


def _as_trained(layer: keras.layers.Layer) -> keras.layers.Layer:
    """Return a layer's copy with new weights, for cloning a network: batch normalisation by the fast fused kernel, no
    bias before it. The normalisation takes a bias out again, so the networks of 2018 had none; it costs ResNet-50 7 %.
    """
    normalisation = keras.layers.BatchNormalization
    settings = layer.get_config()
    # Keras keeps what reads a layer's output in this private list only.
    if "use_bias" in settings and {type(node.operation) for node in layer._outbound_nodes} == {normalisation}:
        settings["use_bias"] = False
    if type(layer) is not normalisation or len(layer.output.shape) != 4:
        return type(layer).from_config(settings)
    fused = FusedBatchNormalization.from_config(settings)
    fused.autocast = False  # the kernel takes statistics and scale in fp32, also under a mixed policy
    return fused


def training_step(request: Request, devices: Sequence[str]) -> tuple[TensorFlowStep, keras.Model]:
    """Make the training step that a run times: forward, cross-entropy, backward, combined gradients, update by plain
    SGD, compiled for one device or several. Return the step, which trains once on synthetic data that lie on their
    device and returns the loss, and the network. `devices`: names for `tf.device`.
    """
    variant = request.cell.variant
    if variant == "default" and len(devices) == 1:
        return _single_device_step(request, devices[0])
    operations = CROSS_DEVICE_OPERATIONS.get(variant)
    strategy = tf.distribute.MirroredStrategy(list(devices), cross_device_ops=operations and operations())
    return replicated_step(request, strategy)


def _single_device_step(request: Request, device: str) -> tuple[TensorFlowStep, keras.Model]:
    """Return (compiled step, network) to time on one device; calling the step trains once and returns the loss."""
    with tf.device(device):
        network = build_network(request.cell.model)
        images, labels = _synthetic_batch(request, network, replica=0)
    variables = _variables(network)

    @tf.function(jit_compile=request.xla)
    def step() -> tf.Tensor:
        """Train once on this device's batch of synthetic data, the step that is timed, and return the loss."""
        with tf.device(device):
            loss, gradients = _loss_and_gradients(request, network, images, labels)
            # An update while another gradient still reads the variable would copy it first: 7 % of VGG16's step.
            with tf.control_dependencies(gradients):
                for variable, gradient in zip(variables, gradients, strict=True):
                    apply_gradient(variable, gradient)
        return loss

    return step, network


def replicated_step(request: Request, strategy: tf.distribute.Strategy) -> tuple[TensorFlowStep, keras.Model]:
    """Make the training step to time on several devices, with a replica on each, whose gradients the strategy
    averages: return (compiled step, network); calling the step trains once and returns the mean loss.
    """
    with strategy.scope():
        network = build_network(request.cell.model)
    variables = _variables(network)

    def draw_batch(context: tf.distribute.ReplicaContext) -> tuple[tf.Tensor, tf.Tensor]:
        return _synthetic_batch(request, network, context.replica_id_in_sync_group)

    batch = strategy.experimental_distribute_values_from_function(draw_batch)

    def update(strategy: tf.distribute.Strategy, gradients: list[tf.Tensor]) -> None:
        """Average each variable's gradient over the replicas and update the variables by the means (plain SGD)."""
        pairs = list(zip(gradients, variables, strict=True))
        means = strategy.extended.batch_reduce_to(tf.distribute.ReduceOp.MEAN, pairs)
        for variable, gradient in zip(variables, means, strict=True):
            strategy.extended.update(variable, apply_gradient, args=(gradient,), group=False)

    def train_replica(images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
        loss, gradients = _loss_and_gradients(request, network, images, labels)
        tf.distribute.get_replica_context().merge_call(update, args=(gradients,))
        return loss

    @tf.function
    def step() -> tf.Tensor:
        losses = strategy.run(train_replica, args=batch)
        return strategy.reduce(tf.distribute.ReduceOp.MEAN, losses, axis=None)

    return step, network


def _variables(network: keras.Model) -> list[tf.Variable]:
    """Return the trainable weights of a network as TensorFlow's variables."""
    return [variable.value for variable in network.trainable_variables]


def _synthetic_batch(request: Request, network: keras.Model, replica: int) -> tuple[tf.Tensor, tf.Tensor]:
    """Return a device's data to train on, random: images (batch, height, width, channels) and labels (batch)."""
    shape = (request.cell.batch_size, *network.input_shape[1:])
    images = tf.random.stateless_uniform(shape, (request.run, 2 * replica))
    classes = network.output_shape[-1]
    labels = tf.random.stateless_uniform(shape[:1], (request.run, 2 * replica + 1), 0, classes, tf.int32)
    return tf.cast(images, keras.config.dtype_policy().compute_dtype), labels


def _loss_and_gradients(
    request: Request, network: keras.Model, images: tf.Tensor, labels: tf.Tensor
) -> tuple[tf.Tensor, list[tf.Tensor]]:
    """Return a batch's mean cross-entropy (fp32) and its gradient by each variable of the network, for the update of a
    training step; in fp16 the loss is scaled meanwhile.
    """
    scale = LOSS_SCALE if request.cell.precision == "fp16" else 1.0
    with tf.GradientTape() as tape:
        logits = tf.cast(network(images, training=True), tf.float32)
        losses = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
        loss = tf.reduce_mean(losses)
        scaled_loss = loss * scale
    gradients = tape.gradient(scaled_loss, _variables(network))
    if scale != 1.0:
        gradients = [gradient / scale for gradient in gradients]
    return loss, gradients


def apply_gradient(variable: tf.Variable, gradient: tf.Tensor) -> tf.Operation:
    """Subtract LEARNING_RATE x gradient from a variable in place; a separate product costs 2 % of VGG16's step."""
    return tf.raw_ops.ResourceApplyGradientDescent(var=variable.handle, alpha=LEARNING_RATE, delta=gradient)
