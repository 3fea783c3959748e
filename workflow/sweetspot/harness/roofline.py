"""What the machine does at best on plain matrix products and convolutions, measured in the run's own process."""

import time
from collections.abc import Callable, Sequence

import keras
import tensorflow as tf

from sweetspot.harness.request import Request

SECONDS = 0.3  # spent on each: enough for a second digit, little beside a run


def machine_rates(request: Request, devices: Sequence[str]) -> dict[str, float]:
    """FLOP/s of a matrix product and of a 3 x 3 convolution in the run's precision, all devices together.

    Keys `machine_matmul_flops`, `machine_conv_flops`. Logical devices share one processor, which counts once.
    """
    size, images = (1024, 8) if request.device == "cpu" else (8192, 128)
    dtype = keras.config.dtype_policy().compute_dtype
    with tf.device(devices[0]):
        matrix = tf.cast(tf.random.stateless_uniform((size, size), (1, 2)), dtype)
        batch = tf.cast(tf.random.stateless_uniform((images, 28, 28, 128), (1, 3)), dtype)
        kernel = tf.cast(tf.random.stateless_uniform((3, 3, 128, 128), (1, 4)), dtype)
        multiply = tf.function(lambda: tf.linalg.matmul(matrix, matrix)[0, 0])
        convolve = tf.function(lambda: tf.nn.conv2d(batch, kernel, 1, "SAME")[0, 0, 0, 0])
        count = 1 if request.device == "cpu" else len(devices)
        return {
            "machine_matmul_flops": count * 2 * size**3 / _best_seconds(multiply),
            "machine_conv_flops": count * 2 * images * 28 * 28 * 9 * 128 * 128 / _best_seconds(convolve),
        }


def _best_seconds(work: Callable[[], tf.Tensor]) -> float:
    float(work())
    best, deadline = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < deadline:
        start = time.perf_counter()
        float(work())
        best = min(best, time.perf_counter() - start)
    return best
