"""Run files: what is read, what is refused by name, and runs of one cell on several machines."""

import math
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from harness_runs import request
from run_files import CELL, cells_of, rules_of, write_run
from sweetspot.cells import run_path
from sweetspot.errors import UserError
from sweetspot.harness import runfile
from sweetspot.harness.runfile import run_facts
from sweetspot.harness.step_times import Interval
from sweetspot.harness.supervise import is_already_measured
from sweetspot.matrix.schedule import read_duration
from sweetspot.study.instances import Instance
from sweetspot.throughput.run_files import summarise_runs
from sweetspot.warnings import pairs

OLD = Path(__file__).parent.parent / "data" / "run_protocol_1.parquet"


def written(path, *timed, **facts):
    asked = request(batch_size=8, output=str(path))
    runfile.write_run(asked, [Interval(*interval) for interval in timed], {"device_name": "Test CPU", **facts})
    return asked


def test_intervals_count_by_their_steps(tmp_path):
    """20 steps of 5 ms told together, four of 100 ms: 24 steps in half a second, and no mean of five intervals."""
    written(tmp_path / "run.parquet", (0.005, 20), *[(0.1, 1)] * 4)
    (run,) = summarise_runs([str(tmp_path / "run.parquet")]).to_dict("records")
    assert 8 / run["seconds"] == pytest.approx(8 * 24 / 0.5)  # 384; the intervals' mean, 81 ms, would give 98.8
    # by hand, of a ratio: sqrt(5/4 x sum of (steps x (seconds - 1/48))²) / 24 / (1/48)
    spread = (20 * (0.005 - 1 / 48)) ** 2 + 4 * (0.1 - 1 / 48) ** 2
    assert run["step_error"] == pytest.approx((5 / 4 * spread) ** 0.5 / 24 * 48)


def test_of_equal_intervals_the_error_is_the_standard_error_of_the_mean(tmp_path):
    written(tmp_path / "run.parquet", (1.0, 3), (3.0, 3))
    (run,) = summarise_runs([str(tmp_path / "run.parquet")]).to_dict("records")
    assert (run["seconds"], run["step_error"]) == pytest.approx((2.0, 2**0.5 / 2**0.5 / 2))


def test_a_damaged_run_is_measured_again(tmp_path):
    path = tmp_path / "run.parquet"
    asked = written(path, (0.25, 1))._replace(asked="none")
    assert is_already_measured(asked)
    path.write_bytes(path.read_bytes().replace(b"vgg16", b"vgg17"))
    assert not is_already_measured(asked)


def test_a_file_of_protocol_1_is_read_and_told_apart(tmp_path):
    """Written by the release before; beside it one of today of 14 s for four steps, whose row says nothing of it."""
    written(tmp_path / "run.parquet", (2.0, 1), (4.0, 3), cpu="Test CPU", cpu_usable=2)
    new, old = cells_of([str(OLD), str(tmp_path / "run.parquet")]).sort_values("batch_size").to_dict("records")
    assert (old["images_per_s"], new["images_per_s"]) == (16 / 3, 8 * 4 / 14)
    assert (old["joules_per_sample"], old["energy_source"], old["as_of"]) == (12.5, "rapl", "2026-10-02")
    assert (set(rules_of(old)), rules_of(new)) == ({"n_is_1", "older_protocol", "imprecise"}, ["n_is_1"])
    assert math.isnan(old["others_cpu_share"])  # a column that it has not
    (said,) = (found["message"] for found in old["warnings"] if found["rule"] == "older_protocol")
    assert said.startswith("measured under protocol 1, now 2: a run might then end after five steps")


def test_runs_of_one_cell_under_two_protocols_are_refused(tmp_path):
    with pytest.raises(
        UserError, match=r"run~1\.parquet was measured on protocol 2, .*run~2\.parquet was measured on protocol 1"
    ):
        summarise_runs([write_run(tmp_path, CELL, run=1), write_run(tmp_path, CELL, run=2, protocol=1)])


