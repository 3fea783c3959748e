"""One cell, one machine: what is said, refused and kept apart where run files of one instance come from several."""

import pytest
from run_files import CELL, cells_of, rules_of, write_run
from sweetspot.errors import UserError
from sweetspot.harness.facts import kind_of_machine, machine_facts
from sweetspot.harness.request import parse_request
from sweetspot.study.instances import Instance
from sweetspot.warnings import pairs

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
    assert told(row, "several_hosts") == ["its runs were made on n1 and n2, which name the same device"]
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
    row = cells_of(files, instances(**cluster)).iloc[0]
    assert told(row, "several_hosts") == [
        f"its runs were made on n1 and n2, which name the same device but are of several kinds: {LARGE} and {SMALL}"
    ]


def test_a_failed_run_and_one_that_does_not_say_its_machine_are_of_no_other_machine(tmp_path):
    files = [
        write_run(tmp_path, run=1, machine=SMALL),
        write_run(tmp_path, run=2, machine=LARGE, seconds=[1.0], status="failed", message="x"),
        write_run(tmp_path, run=3, machine=None),
    ]
    assert cells_of(files, instances("local"))["runs"].tolist() == [2]


def test_cells_of_one_instance_on_two_kinds_of_machine_stay_apart(tmp_path):
    other = CELL._replace(batch_size=32)
    files = [write_run(tmp_path, run=run, machine=SMALL, seconds=[2 + run / 10] * 3) for run in (1, 2)]
    files += [write_run(tmp_path, other, run=run, machine=LARGE, seconds=[4 + run] * 3) for run in (1, 2)]
    table = cells_of(files, instances("local"))
    assert table["interval_df"].tolist() == [1, 1]  # no spread is shared across machines


def test_a_kind_of_machine_is_its_processor_and_the_cpus_that_a_run_may_use():
    facts = {"cpu": "AMD EPYC 7B13", "cpu_count": 64, "cpu_usable": 4, "memory_bytes": 10**10, "host": "a"}
    assert kind_of_machine(facts) == "AMD EPYC 7B13, 4 CPUs"
    assert kind_of_machine({**facts, "cpu_usable": 1}) == "AMD EPYC 7B13, 1 CPU"
    for odd in ({}, {**facts, "cpu": None}, {"cpu": "x"}):
        assert kind_of_machine(odd) is None
    cell = {"instance": "w", "framework": "tensorflow", "model": "m", "batch-size": 1, "gpus": 1, "precision": "fp32"}
    given = {**cell, "variant": "default", "run": 1, "output": "x"}
    assert kind_of_machine(machine_facts(parse_request([f"--{k}={v}" for k, v in given.items()]), [])) is not None
