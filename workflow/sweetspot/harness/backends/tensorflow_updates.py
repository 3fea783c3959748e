"""How TensorFlow's variables are moved: plain SGD, or AdamW for transformers, each in one pass over the variable."""

from collections.abc import Callable, Sequence
from typing import Any

import tensorflow as tf

from sweetspot.harness.own_networks import ADAMW

Gradient = Any  # tf.Tensor, or tf.IndexedSlices of the rows that an embedding was asked for


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


class AdamW:
    """AdamW (Loshchilov & Hutter 2019, algorithm 2) by TensorFlow's fused Adam; its state lies beside the variables.

    Make it where the variables are made: under the strategy's scope its state is mirrored as they are.
    """

    def __init__(self, variables: Sequence[tf.Variable]) -> None:
        self.state = [
            tuple(tf.Variable(tf.zeros(size), trainable=False) for size in (variable.shape, variable.shape, (), ()))
            for variable in variables
        ]
        for *_, power1, power2 in self.state:
            power1.assign(1.0)
            power2.assign(1.0)

    @staticmethod
    def move(variable: tf.Variable, gradient: Gradient, state: Sequence[tf.Variable], share: float = 1.0) -> Any:
        """One step; `share` is what the gradient counts, such as one over the devices whose gradients are summed."""
        first, second, power1, power2 = state
        power1.assign(power1 * ADAMW["beta1"])
        power2.assign(power2 * ADAMW["beta2"])
        whole = tf.cast(tf.convert_to_tensor(gradient), variable.dtype)
        variable.assign(variable * (1 - ADAMW["lr"] * ADAMW["weight_decay"]))
        return tf.raw_ops.ResourceApplyAdam(
            var=variable.handle,
            m=first.handle,
            v=second.handle,
            beta1_power=power1,
            beta2_power=power2,
            lr=ADAMW["lr"],
            beta1=ADAMW["beta1"],
            beta2=ADAMW["beta2"],
            epsilon=ADAMW["epsilon"],
            grad=whole * share,
        )


def updater(variables: Sequence[tf.Variable], adamw: bool, rate: float) -> Callable[[int, Any, float], Any]:
    """A function (number of the variable, gradient, share of the gradient) that moves one of the variables."""
    if not adamw:
        return lambda number, gradient, share: descend(variables[number], gradient, rate * share)
    optimizer = AdamW(variables)
    return lambda number, gradient, share: optimizer.move(variables[number], gradient, optimizer.state[number], share)
