"""TensorFlow: Keras' networks on any number of devices, by `tf.function`; the default."""

import os
from typing import TYPE_CHECKING, Any

from sweetspot.harness.backends import Agree, Step, single_process, the_gpus, the_processor
from sweetspot.harness.request import Request

if TYPE_CHECKING:
    from sweetspot.harness.keras_networks import KerasNetwork

INSTALL = {"cpu": "make environment", "gpu": "make environment GPU=1"}
# Keras' names of the precisions; TF32 is fp32 that a GPU multiplies in another way.
POLICIES = {"fp32": "float32", "tf32": "float32", "bf16": "mixed_bfloat16", "fp16": "mixed_float16"}
launch = single_process


def prepare(request: Request) -> None:
    """Have Keras use TensorFlow; fp32 leaves what that does by itself (TF32 where a GPU has it)."""
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ["KERAS_BACKEND"] = "tensorflow"
    if request.cell.precision == "tf32":
        import tensorflow as tf

        tf.config.experimental.enable_tensor_float_32_execution(True)


def devices(request: Request) -> list[str]:
    """Names of exactly the devices asked for, ready for `tf.device`. Raises UserError if they are not there.

    On a processor, several devices are logical: parts of one processor that share its cores.
    """
    import tensorflow as tf

    count = request.cell.gpus
    if request.device == "cpu":
        the_processor(request)
        processor = tf.config.list_physical_devices("CPU")[0]
        tf.config.set_visible_devices([], "GPU")
        tf.config.set_logical_device_configuration(processor, [tf.config.LogicalDeviceConfiguration()] * count)
        return [f"/CPU:{index}" for index in range(count)]
    cards = tf.config.list_physical_devices("GPU")
    details = map(tf.config.experimental.get_device_details, cards)
    the_gpus(request, [detail.get("device_name", "unknown") for detail in details])
    for card in cards:
        tf.config.experimental.set_memory_growth(card, True)
    return [f"/GPU:{index}" for index in range(count)]


def facts(request: Request) -> dict[str, Any]:
    """Whether oneDNN is used; of GPUs the name, and by what they multiply."""
    import tensorflow as tf

    values: dict[str, Any] = {"onednn": os.environ.get("TF_ENABLE_ONEDNN_OPTS", "default") != "0"}
    if request.device == "gpu":
        cards = tf.config.list_physical_devices("GPU")
        details = [tf.config.experimental.get_device_details(card) for card in cards]
        values["device_name"] = details[0].get("device_name", "unknown")
        if request.cell.precision in ("fp32", "tf32"):
            allowed = tf.config.experimental.tensor_float_32_execution_enabled()
            has_tf32 = all(detail.get("compute_capability", (0, 0)) >= (8, 0) for detail in details)
            values["products"] = "tf32" if allowed and has_tf32 else "fp32"
    return values


def process_role(request: Request) -> tuple[bool, Agree]:
    """One process drives all devices, and has nobody to agree with."""
    return True, int


def build_step(request: Request, devices: list[str]) -> tuple[Step, dict[str, Any]]:
    """Make a training step whose gradients are combined as the cell's variant says."""
    import keras

    keras.utils.set_random_seed(request.run)
    keras.config.set_dtype_policy(POLICIES[request.cell.precision])
    keras.config.set_image_data_format("channels_last")  # whatever the user's keras.json says
    from sweetspot.harness.keras_networks import build_network
    from sweetspot.harness.tensorflow_training import training_step

    networks: list[KerasNetwork] = []

    def build() -> "KerasNetwork":
        networks.append(build_network(request.cell.model))
        return networks[-1]

    step = training_step(request, devices, build)
    return Step(step), {
        "program": "keras",
        "unit": "images",
        "samples_per_step": request.cell.batch_size * request.cell.gpus,
        "parameters": networks[0].model.count_params(),
    }
