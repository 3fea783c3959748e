"""What the harness computes without starting anything: requests, facts, energy, workers, run files."""

import json

import pyarrow.parquet as pq
import pytest
from step_lists import even
from sweetspot.harness import facts, joules, nodes, sampling
from sweetspot.harness.own_networks import unit_of
from sweetspot.harness.request import Request, parse_request
from sweetspot.harness.runfile import write_run
from sweetspot.harness.sampling import Sample, Sampler, summary
from sweetspot.study.config import Measure
from sweetspot.warnings import Warned

CELL = ["--instance", "here", "--framework", "tensorflow", "--model", "vgg16", "--batch-size", "16", "--gpus", "2"]
CELL += ["--precision", "fp32", "--variant", "default", "--run", "3", "--output", "run~3.parquet"]


def request(*more):
    return parse_request([*CELL, *more])


# --- request --------------------------------------------------------------------------------------------------------


def test_a_request_without_flags_of_the_protocol_follows_the_configurations_defaults():
    asked, measure = request(), Measure()
    for name in ("protocol", "warmup_steps", "min_steps", "min_seconds", "min_steps_slow", "target_half_width",
                 "time_limit_s", "xla"):  # fmt: skip
        assert getattr(asked, name) == getattr(measure, name)
    assert (asked.device, asked.where, asked.expect_gpu, asked.checkpoint) == ("cpu", "local", "", "")
    assert (asked.run, asked.cell.batch_size, asked.cell.gpus, asked.cell.model) == (3, 16, 2, "vgg16")
    assert (asked.gpus_per_node, asked.nodes, asked.local_gpus) == (0, 1, 2)
    assert request(*measure.flags().split()) == asked


@pytest.mark.parametrize("flag", [flag for flag in CELL if flag.startswith("--")])
def test_a_request_without_its_cell_run_or_output_is_refused(flag, capsys):
    place = CELL.index(flag)
    with pytest.raises(SystemExit):
        parse_request(CELL[:place] + CELL[place + 2 :])
    assert f"the following arguments are required: {flag}\n" in capsys.readouterr().err


def test_a_request_that_says_nothing_of_nodes_takes_one():
    given = request("--gpus-per-node", "1")._asdict()
    bare = {name: value for name, value in given.items() if name not in Request._field_defaults}
    assert (Request(**bare).nodes, Request(**bare).local_gpus, Request(**bare).target_half_width) == (1, 2, 0.0)


def test_a_request_travels_as_text():
    asked = request("--gpus-per-node", "1", "--xla", "--attempt", "4")
    assert Request.from_json(asked.to_json()) == asked
    assert (asked.nodes, asked.local_gpus, asked.xla) == (2, 1, True)
    assert request("--gpus-per-node", "4").nodes == 1


# --- facts ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("flags", "gpus", "logical"), [([], 2, True), ([], 1, False), (["--device", "gpu"], 2, False)])
def test_devices_of_one_processor_are_logical_beyond_the_first(monkeypatch, flags, gpus, logical):
    monkeypatch.setattr(facts, "instruction_sets", lambda: [])
    asked = request(*flags)
    asked = asked._replace(cell=asked.cell._replace(gpus=gpus, precision="bf16"))
    told = facts.device_facts(asked)
    assert (told["logical"], told["emulated"]) == (logical, not flags)
    assert told["device_count"] == gpus
    assert (told["device_name"] == "unknown") == bool(flags)


def test_the_machine_is_told_as_the_kernel_tells_it(monkeypatch):
    monkeypatch.setattr(facts.os, "sysconf", {"SC_PAGE_SIZE": 4096, "SC_PHYS_PAGES": 1000}.__getitem__)
    monkeypatch.setattr(facts.os, "getloadavg", lambda: (0.5, 9.0, 8.0))
    monkeypatch.setattr(facts.os, "sched_getaffinity", lambda process: {0: {1, 2, 3}}[process])
    told = facts.machine_facts(request(), ["run"])
    assert (told["memory_bytes"], told["load_before"], told["cpu_usable"]) == (4_096_000, 0.5, 3)
    assert (told["xla"], told["protocol"], told["command"]) == (False, 2, ["run"])
    jax = request()._replace(cell=request().cell._replace(framework="jax"))
    assert facts.machine_facts(jax, [])["xla"] is True
    assert facts.machine_facts(request("--xla"), [])["xla"] is True


def test_versions_are_of_the_packages_that_a_figure_depends_on(monkeypatch):
    def version(package):
        if package in ("jax", "torch"):
            raise facts.metadata.PackageNotFoundError
        return f"of {package}"

    monkeypatch.setattr(facts.metadata, "version", version)
    found = facts.identity(request())["versions"]
    # CUDA 12 and 13 have packages of their own
    names = {"tensorflow", "keras", "numpy", "jaxlib", "nvidia-cudnn-cu12", "nvidia-cudnn-cu13", "nvidia-nccl-cu12"}
    assert set(found) == names | {"nvidia-nccl-cu13", "python"}
    assert found["keras"] == "of keras"


CPUINFO = "processor\t: 0\nmodel name\t: Some CPU @ 2.00GHz\nflags\t\t: fpu fma avx2 avx512f\n"