def refusal(files):
    with pytest.raises(UserError) as caught:
        summarise_runs(files)
    assert "\n" not in str(caught.value)
    return str(caught.value)


STEPS = "expected steps of 1e-07 to 1e+07 s, not {}"
IMPOSSIBLE = [
    *(({"seconds": [2.0, value]}, STEPS.format(text)) for value, text in
      ((-1.0, "-1 s"), (0.0, "0 s"), (1e-300, "1e-300 s"))),
    *(({"seconds": [2.0, value]}, "expected a finite number") for value in (math.inf, -math.inf, 1e308)),
    ({"seconds": [math.nan], "step": None}, "expected a timed step in a run of status ok"),
    *(({"status": status}, f"key 'status' is {status!r}; expected 'ok'") for status in ("OK", "", pd.NA)),
    *(({"name": "somewhere", name: value}, f"key '{name}' is {value}; expected a number above 0")
      for name, value in (("batch_size", 0), ("gpus", -4), ("run", 0))),
    *(({"warnings": text}, "key 'warnings") for text in ("drift", '["drift"]', '[["drift", 3]]', "null", "[1]")),
    ({"measured_on": "yesterday"}, "key 'measured_on' is 'yesterday'"),
    ({"name": run_path(CELL, 3)}, "the path says run '3', the file '2'"),
]  # fmt: skip


@pytest.mark.parametrize(("columns", "words"), IMPOSSIBLE)
def test_a_run_that_cannot_be_is_refused_with_file_and_value(tmp_path, columns, words):
    good, bad = write_run(tmp_path, run=1), write_run(tmp_path, **{"run": 2} | columns)
    told = refusal([good, bad])
    assert told.startswith(f"{bad}: ") and words.replace("<NA>", "None") in told and good not in told
    assert told.endswith("remove it and it is measured again")


def test_of_two_runs_one_that_is_compiled_or_of_parts_of_a_processor_marks_the_cell(tmp_path):
    cell = CELL._replace(gpus=2)
    files = [write_run(tmp_path, cell, run=1), write_run(tmp_path, cell, run=2, xla=True, logical=True)]
    row = cells_of(files).iloc[0]
    assert row["images_per_s"] == pytest.approx(2 * 16 / 2.0)  # devices count together
    assert row["xla"] and row["logical"] and "logical_devices" in rules_of(row)


@pytest.mark.parametrize(
    ("name", "said", "holds"), [("instance", "'renamed'", "'workstation'"), ("batch_size", "'32'", "'16'")]
)
def test_a_run_under_the_path_of_another_cell_is_refused(tmp_path, name, said, holds):
    # an instance whose folder was renamed, a run file copied beside another batch
    other = CELL._replace(**{name: type(getattr(CELL, name))(said.strip("'"))})
    bad = write_run(tmp_path, name=run_path(other, 1))
    assert refusal([bad]).startswith(f"{bad}: the path says {name} {said}, the file {holds}")


def test_runs_of_one_cell_on_two_devices_are_refused_by_name(tmp_path):
    one = write_run(tmp_path, run=1, gpu="AMD EPYC 7B13")
    two = write_run(tmp_path, run=2, seconds=[40.0] * 3, gpu="Intel Xeon 2.20GHz")
    words = refusal([two, one])
    assert [part in words for part in (one, "'AMD EPYC 7B13'", two, "'Intel Xeon 2.20GHz'")] == [True] * 4


ODD = ("null", "[1, 2]", '"text"', "{", "3", '{"duration_s": null, "mean_step_s": null}')


def with_metadata(path, text):
    table = pq.read_table(path)
    pq.write_table(table.replace_schema_metadata({b"sweetspot": text}), path)


