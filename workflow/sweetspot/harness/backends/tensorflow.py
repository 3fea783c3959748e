"""TensorFlow: Keras' networks on any number of devices, by `tf.function`; the default."""

import os
from typing import Any

from sweetspot.harness.backends import Agree, Step, require_devices, single_process
from sweetspot.harness.request import Request

# Keras' names of the precisions; TF32 is fp32 that a GPU multiplies in another way.
POLICIES = {"fp32": "float32", "tf32": "float32", "bf16": "mixed_bfloat16", "fp16": "mixed_float16"}
launch = single_process


def prepare(request: Request) -> dict[str, Any]:
    """Set up Keras with TensorFlow and the run's devices before the network is built; return {'products': how fp32 is
    multiplied} on GPUs, else {}, for the run file. On a processor, several devices are logical: parts of one processor
    that share its cores. On GPUs fp32 leaves what TensorFlow does by itself (TF32 where a GPU has it).
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["KERAS_BACKEND"] = "tensorflow"
    import tensorflow as tf

    if request.device == "cpu":
        processor = tf.config.list_physical_devices("CPU")[0]
        parts = [tf.config.LogicalDeviceConfiguration() for _ in range(request.cell.gpus)]
        tf.config.set_visible_devices([], "GPU")
        tf.config.set_logical_device_configuration(processor, parts)
        return {}
    cards = tf.config.list_physical_devices("GPU")
    details = [tf.config.experimental.get_device_details(card) for card in cards]
    require_devices(request, [detail.get("device_name", "unknown") for detail in details])
    for card in cards:
        tf.config.experimental.set_memory_growth(card, True)
    if request.cell.precision == "tf32":
        tf.config.experimental.enable_tensor_float_32_execution(True)
    if request.cell.precision not in ("fp32", "tf32"):
        return {}
    is_allowed = tf.config.experimental.tensor_float_32_execution_enabled()
    has_tf32 = all(detail.get("compute_capability", (0, 0)) >= (8, 0) for detail in details)
    return {"products": "tf32" if is_allowed and has_tf32 else "fp32"}


def build_step(request: Request) -> tuple[Step, dict[str, Any]]:
    """Return the training step that a run times, a network with gradients combined as the cell's variant says, and
    facts for the run file {`unit`, `samples_per_step`, `parameters`, ...}.
    """
    import keras

    keras.utils.set_random_seed(request.run)
    keras.config.set_dtype_policy(POLICIES[request.cell.precision])
    keras.config.set_image_data_format("channels_last")  # whatever the user's keras.json says
    from sweetspot.harness.tensorflow_training import training_step

    devices = [f"/{request.device.upper()}:{index}" for index in range(request.cell.gpus)]
    step, network = training_step(request, devices)
    return Step(step), {
        "program": "keras",
        "unit": "images",
        "samples_per_step": request.cell.batch_size * request.cell.gpus,
        "parameters": network.count_params(),
    }


def agreement(request: Request) -> Agree:
    """Return `int`, which changes no number of steps: one process drives all devices."""
    return int


def peak_memory_bytes(request: Request) -> int:
    """Return the peak of allocated memory of the fullest GPU of a run so far, in bytes, for its run file."""
    import tensorflow as tf

    read = tf.config.experimental.get_memory_info
    return max(read(f"GPU:{index}")["peak"] for index in range(request.cell.gpus))
