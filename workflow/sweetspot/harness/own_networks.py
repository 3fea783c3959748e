"""What `torch` and `jax` train, without either: shapes of data, what is counted, and the arithmetic of a sample."""

from typing import Any, NamedTuple

from sweetspot.errors import UserError
from sweetspot.harness import image_networks
from sweetspot.harness.image_networks import IMAGE_NETWORKS, ImageNetwork
from sweetspot.harness.request import Request
from sweetspot.study import transformers
from sweetspot.study.frameworks import OWN_NETWORKS
from sweetspot.study.transformers import SHAPES, Shape

SGD_RATE = 0.01
RMS_EPSILON, ROTATION = 1e-5, 500_000.0  # of a Llama's norms, and of its positions: config.json of Llama 3.2 1B
ADAMW = {"lr": 1e-4, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.01}  # torch's defaults but lr
NOT_IMAGES = frozenset({"mnist_mlp", "imdb_bilstm", "lstm_text", "tweet_bilstm"})


def unit_of(model: str) -> str:
    """What a model's throughput counts: `images`, or `samples` that are none; of a transformer what its shape says."""
    if model in SHAPES:
        return SHAPES[model].unit
    return "samples" if model in NOT_IMAGES else "images"


class Workload(NamedTuple):
    """A network by its shape, and the shapes of its data."""

    network: ImageNetwork | Shape
    inputs: tuple[int, ...]  # of one sample: height, width and channels, or tokens
    labels: tuple[int, ...]  # of one sample: () one class; tokens; (2,) where an answer starts and ends
    classes: int
    vocabulary: int | None = None  # inputs are whole numbers below it

    @property
    def adamw(self) -> bool:
        """Whether its users have AdamW; else plain SGD."""
        return isinstance(self.network, Shape)


def workload(name: str) -> Workload:
    """The network of that name. Raises UserError for one that is not built here."""
    if name in IMAGE_NETWORKS:
        image = IMAGE_NETWORKS[name]
        return Workload(image, (image.size, image.size, 3), (), image.classes)
    if name not in SHAPES:
        raise UserError(f"--model is {name!r}; expected one of {', '.join(OWN_NETWORKS)}")
    shape = SHAPES[name]
    if shape.kind == "vision":
        return Workload(shape, (shape.image, shape.image, 3), (), shape.vocabulary)
    labels = (2,) if shape.kind == "encoder" else (shape.sequence,)
    classes = shape.sequence if shape.kind == "encoder" else shape.vocabulary
    return Workload(shape, (shape.sequence,), labels, classes, shape.vocabulary)


def arithmetic(name: str, batch_size: int, gpus: int) -> dict[str, Any]:
    """What a network asks of a machine, as facts of a run: `unit`, `samples_per_step` (of the unit), `parameters`,
    `training_flop_per_sample` (of one unit: a token where tokens are counted).
    """
    network = workload(name).network
    if isinstance(network, Shape):
        each = network.units_per_sample
        flop, weights, unit = transformers.training_flop(network), transformers.parameters(network), network.unit
    else:
        each, unit = 1, "images"
        flop, weights = image_networks.training_flop(network), image_networks.counted(network).parameters
    return {
        "unit": unit,
        "samples_per_step": batch_size * gpus * each,
        "parameters": weights,
        "training_flop_per_sample": flop / each,
    }


def arithmetic_of(request: Request) -> dict[str, Any]:
    """`arithmetic` of a run. Raises UserError for a checkpoint: such networks start from new weights."""
    cell = request.cell
    if request.checkpoint:
        words = f"--framework {cell.framework} starts from new weights, tensorflow not"
        raise UserError(f"--checkpoint is a Keras weights file; {words}")
    return arithmetic(cell.model, cell.batch_size, cell.gpus)


def rotation(shape: Shape) -> Any:
    """Angles (tokens, half a head) by which a Llama turns each position (RoPE, Su et al. 2021), in fp32."""
    import numpy as np

    half = shape.hidden // shape.heads // 2
    return np.outer(np.arange(shape.sequence), ROTATION ** -(np.arange(half) / half)).astype("float32")


def data(name: str, batch_size: int, seed: int) -> tuple[Any, Any]:
    """Synthetic inputs (channels last) and labels of one batch, drawn by `seed`."""
    import numpy as np

    made = workload(name)
    random = np.random.default_rng(seed)
    shape = (batch_size, *made.inputs)
    inputs: Any = (
        random.integers(0, made.vocabulary, shape, dtype="int32")
        if made.vocabulary
        else random.random(shape, dtype="float32")
    )
    return inputs, random.integers(0, made.classes, (batch_size, *made.labels), dtype="int32")
