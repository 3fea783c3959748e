"""What a run counts: said by the run file, or by the model's name where it does not say it."""

from run_files import CELL, cells_of, write_run


def test_a_run_says_what_it_counts(tmp_path):
    cell = CELL._replace(framework="command", model="mine", gpus=4)
    files = [write_run(tmp_path, cell, run=run, unit="tokens", samples_per_step=4096) for run in (1, 2)]
    files.append(write_run(tmp_path, CELL))
    mine, other = cells_of(files).sort_values("model").to_dict("records")
    assert (mine["unit"], mine["images_per_s"]) == ("tokens", 2048.0)
    assert (other["unit"], other["images_per_s"]) == ("images", 8.0)  # 16 in two seconds
