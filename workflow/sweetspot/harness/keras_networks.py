"""Networks of keras.applications by the names of a matrix, with TensorFlow's fused batch normalisation.

Besides them there is one tiny network, by which a run passes through the whole harness in a second.
"""

import keras
import tensorflow as tf

from sweetspot.frameworks import TINY_NETWORK, keras_application

CLASSES = 1000


def build_network(name: str) -> keras.Model:
    """Return the Keras model of a name, such as `resnet50`: new weights, fused normalisations, logits as output."""
    layers = keras.layers
    if name == TINY_NETWORK:
        convolution = [keras.Input((32, 32, 3)), layers.Conv2D(8, 3, strides=2), layers.BatchNormalization()]
        classifier = [layers.ReLU(), layers.GlobalAveragePooling2D(), layers.Dense(10)]
        return with_fused_normalisation(keras.Sequential([*convolution, *classifier]))

    build = getattr(keras.applications, str(keras_application(name)))
    # Without `input_shape` Keras takes images of the size with which the network was published.
    return with_fused_normalisation(build(weights=None, classes=CLASSES, classifier_activation=None))


class FusedBatchNormalization(keras.layers.BatchNormalization):
    """Keras' layer computed by TensorFlow's fused kernel, for images with their channels last.

    Keras 3 composes the layer of many operations, which costs a quarter of ResNet-50's speed. Outputs, gradients and
    moving statistics equal those of the stock layer.
    """

    def call(self, inputs: tf.Tensor, training: bool | None = None, mask: tf.Tensor | None = None) -> tf.Tensor:
        """Return the normalised batch, of the same shape; Keras calls this method.

        Parameters
        ----------
        inputs, training, mask
            Batch x height x width x channels; whether the statistics are those of the batch, and update the moving
            ones; images have no mask.
        """
        mean = self.moving_mean.value
        variance = self.moving_variance.value
        scale = self.gamma.value if self.scale else tf.ones_like(mean)
        offset = self.beta.value if self.center else tf.zeros_like(mean)
        in_training = bool(training and self.trainable)
        outputs, batch_mean, batch_variance = tf.compat.v1.nn.fused_batch_norm(
            inputs,
            tf.convert_to_tensor(scale),
            tf.convert_to_tensor(offset),
            mean=None if in_training else tf.convert_to_tensor(mean),
            variance=None if in_training else tf.convert_to_tensor(variance),
            epsilon=self.epsilon,
            is_training=in_training,
        )
        if in_training:
            # The kernel gives the unbiased variance; Keras averages the biased one.
            values = tf.cast(tf.size(inputs) // tf.shape(inputs)[-1], batch_variance.dtype)
            biased_variance = batch_variance * (values - 1) / values
            weight = tf.cast(1 - self.momentum, batch_mean.dtype)
            mean.assign_sub((mean - batch_mean) * weight)
            variance.assign_sub((variance - biased_variance) * weight)
        return outputs


def with_fused_normalisation(model: keras.Model) -> keras.Model:
    """Return a copy of a model, with new weights, whose normalisations of images are fused."""

    def fuse(layer: keras.layers.Layer) -> keras.layers.Layer:
        is_normalisation = type(layer) is keras.layers.BatchNormalization
        if not is_normalisation or len(layer.output.shape) != 4:
            return type(layer).from_config(layer.get_config())
        fused = FusedBatchNormalization.from_config(layer.get_config())
        fused.autocast = False  # the kernel takes statistics and scale in fp32, also under a mixed policy
        return fused

    return keras.models.clone_model(model, clone_function=fuse)
