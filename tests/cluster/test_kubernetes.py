"""The Kubernetes profile without the service: the real plugin submits to an API that only writes down."""

import json
import os
import shutil
import sys

import pytest
from project_copy import captured, copy_project, edit, environment

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


def test_one_job_a_run_asks_for_cards_nodes_and_the_volume_and_one_that_fails_leaves_no_file(tmp_path):
    """By the shipped profile, for one cell on four cards."""
    project = copy_project(tmp_path / "project")
    instances = project / "config" / "instances.yaml"
    instances.write_text(instances.read_text() + INSTANCE)
    for old, new in (("model: [inception3, resnet50, vgg16]", "model: [tiny_cnn]"), ("gpus: [1]", "gpus: [4]"),
                     ("runs: 2 ", "runs: 1 ")):  # fmt: skip
        edit(project / "config" / "config.yaml", old, new)
    edit(project / "profiles" / "kubernetes" / "profile.yaml", "/mnt/sweetspot/project", str(project))
    (tmp_path / "api").mkdir()
    (tmp_path / "api" / "sitecustomize.py").write_text(FAKE_API)
    env, specs = environment(project), tmp_path / "specs"
    env |= {"FAKE_API": str(specs), "PYTHONPATH": f"{tmp_path / 'api'}{os.pathsep}{env['PYTHONPATH']}"}
    words = ["--workflow-profile", "profiles/kubernetes", "--config", "measure_on=cloud-gpu", "--retries", "0"]
    words += ["--seconds-between-status-checks", "1", "throughput"]
    done = captured([sys.executable, "-m", "snakemake", *words], project, env)
    assert specs.exists(), done.stdout
    (job,) = (json.loads(line) for line in specs.read_text().splitlines())
    pod = job["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    assert container["image"] == "registry.example.org/sweetspot:1-cuda"
    asked = container["resources"]["requests"]
    assert asked["nvidia.com/gpu"] == container["resources"]["limits"]["nvidia.com/gpu"] == "4"
    # 8 cores, less the plugin's share for the node itself
    assert (asked["memory"], asked["cpu"]) == ("64000M", "7600m")
    assert pod["nodeSelector"] == {"node.kubernetes.io/instance-type": "p3.8xlarge"}
    assert pod["restartPolicy"] == "Never"
    assert {"name": "sweetspot", "persistentVolumeClaim": {"claimName": "sweetspot"}} in pod["volumes"]
    assert {"name": "sweetspot", "mountPath": "/mnt/sweetspot"} in container["volumeMounts"]
    assert "instance=cloud-gpu" in container["args"][1] and "--default-storage-prefix" in container["args"][1]
    assert done.returncode != 0 and job["metadata"]["name"] in done.stdout
    assert not list((project / "results" / "benchmarks").rglob("*.parquet"))
