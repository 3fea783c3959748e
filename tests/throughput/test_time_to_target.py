"""Times to a target: the newest round's median, its spread, every machine of a kind, and what is refused."""

from types import SimpleNamespace

import pytest
from run_files import rules_of
from sweetspot.errors import UserError
from sweetspot.scaling.strong import fit_strong, strong_cells
from sweetspot.study.instances import Instance
from sweetspot.study.study import LogSource, StudyCells
from sweetspot.throughput.gather import gather_throughput
from sweetspot.throughput.plausible_rows import ImpossibleFigure
from sweetspot.throughput.time_to_target import FACTOR_95, read_times, results, timed_cells

HEADER = "benchmark,gpu,gpus,nodes,minutes,round,submitter,precision,global_batch,samples,kind,source,date\n"
QUESTION = StudyCells(model=["lora"], batch_size=[1], precision="mixed", framework="torch", headline_batch_size=1)


def machine(gpus=8, gpu="B200 SXM", **other):
    return Instance(title="x", provider="cloud", gpu=gpu, gpus=gpus, **other)


def times(folder, *rows):
    (folder / "time_to_target.csv").write_text(HEADER + "".join(f"{row}\n" for row in rows))
    return folder / "time_to_target.csv"


def line(minutes, round_="v5.1", submitter="a", gpus=8, nodes=1, source="logs"):
    return f"lora,B200 SXM,{gpus},{nodes},{minutes},{round_},{submitter},,,,recomputed,{source},2025-11"


def test_the_median_of_the_newest_round_counts(tmp_path):
    rows = [
        line(12.0, "v4.1"), line(11.0, "v5.0", "b"), line(9.0), line(10.0, submitter="b"), line(30.0, submitter="c"),
    ]  # fmt: skip
    found = results(read_times(times(tmp_path, *rows)))
    assert list(found) == [("lora", "B200 SXM", 8)]
    result = found["lora", "B200 SXM", 8]
    assert (result.minutes, result.round, result.rounds_behind) == (10.0, "v5.1", 0)
    assert "MLPerf(TM) Training v5.1 Closed, lora, 8 x B200 SXM: 10.00 minutes" in result.source
    assert "median of 3 results, 9.00 to 30.00 minutes (a, b, c); recomputed" in result.source


def test_how_many_rounds_of_anybody_are_newer_is_carried_to_the_table(tmp_path):
    rows = [line(12.0, "v4.1", gpus=16, nodes=2), line(9.0), line(8.0, "v6.0", gpus=32, nodes=4), line(11.0, "v5.0")]
    found = results(read_times(times(tmp_path, *rows)))
    assert {key[2]: (result.round, result.rounds_behind) for key, result in found.items()} == {
        8: ("v5.1", 1), 16: ("v4.1", 3), 32: ("v6.0", 0)}  # fmt: skip
    told = [{"rule": "assumed", "message": "by its name"}]
    known = {"x": machine(warnings=told), "y": machine(16, nodes=2), "z": machine(64, nodes=8)}
    table = gather_throughput([], QUESTION, "2026-09-19", known, tmp_path).set_index("instance")
    assert [rules_of(row) for _, row in table.iterrows()] == [["assumed"], []]
    assert table[["round", "rounds_behind"]].to_numpy().tolist() == [["v5.1", 1], ["v4.1", 3]]
    # what is predicted from a time has its round
    printed = read_times(tmp_path / "time_to_target.csv")
    predicted = strong_cells(printed, fit_strong(printed, []), QUESTION, known, ("round", "rounds_behind"))
    assert predicted.to_numpy().tolist() == [["v6.0", 0]]


def test_a_later_round_of_two_digits_is_newer(tmp_path):
    found = results(read_times(times(tmp_path, line(9.0, "v9.1"), line(8.0, "v10.0"))))
    assert found["lora", "B200 SXM", 8].round == "v10.0"
    found = results(read_times(times(tmp_path, line(9.0), line(10.0), line(8.0, submitter=" a ", gpus=16))))
    assert "median of 2 results, 9" in found["lora", "B200 SXM", 8].source
    assert "1 result (a)" in found["lora", "B200 SXM", 16].source


