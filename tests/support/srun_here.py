#!/usr/bin/env python3
"""srun as far as the harness needs it, without Slurm: as many workers as nodes, all on this machine.

srun_here.py --nodes N OPTION... PYTHON -m MODULE ARGUMENT...
"""

import os
import subprocess
import sys

if __name__ == "__main__":
    count = int(sys.argv[sys.argv.index("--nodes") + 1])
    command = sys.argv[sys.argv.index("-m") - 1 :]
    whole = {"SLURM_STEP_ID": "0", "SLURM_STEP_NODELIST": "localhost", "SLURM_STEP_NUM_TASKS": str(count)}
    workers = []
    for number in range(count):
        own = {"SLURM_PROCID": str(number), "SLURM_NODEID": str(number), "SLURMD_NODENAME": f"n{number + 1}"}
        workers.append(subprocess.Popen(command, env={**os.environ, **whole, **own}))
    sys.exit(max(abs(worker.wait()) for worker in workers))
