"""AWS Batch and Google Batch without the services: the real plugins submit to an API that only writes down.

Their sources and results go to an S3 server on this machine, for Google too, whose own storage has no such server here.
"""

import json
import os
import subprocess
import sys

import pytest
import yaml
from patience import PATIENCE_S
from project_copy import ROOT, copy_project, edit, environment

PACKAGES = (
    "snakemake_executor_plugin_aws_batch",
    "snakemake_executor_plugin_googlebatch",
    "snakemake_storage_plugin_s3",
)
for package in (*PACKAGES, "moto", "flask"):
    pytest.importorskip(package, reason="the extras `aws` and `google` are not in this environment: make clouds")

MACHINES = """
aws-gpu:
  title: A GPU machine of the queue
  provider: aws
  gpu: Tesla V100
  gpus: 4
  measure: {where: aws-batch, device: gpu, expect_gpu: V100, cpus: 8, mem_mb: 61440}
google-gpu:
  title: A machine with an L4
  provider: gcp
  gpu: NVIDIA L4
  gpus: 1
  measure:
    {where: google-batch, device: gpu, expect_gpu: L4, machine_type: g2-standard-8, gpu_model: nvidia-l4, cpus: 8,
     mem_mb: 30000, runtime_min: 45}
"""
# Found by Python at start: calls that submit and look are written down, and every job is told to have failed.
FAKE = {
    "aws-batch": """
import json, os
import boto3
real = boto3.client
class Batch:
    def __getattr__(self, name):
        def call(**words):
            with open(os.environ["FAKE_API"], "a") as file:
                file.write(json.dumps([name, words]) + "\\n")
            return {
                "register_job_definition": {"jobDefinitionName": "made", "revision": 1},
                "submit_job": {"jobName": words.get("jobName"), "jobId": "job-1"},
                "describe_jobs": {"jobs": [{"status": "FAILED", "statusReason": "told so", "jobDefinition": "made:1",
                                            "container": {"exitCode": 1}}]},
            }.get(name, {})
        return call
def client(service, *words, **more):
    if service != "batch":
        return real(service, *words, **more)
    with open(os.environ["FAKE_API"], "a") as file:
        file.write(json.dumps(["client", more]) + "\\n")
    return Batch()
boto3.client = client
""",
    "google-batch": """
import json, os
from google.cloud import batch_v1, logging
class Service:
    def create_job(self, request):
        with open(os.environ["FAKE_API"], "a") as file:
            job = json.loads(batch_v1.Job.to_json(request.job))
            file.write(json.dumps(["create_job", {"parent": request.parent, "job": job}]) + "\\n")
        return batch_v1.Job(name=f"{request.parent}/jobs/{request.job_id}", uid="uid-1")
    def get_job(self, request):
        return batch_v1.Job(name=request.name, status={"state": batch_v1.JobStatus.State.FAILED})
class Logs:
    def __init__(self, **words): pass
    def logger(self, name): return self
    def list_entries(self, **words): return []
batch_v1.BatchServiceClient = Service
logging.Client = Logs
""",
}


