"""The frameworks of the matrix: what each can be asked to measure here. A plain module: a run reads it too."""

from typing import NamedTuple

from sweetspot.study.transformers import TRANSFORMERS

LETTERS = ("default", "towers", "A", "B", "C")
VARIANTS = (*LETTERS, "compile", "ddp", "fsdp")
NCCL = "B"  # the variant whose gradients NCCL sums, which is between GPUs only
PRECISIONS = ("fp32", "tf32", "fp16", "bf16")  # those that the frameworks here train in; tf32 on GPUs only


class Ability(NamedTuple):
    """What a framework can measure: variants in one node and over several, XLA."""

    variants: tuple[str, ...]
    variants_over_nodes: tuple[str, ...]
    variants_with_xla: tuple[str, ...]
    package: str  # what must be installed for it; "": nothing
    extra: str  # of pyproject.toml, that installs it
    title: str = ""  # its name for people; "": its key
    precisions: tuple[str, ...] = PRECISIONS
    models: tuple[str, ...] | None = None  # the networks that it builds of its own parts; None: those of Keras


# What `torch` trains.
OWN_NETWORKS = ("tiny_cnn", "resnet50", "vgg16", *TRANSFORMERS)
FRAMEWORKS = {
    "tensorflow": Ability(LETTERS, ("default", NCCL), ("default", "towers"), "tensorflow", "measure", "TensorFlow"),
    "torch": Ability(
        ("default", "compile", "ddp", "fsdp"),
        ("default", "ddp", "fsdp"),
        (),
        "torch",
        "torch",
        "PyTorch",
        models=OWN_NETWORKS,
    ),
    "command": Ability((), (), (), "", "", precisions=(*PRECISIONS, "fp8")),  # a script of one's own decides
}
PUBLISHED = ("jax",)  # of published figures; a script of one's own (framework command) measures such a framework
ALWAYS_COMPILED = ("jax",)  # with XLA, whether asked to or not
