"""The frameworks of the matrix: what each can be asked to measure. A plain module, since every run reads it too."""

import difflib
from dataclasses import dataclass

from sweetspot.facts.shipped_tables import table
from sweetspot.transformers import TRANSFORMERS

TENSORFLOW_VARIANTS = ("default", "A", "B", "C")
NCCL = "B"  # the variant whose gradients NCCL sums, which is between GPUs only
PRECISIONS = ("fp32", "tf32", "fp16", "bf16")  # those that the frameworks here train in; tf32 on GPUs only
PUBLISHED = ("jax",)  # of published figures only; a script of one's own (framework command) measures such a one
ALWAYS_COMPILED = ("jax",)  # compile with XLA whether asked to or not

TINY_NETWORK = "tiny_cnn"
# Of each framework its networks and what builds them; a test compares them with the packages that are installed.
BUILDERS: dict[str, dict[str, str]] = {"tensorflow": {}, "torch": {}}
for _row in table("measured_networks"):
    BUILDERS[_row["framework"]][_row["network"]] = _row["builder"]


@dataclass(frozen=True)
class Ability:
    """What a framework can measure (variants, precisions, networks), and how it is installed."""

    variants: tuple[str, ...]
    variants_with_xla: tuple[str, ...]
    package: str  # what must be installed for it; "": nothing
    extra: str  # of pyproject.toml, that installs it
    precisions: tuple[str, ...] = PRECISIONS
    networks: tuple[str, ...] = ()  # by name; of keras.applications also in any other spelling


FRAMEWORKS = {
    "tensorflow": Ability(
        variants=TENSORFLOW_VARIANTS,
        variants_with_xla=("default",),
        package="tensorflow",
        extra="measure",
        networks=(TINY_NETWORK, *BUILDERS["tensorflow"]),
    ),
    "torch": Ability(
        variants=("default", "compile"),
        variants_with_xla=(),
        package="torch",
        extra="torch",
        networks=(TINY_NETWORK, *BUILDERS["torch"], *TRANSFORMERS),
    ),
    # A script of one's own decides for itself.
    "command": Ability((), (), "", "", precisions=(*PRECISIONS, "fp8")),
}


def keras_application(name: str) -> str | None:
    """Return the class in keras.applications of a network's name, such as `mobilenet_v2`; None if unknown."""
    return BUILDERS["tensorflow"].get(name.lower().replace("_", ""))


def has_network(framework: str, name: str) -> bool:
    """Return True if a framework (a key of FRAMEWORKS) can build the network called `name`."""
    if name in FRAMEWORKS[framework].networks:
        return True
    return framework == "tensorflow" and keras_application(name) is not None


def expected_networks(framework: str, name: str) -> str:
    """Return the end of an error about the unknown network `name`: what a framework can build, and similar names."""
    networks = FRAMEWORKS[framework].networks
    nearest = difflib.get_close_matches(name.lower(), networks, n=2)
    source = "keras.applications" if framework == "tensorflow" else "torchvision or transformers"
    suggestion = f" (nearest: {', '.join(nearest)})" if nearest else ""
    return f"a network of {source}, such as inception3, resnet50 or vgg16{suggestion}"
