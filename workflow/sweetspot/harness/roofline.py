"""What the machine does at best on plain matrix products and convolutions, measured in the run's own process."""

import time
from collections.abc import Callable, Sequence
from typing import Any

import keras
from keras import ops

from sweetspot.harness.request import Request

SECONDS = 0.3  # spent on each: enough for a second digit, little beside a run


def machine_rates(request: Request, devices: Sequence[str]) -> dict[str, float]:
    """FLOP/s of a matrix product and of a 3 x 3 convolution in the run's framework and precision, all devices together.

    Keys `machine_matmul_flops`, `machine_conv_flops`. Logical devices share one processor, which counts once. The
    operations are whole kernels of milliseconds: calling them one by one costs nothing that shows.
    """
    size, images = (1024, 8) if request.device == "cpu" else (8192, 128)
    layout = keras.config.image_data_format()
    shape = (images, 28, 28, 128) if layout == "channels_last" else (images, 128, 28, 28)
    matrix, batch, kernel = (_values(each) for each in ((size, size), shape, (3, 3, 128, 128)))
    count = 1 if request.device == "cpu" else len(devices)
    product = 2 * size**3 / _best_seconds(lambda: ops.matmul(matrix, matrix))
    folded = (
        2
        * images
        * 28
        * 28
        * 9
        * 128
        * 128
        / _best_seconds(lambda: ops.conv(batch, kernel, padding="same", data_format=layout))
    )
    return {"machine_matmul_flops": count * product, "machine_conv_flops": count * folded}


def _values(shape: tuple[int, ...]) -> Any:
    return keras.random.uniform(shape, dtype=keras.config.dtype_policy().compute_dtype, seed=1)


def _best_seconds(work: Callable[[], Any]) -> float:
    _finish(work())
    best, deadline = float("inf"), time.perf_counter() + SECONDS
    while time.perf_counter() < deadline:
        start = time.perf_counter()
        _finish(work())
        best = min(best, time.perf_counter() - start)
    return best


def _finish(result: Any) -> float:
    """Wait for a result: a device works on while Python goes on, until somebody reads a number."""
    return float(ops.ravel(result)[0])
