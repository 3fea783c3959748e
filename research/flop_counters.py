"""Arithmetic of a training step by the frameworks' own counters, on shapes alone: nothing is computed."""

from sweetspot.harness.own_networks import workload

BATCH = 2


def torch_counted(name: str) -> float:
    """Operations of one sample by torch's FlopCounterMode: products and convolutions, forward and backward."""
    import torch
    from sweetspot.harness import torch_networks
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    made = workload(name)
    with torch.device("meta"):
        module = torch_networks.build(made)
        if made.vocabulary is None:
            height, width, channels = made.inputs
            inputs = torch.empty(BATCH, channels, height, width)
        else:
            inputs = torch.zeros(BATCH, *made.inputs, dtype=torch.long)
        labels = torch.zeros(BATCH, *made.labels, dtype=torch.long)
    # The plain form of attention is two products, which the counter knows on every device.
    with sdpa_kernel(SDPBackend.MATH), FlopCounterMode(display=False) as counter:
        torch_networks.loss(made, module(inputs), labels).backward()
    return counter.get_total_flops() / BATCH


def jax_counted(name: str) -> float:
    """Operations of one sample by XLA's cost analysis of loss and gradients before it optimises them.

    It counts every addition too, those of normalisations and activations.
    """
    import jax
    import jax.numpy as jnp
    from sweetspot.harness.jax_networks import build

    made = workload(name)
    parameters, statistics, objective = build(
        made, 1, jnp.float32, lambda sizes, _: jax.ShapeDtypeStruct(sizes, jnp.float32)
    )
    kind = jnp.float32 if made.vocabulary is None else jnp.int32
    inputs = jax.ShapeDtypeStruct((BATCH, *made.inputs), kind)
    labels = jax.ShapeDtypeStruct((BATCH, *made.labels), jnp.int32)
    lowered = jax.jit(jax.value_and_grad(objective, has_aux=True)).lower(parameters, statistics, inputs, labels)
    counted = lowered.cost_analysis()
    assert counted is not None  # XLA counts for every backend that we start
    return float(counted["flops"]) / BATCH


COUNTERS = {"torch": torch_counted, "jax": jax_counted}
