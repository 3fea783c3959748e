"""The Kubernetes profile without the service: the real plugin submits to an API that only writes down."""

import json
import os
import shutil
import subprocess
import sys

import pytest
from patience import PATIENCE_S
from project_copy import copy_project, edit, environment

for plugin in ("snakemake_executor_plugin_kubernetes", "snakemake_storage_plugin_fs"):
    pytest.importorskip(plugin, reason="the extra `kubernetes` is missing: make environment KUBERNETES=1")
if shutil.which("rsync") is None:
    pytest.skip("the storage plugin fs needs rsync", allow_module_level=True)
INSTANCE = """
cloud-gpu:
  title: A GPU node of a cluster
  provider: cloud
  gpu: Tesla V100
  gpus: 4
  measure: {where: kubernetes, device: gpu, expect_gpu: V100, machine_type: p3.8xlarge, cpus: 8, mem_mb: 64000}
"""
# Found by Python at start: the API's calls that submit and look are written down, and every job is told to have failed.
FAKE_API = """
import json, os, types
import kubernetes.client, kubernetes.config
kubernetes.config.load_kube_config = lambda *a, **k: None
made = lambda **k: types.SimpleNamespace(**k)
def submit(self, namespace, body):
    spec = kubernetes.client.ApiClient().sanitize_for_serialization(body)
    with open(os.environ["FAKE_API"], "a") as file:
        file.write(json.dumps(spec) + "\\n")
core, batch = kubernetes.client.CoreV1Api, kubernetes.client.BatchV1Api
batch.create_namespaced_job = submit
batch.read_namespaced_job_status = lambda self, *a, **k: made(status=made(failed=1, succeeded=None))
batch.delete_namespaced_job = lambda self, *a, **k: None
core.list_namespaced_pod = lambda self, *a, **k: made(items=[])
core.create_namespaced_secret = core.delete_namespaced_secret = lambda self, *a, **k: None
"""


@pytest.fixture(scope="module")
def submitted(tmp_path_factory):
    """Job specifications that the shipped profile submits for one cell on four cards; and what Snakemake said."""
    folder = tmp_path_factory.mktemp("kubernetes")
    project = copy_project(folder / "project")
    instances = project / "config" / "instances.yaml"
    instances.write_text(instances.read_text() + INSTANCE)
    edit(project / "config" / "config.yaml", "model: [inception3, resnet50, vgg16]", "model: [tiny_cnn]")
    edit(project / "config" / "config.yaml", "gpus: [1]", "gpus: [4]")
    edit(project / "config" / "config.yaml", "runs: 2 ", "runs: 1 ")
    edit(project / "profiles" / "kubernetes" / "profile.yaml", "/mnt/sweetspot/project", str(project))
    (folder / "api").mkdir()
    (folder / "api" / "sitecustomize.py").write_text(FAKE_API)
    env = environment(project)
    env |= {"FAKE_API": str(folder / "specs"), "PYTHONPATH": f"{folder / 'api'}{os.pathsep}{env['PYTHONPATH']}"}
    words = ["--workflow-profile", "profiles/kubernetes", "--config", "measure_on=cloud-gpu", "--retries", "0"]
    done = subprocess.run(
        [sys.executable, "-m", "snakemake", *words, "--seconds-between-status-checks", "1", "throughput"],
        cwd=project,
        env=env,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert (folder / "specs").exists(), done.stdout + done.stderr
    return [json.loads(line) for line in (folder / "specs").read_text().splitlines()], done, project


def test_one_job_a_run_asks_for_the_cards_of_its_cell_and_the_nodes_of_its_instance(submitted):
    (job,), _, _ = submitted
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "registry.example.org/sweetspot:1-cuda"
    assert container["resources"]["requests"]["nvidia.com/gpu"] == "4"
    assert container["resources"]["limits"]["nvidia.com/gpu"] == "4"
    assert container["resources"]["requests"]["memory"] == "64000M"
    assert container["resources"]["requests"]["cpu"] == "7600m"  # 8 cores, less the plugin's share for the node itself
    assert pod["nodeSelector"] == {"node.kubernetes.io/instance-type": "p3.8xlarge"}
    assert pod["restartPolicy"] == "Never"


def test_the_pod_mounts_the_shared_volume_and_knows_the_storage(submitted):
    (job,), _, _ = submitted
    pod = job["spec"]["template"]["spec"]
    assert {"name": "sweetspot", "persistentVolumeClaim": {"claimName": "sweetspot"}} in pod["volumes"]
    assert {"name": "sweetspot", "mountPath": "/mnt/sweetspot"} in pod["containers"][0]["volumeMounts"]
    script = pod["containers"][0]["args"][1]
    assert "instance=cloud-gpu" in script
    assert "--default-storage-prefix" in script


def test_a_job_that_fails_ends_the_workflow_with_its_name_and_no_file(submitted):
    (job,), done, project = submitted
    assert done.returncode != 0
    assert job["metadata"]["name"] in done.stdout + done.stderr
    assert not list((project / "results" / "benchmarks").rglob("*.parquet"))
