"""The frameworks of the matrix: what each can be asked to measure here. A plain module: a run reads it too."""

from typing import NamedTuple

from sweetspot.study.transformers import TRANSFORMERS

LETTERS = ("default", "A", "B", "C")
VARIANTS = (*LETTERS, "compile", "ddp", "fsdp")
NCCL = "B"  # the variant whose gradients NCCL sums, which is between GPUs only
PRECISIONS = ("fp32", "tf32", "fp16", "bf16")  # those that the frameworks here train in; tf32 on GPUs only


class Ability(NamedTuple):
    """What a framework can measure: devices used together, variants in one node and over several, XLA."""

    several_devices: bool
    variants: tuple[str, ...]
    variants_over_nodes: tuple[str, ...]
    variants_with_xla: tuple[str, ...]
    package: str  # what must be installed for it; "": nothing
    extra: str  # of pyproject.toml, that installs it
    precisions: tuple[str, ...] = PRECISIONS
    models: tuple[str, ...] | None = None  # the networks that it builds of its own parts; None: those of Keras
    edition: str = ""  # how it is used, where that once changed: runs of before are made again


# What `torch` and `jax` train, written in their own parts as their users write them.
OWN_NETWORKS = ("tiny_cnn", "resnet50", "vgg16", *TRANSFORMERS)
NATIVE = "native"

FRAMEWORKS = {
    "tensorflow": Ability(True, LETTERS, ("default", NCCL), ("default",), "tensorflow", "measure"),
    "jax": Ability(  # compiles with XLA always
        True,
        ("default", "fsdp"),
        ("default", "fsdp"),
        ("default", "fsdp"),
        "jax",
        "jax",
        models=OWN_NETWORKS,
        edition=NATIVE,
    ),
    "torch": Ability(
        True,
        ("default", "compile", "ddp", "fsdp"),
        ("default", "ddp", "fsdp"),
        (),
        "torch",
        "torch",
        models=OWN_NETWORKS,
        edition=NATIVE,
    ),
    "keras-jax": Ability(False, ("default",), (), ("default",), "jax", "jax"),
    "keras-torch": Ability(False, ("default",), (), (), "torch", "torch"),  # runs eagerly
    "command": Ability(True, (), (), (), "", "", (*PRECISIONS, "fp8")),  # a script of one's own decides
}
