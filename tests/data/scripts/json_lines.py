"""A loop that writes JSON lines every tenth step, as trackers do, and an evaluation every hundred."""

import json
import sys
import time

import stopwatch

with open(f"{sys.argv[1]}/log.jsonl", "w", buffering=1) as log:  # noqa: PTH123
    step, since = 0, time.perf_counter()
    while True:
        stopwatch.begin()
        stopwatch.end()
        step += 1
        if step % 10 == 0:
            now = time.perf_counter()
            log.write(json.dumps({"global_step": step, "it_per_s": 10 / (now - since), "loss": 1 / step}) + "\n")
            since = now
        if step % 100 == 0:
            log.write(json.dumps({"eval_loss": 2 / step}) + "\n")
            stopwatch.elsewhere()
            since = time.perf_counter()