@pytest.mark.parametrize("text", [word.encode() for word in ODD])
def test_odd_metadata_is_no_traceback_in_the_plan_nor_in_the_table(tmp_path, text):
    path = write_run(tmp_path)
    with_metadata(path, text)
    assert cells_of([path]).iloc[0]["images_per_s"] == 8.0
    assert isinstance(run_facts(path), dict)
    assert read_duration(tmp_path / f"{run_path(CELL, 1)}.parquet") is None


def test_metadata_that_are_no_text_are_named(tmp_path):
    path = write_run(tmp_path)
    with_metadata(path, b"\xff\xfe")
    assert refusal([path]).startswith(f"{path}: not a whole run file")
    assert read_duration(tmp_path / f"{run_path(CELL, 1)}.parquet") is None


def test_a_run_says_what_it_counts(tmp_path):
    cell = CELL._replace(framework="command", model="mine", gpus=4)
    files = [write_run(tmp_path, cell, run=run, unit="tokens", samples_per_step=4096) for run in (1, 2)]
    files.append(write_run(tmp_path, CELL))
    mine, other = cells_of(files).sort_values("model").to_dict("records")
    assert (mine["unit"], mine["images_per_s"]) == ("tokens", 2048.0)
    assert (other["unit"], other["images_per_s"]) == ("images", 8.0)  # 16 in two seconds


SMALL, LARGE = "Intel(R) Xeon(R) CPU @ 2.20GHz, 8 CPUs", "Intel(R) Xeon(R) CPU @ 2.20GHz, 32 CPUs"


def instances(where, **keys):
    executor = {"where": where, "device": "gpu", **keys}
    machine = Instance(title="Ours", provider="own", gpu="Test CPU", gpus=1, measure=executor)
    return {CELL.instance: machine}


def told(row, rule):
    return [pair.message for pair in pairs(row["warnings"]) if pair.rule == rule]


def test_runs_of_one_cell_on_two_hosts_say_so(tmp_path):
    """Machines that are alike by device, processor and CPUs: one figure, and a warning that names both."""
    files = [write_run(tmp_path, run=number, host=host) for number, host in enumerate(("n2", "n1", "n2"), start=1)]
    row = cells_of(files, instances("local")).iloc[0]
    (message,) = told(row, "several_hosts")
    assert "n1; n2" in message
    assert row["runs"] == 3  # a container has another name at each start: none of its runs is lost
    assert "several_hosts" not in rules_of(cells_of([files[0], files[2]]).iloc[0])
    failed = write_run(tmp_path, run=4, host="n3", status="failed", message="x")
    assert "n3" not in str(cells_of([files[0], failed]).iloc[0]["warnings"])
    unsaid = write_run(tmp_path, run=5, host=None)
    assert "several_hosts" not in rules_of(cells_of([files[0], unsaid]).iloc[0])


@pytest.mark.parametrize("declared", [{}, instances("local")])
@pytest.mark.parametrize("host", ["here", "there"])
def test_runs_of_one_cell_on_machines_of_two_kinds_are_refused_by_name(tmp_path, declared, host):
    # one processor's name stands for machines of any size in a cloud; a name such as `ubuntu` for any machine
    one = write_run(tmp_path, run=1, machine=LARGE)
    two = write_run(tmp_path, run=2, seconds=[8.0] * 3, machine=SMALL, host=host)
    with pytest.raises(UserError) as caught:
        cells_of([two, one], declared)
    assert [part in str(caught.value) for part in (one, repr(LARGE), two, repr(SMALL))] == [True] * 4


@pytest.mark.parametrize(
    "cluster", [{"where": "slurm", "partition": "gpu"}, {"where": "kubernetes", "machine_type": "a2"}]
)
def test_nodes_of_a_cluster_are_averaged_and_named_with_their_kinds(tmp_path, cluster):
    files = [write_run(tmp_path, run=1, machine=LARGE, host="n1"), write_run(tmp_path, run=2, machine=SMALL, host="n2")]
    (message,) = told(cells_of(files, instances(**cluster)).iloc[0], "several_hosts")
    assert LARGE in message and SMALL in message