@pytest.fixture(scope="module")
def submit(tmp_path_factory, endpoint):
    """What the shipped profile of a service asks for, for one cell; the calls, what Snakemake said, and the project."""

    def of(service, instance, gpus):
        folder = tmp_path_factory.mktemp(service)
        project = copy_project(folder / "project")
        instances = project / "config" / "instances.yaml"
        instances.write_text(instances.read_text() + MACHINES)
        edit(project / "config" / "config.yaml", "model: [inception3, resnet50, vgg16]", "model: [tiny_cnn]")
        edit(project / "config" / "config.yaml", "gpus: [1]", f"gpus: [{gpus}]")
        edit(project / "config" / "config.yaml", "runs: 2 ", "runs: 1 ")
        (folder / "api").mkdir()
        (folder / "api" / "sitecustomize.py").write_text(FAKE[service])
        env = environment(project) | {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}
        env |= {"FAKE_API": str(folder / "calls"), "PYTHONPATH": f"{folder / 'api'}{os.pathsep}{env['PYTHONPATH']}"}
        words = ["throughput", "--workflow-profile", f"profiles/{service}", "--config", f"measure_on={instance}"]
        words += ["--retries", "0", "--seconds-between-status-checks", "1", "--storage-s3-endpoint-url", endpoint]
        words += ["--default-storage-provider", "s3", "--default-storage-prefix", f"s3://{service}-tests/sweetspot"]
        done = subprocess.run(
            [sys.executable, "-m", "snakemake", *words],
            cwd=project,
            env=env,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert (folder / "calls").exists(), done.stdout[-5000:]
        return [json.loads(line) for line in (folder / "calls").read_text().splitlines()], done, project

    return of


@pytest.fixture(scope="module")
def aws(submit):
    return submit("aws-batch", "aws-gpu", 4)


@pytest.fixture(scope="module")
def google(submit):
    return submit("google-batch", "google-gpu", 1)


def profile(service):
    return yaml.safe_load((ROOT / "profiles" / service / "profile.yaml").read_text())


def test_aws_is_asked_for_cores_memory_and_devices_of_the_cell(aws):
    calls, _, _ = aws
    (definition,) = [words for name, words in calls if name == "register_job_definition"]
    asked = {each["type"]: each["value"] for each in definition["containerProperties"]["resourceRequirements"]}
    assert asked == {"VCPU": "8", "MEMORY": "61440", "GPU": "4"}
    shipped = profile("aws-batch")
    assert definition["containerProperties"]["image"] == shipped["container-image"]
    assert definition["containerProperties"]["jobRoleArn"] == shipped["aws-batch-job-role"]
    assert definition["timeout"] == {"attemptDurationSeconds": 3600}
    (submitted,) = [words for name, words in calls if name == "submit_job"]
    assert submitted["jobQueue"] == shipped["aws-batch-job-queue"] and submitted["jobDefinition"] == "made:1"
    assert ["client", {"region_name": "eu-central-1"}] in calls


def test_the_job_of_aws_knows_its_run_and_the_bucket(aws):
    calls, _, _ = aws
    (definition,) = [words for name, words in calls if name == "register_job_definition"]
    shell, _, script = definition["containerProperties"]["command"]
    assert shell == "/bin/bash"
    assert "instance=aws-gpu" in script and "gpus=4" in script
    assert "--default-storage-prefix" in script and "s3://" in script


def test_google_is_asked_for_a_machine_with_its_accelerator(google):
    calls, _, _ = google
    (told,) = [words for name, words in calls if name == "create_job"]
    shipped = profile("google-batch")
    assert told["parent"] == f"projects/{shipped['googlebatch-project']}/locations/{shipped['googlebatch-region']}"
    (group,) = told["job"]["taskGroups"]
    task = group["taskSpec"]
    assert (task["computeResource"]["cpuMilli"], task["computeResource"]["memoryMib"]) == ("8000", "30000")
    assert task["maxRunDuration"] == "2700s"
    (machine,) = told["job"]["allocationPolicy"]["instances"]
    assert machine["policy"]["machineType"] == "g2-standard-8" and machine["installGpuDrivers"]
    (accelerator,) = machine["policy"]["accelerators"]
    assert (accelerator["type"], accelerator["count"]) == ("nvidia-l4", "1")
    images = [step["container"]["imageUri"] for step in task["runnables"] if "container" in step]
    assert images == [shipped["googlebatch-container"]]


@pytest.mark.parametrize("service", ["aws", "google"])
def test_a_job_that_fails_ends_the_workflow_and_leaves_no_file(service, request):
    _, done, project = request.getfixturevalue(service)
    assert done.returncode != 0
    assert "run_benchmark" in done.stdout and "Traceback" not in done.stdout, done.stdout[-3000:]
    assert not list((project / "results").rglob("*.parquet"))


@pytest.mark.parametrize(("where", "job"), [("aws-batch", "Batch job"), ("google-batch", "Batch task")])
def test_a_run_outside_a_job_is_refused(tmp_path, where, job):
    from harness_runs import measure

    done = measure(tmp_path / "x.parquet", "--where", where)
    assert done.returncode == 2
    assert f"this is no {job}" in done.stderr