@pytest.mark.parametrize(
    ("text", "name", "sets"),
    [
        (CPUINFO, "Some CPU @ 2.00GHz", ["avx2", "fma", "avx512f"]),
        ("processor\t: 0\nFeatures\t: fp asimd bf16\n", "arm", ["asimd", "bf16"]),
    ],
)
def test_the_processor_tells_its_name_and_instructions(monkeypatch, tmp_path, text, name, sets):
    (tmp_path / "cpuinfo").write_text(text)
    monkeypatch.setattr(facts, "Path", lambda _: tmp_path / "cpuinfo")
    monkeypatch.setattr(facts.platform, "processor", lambda: "")
    monkeypatch.setattr(facts.platform, "machine", lambda: "arm")
    assert facts.processor_name() == name
    assert facts.instruction_sets() == sets


def test_a_sampler_looks_twice_a_second_until_it_is_finished(monkeypatch):
    assert sampling.INTERVAL_S == 0.5
    monkeypatch.setattr(sampling, "INTERVAL_S", 0.001)
    monkeypatch.setattr(joules, "processor_energy", dict)
    looks = []

    def look():
        looks.append(1)
        if len(looks) == 3:
            sampler._stop.wait = lambda _: True
        return [Sample(0.5, 7, None, 40.0, None), Sample(1.0, 5, None, 60.0, None)]

    sampler = Sampler(look)
    sampler.start()
    sampler._thread.join(30)
    assert sampler.finish() == {
        "gpu_samples": 6, "gpu_utilisation": 0.75, "gpu_memory_peak_bytes": 7, "gpu_celsius": 50,
    }  # fmt: skip
    assert summary([]) == {}


# --- several nodes --------------------------------------------------------------------------------------------------


def worker(node, host, **more):
    return {"node": node, "host": host, "memory_peak_bytes": 5, **more}


def test_rates_of_workers_add_up_where_all_tell_them():
    both = [
        worker("n2", "b", machine_matmul_flops=3.0, machine_conv_flops=1.0),
        worker("n1", "a", machine_matmul_flops=4.0),
    ]
    found = nodes.joined(both, "cpu")
    assert (found["machine_matmul_flops"], found["memory_peak_bytes"]) == (7.0, 10)
    assert "machine_conv_flops" not in found
    assert [each["node"] for each in found["workers"]] == ["n1", "n2"]
    assert found["logical"] is False
    assert nodes.joined([], "cpu") == {"workers": []}


def test_workers_on_processors_of_one_host_are_logical_and_on_its_gpus_are_not():
    one_host = [worker("n1", "a"), worker("n2", "a")]
    assert nodes.joined(one_host, "cpu")["logical"] is True
    assert nodes.joined(one_host, "gpu")["logical"] is False


def test_srun_starts_a_worker_on_each_node_in_an_environment_of_its_own():
    line = nodes.command(request("--gpus-per-node", "1"), "a.module", "more")
    assert line[0] == "srun"
    assert line[line.index("--nodes") + 1] == line[line.index("--ntasks") + 1] == "2"
    assert line[line.index("-m") + 1] == "a.module"
    assert line[-1] == "more"
    kept = {"SLURM_JOB_ID": "7", "SLURM_CONF": "/c", "PATH": "/bin"}
    assert nodes.outer({**kept, "SLURM_NTASKS": "1", "SLURM_STEP_ID": "0"}) == kept


def test_the_first_failure_is_told_with_what_srun_says():
    errors = "x\nsrun: error: n2: task 1: Exited with exit code 2\nsrun: error: n1: task 0: Killed\n"
    assert nodes.message(["first", "second"], errors, "else") == "n2: task 1: Exited with exit code 2; first"
    assert nodes.message([], "", "else") == "else"
    assert len(nodes.message(["long" * 200], "", None)) == 300


# --- the run file ---------------------------------------------------------------------------------------------------


def test_a_run_file_has_a_row_a_step_with_its_cell(tmp_path):
    asked = request()._replace(output=str(tmp_path / "run.parquet"))
    told = {"device_name": "CPU", "logical": True, "xla": True, "started_at": "2026-01-02T03:04:05+00:00"}
    write_run(asked, even([0.5, 0.25]), told, "unstable", warnings=[Warned("drift", "slower")])
    table = pq.read_table(asked.output)
    rows = table.to_pylist()
    assert [(row["step"], row["seconds"]) for row in rows] == [(0, 0.5), (1, 0.25)]
    assert {row["gpu"] for row in rows} == {"CPU"}
    assert (rows[1]["logical"], rows[1]["xla"], rows[1]["measured_on"]) == (True, True, "2026-01-02")
    assert (rows[0]["model"], rows[0]["batch_size"], rows[0]["run"], rows[0]["protocol"]) == ("vgg16", 16, 3, 2)
    assert (rows[0]["status"], rows[0]["message"]) == ("unstable", None)
    assert json.loads(rows[0]["warnings"]) == [["drift", "slower"]]
    assert [row["steps"] for row in rows] == [1, 1]
    assert json.loads(pq.read_schema(asked.output).metadata[b"sweetspot"]) == told


def test_a_run_that_timed_nothing_has_one_row_without_step_and_seconds(tmp_path):
    asked = request()._replace(output=str(tmp_path / "run.parquet"))
    write_run(asked, even([]), {}, "failed", "died")
    (row,) = pq.read_table(asked.output).to_pylist()
    assert (row["step"], row["seconds"], row["warnings"], row["measured_on"]) == (None, None, None, None)
    assert (row["status"], row["message"], row["gpu"]) == ("failed", "died", "unknown")
    assert (row["logical"], row["xla"]) == (False, False)


def test_what_is_counted_follows_the_model():
    assert [unit_of(name) for name in ("vgg16", "tiny_cnn", "mnist_mlp", "lstm_text")] == [
        "images", "images", "samples", "samples"
    ]  # fmt: skip
