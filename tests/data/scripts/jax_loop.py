"""A plain JAX loop with the harness's iterator: three lines are Sweetspot's, the rest would be there anyway."""

import sys

import jax
import jax.numpy as jnp
from sweetspot.steps import steps

batch = int(sys.argv[1])
key = jax.random.key(0)
weights = jax.random.normal(key, (256, 10)) * 0.01
inputs, labels = jax.random.normal(key, (batch, 256)), jax.random.randint(key, (batch,), 0, 10)


@jax.jit
def update(weights):
    def loss(weights):
        logits = inputs @ weights
        return jnp.mean(jax.nn.logsumexp(logits, -1) - logits[jnp.arange(batch), labels])

    return weights - 0.1 * jax.grad(loss)(weights)


for _ in steps(range(100_000), finish=lambda: jax.block_until_ready(weights)):  # noqa: B023
    weights = update(weights)