def test_every_machine_of_the_device_and_count_takes_it(tmp_path):
    table = read_times(times(tmp_path, line(10.0), line(6.0, gpus=16, nodes=2)))
    instances = {
        "one": machine(), "other": machine(), "two": machine(16, nodes=2), "four": machine(32, nodes=4),
        "h100": machine(gpu="H100 SXM"), "whole": machine(16, framework="jax"), "small": machine(16, nodes=4),
    }  # fmt: skip
    cells = timed_cells(table, QUESTION, instances).set_index("instance")
    assert list(cells.index) == ["one", "other", "two", "whole", "small"]
    assert cells["images_per_s"].tolist() == pytest.approx([1 / 600, 1 / 600, 1 / 360, 1 / 360, 1 / 360])
    # of the two that the result and the machine say, the more: traffic between nodes is not hidden
    assert cells["nodes"].tolist() == [1, 1, 2, 2, 4]
    assert cells["framework"].tolist() == ["torch", "torch", "torch", "jax", "torch"]
    assert not cells["xla"].any()  # nobody says so
    assert set(cells["unit"]) == {"runs"}
    # 1.12 covers 90 %; the table states 95 %: 1.12 ^ (1.960 / 1.645) = 1.1446
    assert pytest.approx(1.1446, abs=1e-4) == FACTOR_95
    for low, high in (("images_per_s_low", "images_per_s"), ("images_per_s", "images_per_s_high")):
        assert (cells[high] / cells[low]).tolist() == pytest.approx([FACTOR_95] * 5)


@pytest.mark.parametrize(
    ("row", "words"),
    [(line(10.0, gpus=12, nodes=8), "line 2: expected nodes that divide 12 devices, not 8"),
     (line(10.0, round_="newest"), "line 2: expected a round such as v5.1, not 'newest'"),
     (line(10.0, source=""), "line 2: key 'source' is missing"),
     (line(10.0, nodes="x"), "^[^;]*line 2: key 'nodes' is 'x'; expected[^;]*$"),
     (line(0), "line 2: key 'minutes' is '0'; expected a number above 0")],
)  # fmt: skip
def test_a_bad_row_is_refused_in_one_sentence(tmp_path, row, words):
    with pytest.raises(UserError, match=words):
        read_times(times(tmp_path, row))


def test_a_model_counted_in_two_units_is_refused(tmp_path):
    header = "gpu,instance,gpus,framework,framework_version,benchmark,model,batch_size,precision,variant,dataset,images_per_s,source,note,unit\n"  # noqa: E501
    row = "B200 SXM,m,{},torch,,suite,lora,1,fp16,default,synthetic,{},somebody,,{}\n"
    (file := tmp_path / "throughput.csv").write_text(header + row.format(1, 1, "tokens") + row.format(8, 8, "samples"))
    with pytest.raises(UserError, match="lora is counted in tokens and in samples; expected one unit a model"):
        gather_throughput([], QUESTION, "2026-09-19", {"m": machine()}, tmp_path)

    # The fault is that of the tokens alone: eight do 900 where eight times one are 800. It becomes 800, and at least
    # 800 / e^(ln 1.29 x 1.959964 / 1.644854) = 800 / 1.35449 (ends of 90 % as ends of 95 %).
    file.write_text(header + row.format(1, 100, "tokens") + row.format(8, 900, "tokens"))
    found = [ImpossibleFigure(1, "more_than_n_times_one", "too fast", 800.0, "eight times one")]
    table = gather_throughput([], QUESTION, "2026-09-19", {"m": machine()}, tmp_path, find_impossible=lambda _: found)
    cells = table.set_index("gpus")
    assert cells["images_per_s"].to_dict() == {1: 100.0, 8: 800.0} and cells.loc[8, "basis"] == "scaled"
    assert cells.loc[8, "images_per_s_low"] == pytest.approx(800 / 1.35449, rel=1e-5)
    log = SimpleNamespace(gpu=None, instance="elsewhere")
    with pytest.raises(UserError, match=r"logs\[0\].instance is 'elsewhere'; expected one of"):
        gather_throughput([], QUESTION, "2026-09-19", {"m": machine()}, tmp_path, logs=[log])
    terms = {"framework": "torch", "model": "net", "batch_size": 1, "precision": "fp32", "samples_per_epoch": 9}
    log = LogSource(format="keras_csv", path="log.csv", gpu="T4", instance="elsewhere", source="x", **terms)
    with pytest.raises(UserError, match=r"log.csv: No such file"):  # the machine need not be known, the device is
        gather_throughput([], QUESTION, "2026-09-19", {"m": machine()}, tmp_path, logs=[log])
    (tmp_path / "log.csv").write_text("epoch,elapsed\n0,9\n1,9\n")
    file.write_text(file.read_text() + row.format(8, 70, "tokens").replace("fp16", "fp32"))
    found = [ImpossibleFigure(3, "r", "too fast", 1.0, "s")]  # the log, after the three rows of the table
    table = gather_throughput([], QUESTION, "2026-09-19", {"m": machine()}, tmp_path, [log], lambda _: found)
    # each is the best of its own count and precision; for `mixed` stand in (900 + 70) / 2
    assert sorted(table["images_per_s"]) == [70.0, 100.0, 485.0, 900.0] and table["best"].all()
