"""PyTorch and JAX over two nodes of a real Slurm, two devices on each: one run file, told by all four."""

import sys
from pathlib import Path

import pandas as pd
import pytest
from patience import until
from slurm_project import facts

pytestmark = pytest.mark.cluster
ROOT = Path(__file__).parent.parent.parent


@pytest.mark.parametrize("framework", ["jax", "torch"])
def test_a_run_over_two_nodes_is_one_run_file(framework, slurm, tmp_path):
    pytest.importorskip(framework, reason=f"{framework} is not installed here")
    output = tmp_path / "run~1.parquet"
    cell = f"--instance pair --framework {framework} --model tiny_gpt2 --batch-size 2 --gpus 4 --gpus-per-node 2"
    rest = "--precision fp32 --variant default --run 1 --where slurm --min-steps 5 --min-seconds 2"
    script = ROOT / "workflow" / "scripts" / "run_benchmark.py"
    settings = f"env PYTHONPATH={ROOT / 'workflow'} OMP_NUM_THREADS=1"
    line = f"{settings} {sys.executable} {script} {cell} {rest} --output {output}"
    place = ["-p", "pair", "-N", "2", "--ntasks-per-node=1", "-c", "4", "--mem", "4000", "-t", "10"]
    job = slurm.run("sbatch", "--parsable", *place, "-o", str(tmp_path / "log"), "--wrap", line).strip()
    until(
        lambda: slurm.run("squeue", "-h", "-j", job, "-t", "R,PD,CG", check=False).strip() == "", "the end of the job"
    )
    assert output.exists(), (tmp_path / "log").read_text()
    steps, told = pd.read_parquet(output), facts(output)
    assert set(steps["status"]) <= {"ok", "unstable"}, steps["message"][0]
    assert [worker["node"] for worker in told["workers"]] == ["sweetspot1", "sweetspot2"]
    assert [worker["device_count"] for worker in told["workers"]] == [2, 2]
    assert steps["samples_per_step"][0] == 4 * 2 * 64
    assert steps["logical"].all()  # both nodes of this test are one machine
    assert told["machine_matmul_flops"] > 0
