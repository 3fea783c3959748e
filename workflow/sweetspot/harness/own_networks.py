"""What `torch` and `jax` train, without either: networks, shapes of data, and the arithmetic of a sample.

Convolutional networks are data: PyTorch and JAX build the same ones from here, and their arithmetic is counted here.
ResNet-50 is the one that their users train (torchvision, Flax's example): the stride of a block is at its 3 x 3
convolution. That of Keras, which `tensorflow` trains, has it at the first 1 x 1: 3.8 instead of 4.1 G multiply-adds
(torchvision's documentation of resnet50; He et al. 2015).
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from sweetspot.errors import UserError
from sweetspot.harness.request import Request
from sweetspot.study import transformers
from sweetspot.study.frameworks import OWN_NETWORKS
from sweetspot.study.transformers import SHAPES, Shape

SGD_RATE = 0.01
RMS_EPSILON, ROTATION = 1e-5, 500_000.0  # of a Llama's norms, and of its positions: config.json of Llama 3.2 1B
ADAMW = {"lr": 1e-4, "beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8, "weight_decay": 0.01}  # torch's defaults but lr
NOT_IMAGES = frozenset({"mnist_mlp", "imdb_bilstm", "lstm_text", "tweet_bilstm"})


class Conv(NamedTuple):
    """A convolution, then normalisation (or a bias), then a ReLU; padded so that stride 1 keeps the size."""

    filters: int
    kernel: int
    stride: int = 1
    norm: bool = True
    relu: bool = True
    padded: bool = True

    @property
    def padding(self) -> int:
        """Rows added on each side."""
        return self.kernel // 2 if self.padded else 0


class Pool(NamedTuple):
    """The greatest of a window."""

    kernel: int
    stride: int
    padding: int = 0


def _after(layer: Conv | Pool, side: int) -> int:
    """The side of what a layer makes of an image of `side`."""
    return (side + 2 * layer.padding - layer.kernel) // layer.stride + 1


class Residual(NamedTuple):
    """Convolutions beside a shortcut (None: the input itself), added, then a ReLU."""

    body: tuple[Conv, ...]
    shortcut: Conv | None

    def parts(self, channels: int, side: int) -> Iterator[tuple[Conv, int, int]]:
        """Each convolution of the body with the channels and the side of what it is given."""
        for part in self.body:
            yield part, channels, side
            channels, side = part.filters, _after(part, side)


class Mean(NamedTuple):
    """The mean over all positions."""


class Dense(NamedTuple):
    """All positions and channels to `units`, with a bias."""

    units: int
    relu: bool = False
    dropout: float = 0.0  # after it


Layer = Conv | Pool | Residual | Mean | Dense


class ImageNetwork(NamedTuple):
    """Its layers, the side of its square images of three channels, and its classes."""

    layers: tuple[Layer, ...]
    size: int
    classes: int


def _resnet(*depths: int) -> tuple[Layer, ...]:
    layers: list[Layer] = [Conv(64, 7, 2), Pool(3, 2, 1)]
    for stage, depth in enumerate(depths):
        for block in range(depth):
            width, stride = 64 << stage, 2 if stage and not block else 1
            body = (Conv(width, 1), Conv(width, 3, stride), Conv(4 * width, 1, relu=False))
            layers.append(Residual(body, None if block else Conv(4 * width, 1, stride, relu=False)))
    return (*layers, Mean(), Dense(1000))


def _vgg(*depths: int) -> tuple[Layer, ...]:
    layers: list[Layer] = []
    for filters, depth in zip((64, 128, 256, 512, 512), depths, strict=True):
        layers += [*[Conv(filters, 3, norm=False)] * depth, Pool(2, 2)]
    return (*layers, *[Dense(4096, relu=True, dropout=0.5)] * 2, Dense(1000))


def walk(network: ImageNetwork) -> Iterator[tuple[Layer, int, int]]:
    """Each layer with the channels and the side of what it is given."""
    channels, side = 3, network.size
    for layer in network.layers:
        yield layer, channels, side
        if isinstance(layer, Residual):
            *_, (last, _, side) = layer.parts(channels, side)
            channels, side = last.filters, _after(last, side)
        elif isinstance(layer, Conv | Pool):
            side = _after(layer, side)
            channels = layer.filters if isinstance(layer, Conv) else channels
        else:
            channels, side = layer.units if isinstance(layer, Dense) else channels, 1


IMAGE_NETWORKS = {
    "tiny_cnn": ImageNetwork((Conv(8, 3, 2, padded=False), Mean(), Dense(10)), 32, 10),
    "resnet50": ImageNetwork(_resnet(3, 4, 6, 3), 224, 1000),
    "vgg16": ImageNetwork(_vgg(2, 2, 3, 3, 3), 224, 1000),
}


class Counted(NamedTuple):
    """Of one image: multiply-adds of each layer with weights, in order, and parameters that are trained."""

    multiply_adds: list[int]
    parameters: int


def taps(layer: Conv, side: int, padding: bool = True) -> int:
    """Products of a kernel's column with a column of `side` values, over all its positions; without `padding` only
    those with values of the image.
    """
    places = _after(layer, side)
    first = (place * layer.stride - layer.padding for place in range(places))
    if padding:
        return places * layer.kernel
    return sum(min(start + layer.kernel, side) - max(start, 0) for start in first)


def counted(network: ImageNetwork, padding: bool = True) -> Counted:
    """Walk the layers with the size of the image.

    Published counts, and torch's counter, hold the products with the zeros around an image; XLA's (`padding` False) do
    not: 3 % of ResNet-50's.
    """
    adds: list[int] = []
    weights = 0
    for layer, channels, side in walk(network):
        convolutions = [(layer, channels, side)] if isinstance(layer, Conv) else []
        if isinstance(layer, Residual):
            shortcut = [] if layer.shortcut is None else [(layer.shortcut, channels, side)]
            convolutions = [*shortcut, *layer.parts(channels, side)]
        for conv, inputs, size in convolutions:
            adds.append(taps(conv, size, padding) ** 2 * inputs * conv.filters)
            weights += (conv.kernel**2 * inputs + (2 if conv.norm else 1)) * conv.filters
        if isinstance(layer, Dense):
            adds.append(side**2 * channels * layer.units)
            weights += (side**2 * channels + 1) * layer.units
    return Counted(adds, weights)


def training_flop(network: ImageNetwork, padding: bool = True) -> int:
    """Operations of a training step for one image: three passes, less the gradient of the image."""
    adds = counted(network, padding).multiply_adds
    return 6 * sum(adds) - 2 * adds[0]


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
        flop, weights = training_flop(network), counted(network).parameters
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
