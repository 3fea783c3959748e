"""The frameworks of the matrix: what each can be asked to measure here. A plain module: a run reads it too."""

from typing import NamedTuple

VARIANTS = ("default", "A", "B", "C")
NCCL = "B"  # the variant whose gradients NCCL sums, which is between GPUs only


class Ability(NamedTuple):
    """What a framework can measure: devices used together, variants in one node and over several, XLA."""

    several_devices: bool
    variants: tuple[str, ...]
    variants_over_nodes: tuple[str, ...]
    variants_with_xla: tuple[str, ...]


FRAMEWORKS = {
    "tensorflow": Ability(True, VARIANTS, ("default", NCCL), ("default",)),
    "jax": Ability(False, ("default",), (), ("default",)),  # compiles with XLA always
    "torch": Ability(False, ("default",), (), ()),  # runs eagerly
}
