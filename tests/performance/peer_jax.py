"""Our JAX against Flax's ImageNet example, turn by turn (the method is `peer.py`'s).

    python tests/performance/peer_jax.py --flax DIR --batch-size 2 --steps 19

DIR is `examples/imagenet` of a checkout of github.com/google/flax; needs flax and optax. The peer trains that folder's
ResNet50 by its train step, under pmap on one device as there, without momentum and L2 penalty, which our step has not;
one batch lies on the device. It is called by itself with `--plain`.
"""

import argparse
import json
import statistics
import sys
import time
from pathlib import Path

from peer import KEEP_MEMORY, ROOT, WARMUP, Contender, blocks, compete, ours, row, shares


def train(folder, batch_size, steps):
    """The example's loop; tells each step as our training process does."""
    import jax
    import jax.numpy as jnp
    import numpy as np
    import optax

    sys.path.insert(0, str(folder))
    from models import ResNet50

    network, optimizer = ResNet50(num_classes=1000), optax.sgd(0.01)
    random = np.random.default_rng(1)
    images = random.random((1, batch_size, 224, 224, 3), dtype="float32")  # the first axis: devices
    labels = random.integers(0, 1000, (1, batch_size))
    started = jax.jit(network.init)(jax.random.key(0), jnp.ones((1, 224, 224, 3)))

    def update(params, batch_stats, state, image, label):
        def loss_fn(params):
            known = {"params": params, "batch_stats": batch_stats}
            logits, told = network.apply(known, image, mutable=["batch_stats"])
            return jnp.mean(optax.softmax_cross_entropy(logits, jax.nn.one_hot(label, 1000))), told["batch_stats"]

        (loss, moving), gradients = jax.value_and_grad(loss_fn, has_aux=True)(params)
        gradients, moving = jax.lax.pmean((gradients, moving), "batch")
        updates, after = optimizer.update(gradients, state, params)
        return optax.apply_updates(params, updates), moving, after, loss

    compiled = jax.pmap(update, axis_name="batch", donate_argnums=(0, 1, 2))
    held = jax.tree.map(lambda part: jnp.asarray(part)[None], (started["params"], started["batch_stats"]))
    held = [*held, jax.tree.map(lambda part: jnp.asarray(part)[None], optimizer.init(started["params"]))]
    batch = [jax.device_put(array) for array in (images, labels)]
    for step in range(WARMUP + steps):
        start = time.perf_counter()
        *held, loss = compiled(*held, *batch)
        jax.block_until_ready(held)
        told = {"seconds": time.perf_counter() - start, "timed": step >= WARMUP, "loss": float(loss[0])}
        print(json.dumps(told), flush=True)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--flax", type=Path, metavar="DIR", required=True, help="examples/imagenet of Flax")
    parser.add_argument("--batch-size", type=int, default=2)
    parser.add_argument("--steps", type=int, default=19)
    parser.add_argument("--plain", action="store_true")
    asked = parser.parse_args()
    if asked.plain:
        train(asked.flax, asked.batch_size, asked.steps)
        return
    print("| model | steps | ours CPU-s/step | peer CPU-s/step | CPU ratio | ours s/step | peer s/step | wall ratio |")
    print(f"|{'---|' * 8}")
    sizes = ["--flax", str(asked.flax), "--batch-size", str(asked.batch_size), "--steps", str(asked.steps)]
    mine = ours("resnet50", asked.batch_size, asked.steps, framework="jax")
    # Both have the memory settings: they are no part of JAX.
    other = Contender([sys.executable, __file__, "--plain", *sizes], ROOT, str(Path(__file__).parent), KEEP_MEMORY)
    try:
        compete(mine, other, asked.steps)
        print(row("resnet50", mine, other), flush=True)
        other.kill()
        mine.finish()
        seconds = statistics.fmean(blocks(mine.moments, 1))
        print(f"resnet50: ours reached {shares(mine.facts, asked.batch_size, seconds)}", file=sys.stderr)
    finally:
        other.kill()
        mine.kill()


if __name__ == "__main__":
    main()
