"""Run files as the harness writes them, read back: intervals by their steps, flipped bits, and those of protocol 1."""

import math
import random
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from run_files import CELL, cells_of, rules_of
from run_files import write_run as by_hand
from sweetspot.errors import UserError
from sweetspot.harness.request import parse_request
from sweetspot.harness.runfile import SEAL, write_run
from sweetspot.harness.step_times import Interval
from sweetspot.harness.supervise import is_already_measured
from sweetspot.throughput.run_files import summarise_runs

OLD = Path(__file__).parent.parent / "data" / "run_protocol_1.parquet"
FLAGS = "--instance w --framework tensorflow --model vgg16 --batch-size 8 --gpus 1 --precision fp32 --variant default"


def written(path, *timed, **facts):
    request = parse_request([*FLAGS.split(), "--run", "1", "--output", str(path)])
    write_run(request, [Interval(*interval) for interval in timed], {"device_name": "Test CPU", **facts})
    return request


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


def test_one_interval_says_nothing_of_its_error(tmp_path):
    written(tmp_path / "run.parquet", (1.0, 3))
    (run,) = summarise_runs([str(tmp_path / "run.parquet")]).to_dict("records")
    assert run["seconds"] == 1.0 and math.isnan(run["step_error"])


def test_of_three_hundred_flipped_bits_none_reads_as_another_figure_or_ends_the_reader(tmp_path):
    path = tmp_path / "run.parquet"
    written(path, *[(0.25, 1)] * 6, started_at="2026-10-02T08:15:00+00:00", cpu="CPU", cpu_usable=2)
    raw, dice, refused = path.read_bytes(), random.Random(7), 0
    whole = summarise_runs([str(path)])
    for _ in range(300):
        bit = dice.randrange(8 * len(raw))
        flipped = bytearray(raw)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(flipped)
        try:
            assert summarise_runs([str(path)]).equals(whole)
        except UserError as error:
            refused += 1
            assert str(error).startswith(f"{path}: ")
    # what is left are flips in the name of the checksum itself, 16 of some 6,000 bytes
    assert refused > 290


def test_a_damaged_run_is_measured_again(tmp_path):
    path = tmp_path / "run.parquet"
    asked = written(path, (0.25, 1))._replace(asked="none")
    assert is_already_measured(asked)
    path.write_bytes(path.read_bytes().replace(b"vgg16", b"vgg17"))
    assert not is_already_measured(asked)


def test_a_file_without_a_checksum_is_read(tmp_path):
    assert SEAL.encode() not in OLD.read_bytes()
    by_hand(tmp_path, CELL)
    assert len(cells_of([by_hand(tmp_path, CELL, run=2)])) == 1


def test_a_file_of_protocol_1_is_read_and_told_apart(tmp_path):
    """Written by the release before; beside it one of today of 14 s for four steps, whose row says nothing of it."""
    written(tmp_path / "run.parquet", (2.0, 1), (4.0, 3), cpu="Test CPU", cpu_usable=2)
    new, old = cells_of([str(OLD), str(tmp_path / "run.parquet")]).sort_values("batch_size").to_dict("records")
    assert (old["images_per_s"], new["images_per_s"]) == (16 / 3, 8 * 4 / 14)
    assert (old["joules_per_sample"], old["energy_source"], old["as_of"]) == (12.5, "rapl", "2026-10-02")
    assert set(rules_of(old)) == {"n_is_1", "older_protocol", "imprecise"}
    assert rules_of(new) == ["n_is_1"]
    (said,) = (found["message"] for found in old["warnings"] if found["rule"] == "older_protocol")
    assert said.startswith("measured under protocol 1, now 2: a run might then end after five steps")


def test_runs_of_one_cell_under_two_protocols_are_refused(tmp_path):
    files = [by_hand(tmp_path, CELL, run=1), by_hand(tmp_path, CELL, run=2, protocol=1)]
    with pytest.raises(
        UserError, match=r"run~1\.parquet was measured on protocol 2, .*run~2\.parquet was measured on protocol 1"
    ):
        summarise_runs(files)


def test_a_file_of_before_the_first_release_is_refused_by_the_column_that_it_lacks(tmp_path):
    path = tmp_path / "run.parquet"
    pq.write_table(pq.read_table(OLD).drop_columns(["machine"]), path)
    with pytest.raises(UserError, match="'machine' is missing and needed; remove it and it is measured"):
        summarise_runs([str(path), str(OLD)])


def test_a_file_of_version_1_keeps_the_steps_of_its_intervals(tmp_path):
    """It has no share of CPU time that others took, and a column that version 2 has not."""
    path = tmp_path / "run.parquet"
    written(path, (0.005, 20), *[(0.1, 1)] * 4)
    table = pq.read_table(path).drop_columns(["others_cpu_share"])
    table = table.append_column("left_out_share", [[0.0] * len(table)])
    metadata = {key: value for key, value in table.schema.metadata.items() if key != SEAL.encode()}
    pq.write_table(table.replace_schema_metadata(metadata), path)
    other = tmp_path / "new.parquet"
    written(other, (0.005, 20), *[(0.1, 1)] * 4, others_cpu_share=0.25)
    (old,) = summarise_runs([str(path)]).to_dict("records")
    (new,) = summarise_runs([str(other)]).to_dict("records")
    assert old["seconds"] == pytest.approx(1 / 48) and math.isnan(old["others_cpu_share"])
    assert (new["seconds"], new["others_cpu_share"]) == (pytest.approx(1 / 48), 0.25)
