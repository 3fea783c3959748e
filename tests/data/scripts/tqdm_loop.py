"""A plain loop under tqdm, which prints a bar of a hundred steps an epoch and its own evaluation's bar."""

import stopwatch
from tqdm import tqdm

for epoch in range(1000):
    for _ in tqdm(range(100), desc=f"train {epoch}"):
        stopwatch.begin()
        stopwatch.end()
    for _ in tqdm(range(5), desc="evaluate"):
        stopwatch.elsewhere()
