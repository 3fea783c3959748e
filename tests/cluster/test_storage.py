"""Results in a bucket: the storage plugin s3 against a server on this machine (moto's), not a cloud."""

import subprocess
import sys
import time

import pytest
from patience import PATIENCE_S
from project_copy import copy_project, edit, environment, job_counts

for package in ("snakemake_storage_plugin_s3", "moto", "flask", "boto3"):
    pytest.importorskip(package, reason="the extra `aws` and moto's server are not in this environment: make clouds")
STUDY = "rare-2018"
BUCKET = "sweetspot-tests"


def bucket(endpoint):
    import boto3

    keys = {"aws_access_key_id": "testing", "aws_secret_access_key": "testing"}
    return boto3.resource("s3", endpoint_url=endpoint, region_name="us-east-1", **keys).Bucket(BUCKET)


def stored(endpoint, folder):
    """Keys below a folder of the bucket and when each was written."""
    return {
        item.key.removeprefix(f"{folder}/"): item.last_modified
        for item in bucket(endpoint).objects.filter(Prefix=folder)
    }


@pytest.fixture
def snakemake(endpoint, tmp_path):
    project = copy_project(tmp_path / "project")

    def run(folder, *arguments):
        words = ["--default-storage-provider", "s3", "--default-storage-prefix", f"s3://{BUCKET}/{folder}"]
        words += ["--storage-s3-endpoint-url", endpoint]
        # What Snakemake shares between processes on one machine; results are not among it.
        words += ["--shared-fs-usage", "persistence", "software-deployment", "sources", "source-cache"]
        done = subprocess.run(
            [sys.executable, "-m", "snakemake", "--cores", "2", *arguments, *words],
            cwd=project,
            env=environment(project) | {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert done.returncode == 0, done.stdout[-5000:]
        return done.stdout

    return project, run


def test_a_study_lies_in_the_bucket_and_an_edited_price_moves_only_its_own(endpoint, snakemake):
    project, run = snakemake
    run("page", "--config", f"study={STUDY}")
    there = stored(endpoint, "page")
    report = f"results/{STUDY}/report"
    made = {f"{report}/index.html", f"{report}/figures/bill.vl.json", f"results/{STUDY}/offers/aws.parquet"}
    assert made <= set(there)
    assert any(key.startswith(f"{report}/tables/") and key.endswith(".csv") for key in there), "a folder is stored too"
    summary = bucket(endpoint).Object(f"page/{report}/summary.md").get()["Body"].read().decode()
    assert "Rent Hetzner EX51-SSD-GPU" in summary  # docs/studies.md
    assert not (project / "results" / STUDY / "report").exists()  # here nothing is left but records and logs
    assert "Nothing to be done" in run("page", "--config", f"study={STUDY}", "--dry-run")

    time.sleep(1.1)  # S3 tells whole seconds
    prices = project / "config" / "studies" / STUDY / "prices" / "aws.yaml"
    edit(prices, "title:", "# looked at again\ntitle:")
    run("page", "costs", "--config", f"study={STUDY}")
    moved = {key for key, when in stored(endpoint, "page").items() if when != there[key]}
    tables = ("bills", "cash_flow", "costs", "fees", "offers", "plans", "price_lint")
    assert {key for key in moved if "/logs/" not in key} == {f"results/{STUDY}/{table}/aws.parquet" for table in tables}


def test_what_is_measured_stays_in_the_bucket(endpoint, snakemake):
    project, run = snakemake
    edit(project / "config" / "config.yaml", "model: [inception3, resnet50, vgg16]", "model: [tiny_cnn]")
    edit(project / "config" / "config.yaml", "min_seconds: 20", "min_seconds: 1")
    edit(project / "config" / "config.yaml", "runs: 2 ", "runs: 1 ")
    run("measured", "throughput")
    runs = [key for key in stored(endpoint, "measured") if key.startswith("results/benchmarks/")]
    assert len(runs) == 1 and runs[0].endswith("run~1.parquet")
    assert not list((project / "results" / "benchmarks").rglob("*.parquet"))
    edit(project / "rules" / "benchmark.smk", '"""The only rule', '"""Edited. The only rule')
    assert "run_benchmark" not in job_counts(run("measured", "throughput", "--dry-run"))
