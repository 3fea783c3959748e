"""Figures by tokens that are held back, and those of a file, with errors by hand."""

import json

import pandas as pd
import pytest
from sweetspot.transfer.mfu import Range, published_figures

from research.__main__ import main
from research.validate_tokens import pairs, summarize, validate


def test_pairs_differ_in_one_thing():
    cell = {"model": "llama-3.1-8b", "method": "lora", "gpu": "A100 SXM 80GB", "precision": "bf16", "sequence": 2048}
    changes = [{}, {"model": "llama-3.2-1b"}, {"gpu": "H100 SXM"}]
    changes += [{"model": "llama-3.2-1b"} | other for other in
                ({"software": "z"}, {"method": "full"}, {"precision": "fp8"}, {"sequence": 512})]  # fmt: skip
    rows = [cell | {"stack": "tuned", "software": "a", "mfu": number} | row for number, row in enumerate(changes)]
    figures = pd.DataFrame(rows)
    assert pairs(figures, "model")[["mfu", "mfu_known"]].values.tolist() == [[0, 1], [1, 0]]
    assert pairs(figures, "gpu")[["mfu", "mfu_known"]].values.tolist() == [[0, 2], [2, 0]]


def test_errors_by_hand():
    # expected 0.24 of 0.3, 0.2, 0.24: 20 %, 20 %, 0 %; the interval of 0.2 to 0.3 holds all with its ends
    share = Range(0.24, 0.2, 0.3)
    row = summarize("x", [(printed, share) for printed in (0.3, 0.2, 0.24, 0.31)])
    assert row["rows"] == 4 and row["coverage90"] == 0.75
    assert row["median_abs_error"] == pytest.approx(0.2)  # of 0, 0.2, 0.2, 0.2258


@pytest.mark.slow
def test_what_the_pool_says_of_itself():
    rows = {row["method"]: row for row in validate(published_figures())["methods"]}
    for known in ("nothing known", "stack known"):
        assert all(rows[f"{known}, no {name}"]["coverage90"] >= 0.85 for name in ("software", "model", "gpu"))
    other = rows["other device"]
    assert other["rows"] == 392 and other["median_abs_error"] <= 0.21 and 0.85 <= other["coverage90"] <= 0.97
    assert rows["other model, tuned"]["median_abs_error"] <= 0.20 and rows["other model, plain"]["coverage90"] >= 0.85


def test_a_file_gives_headline_and_methods(tmp_path, capsys):
    file = tmp_path / "figures.csv"
    file.write_text(
        "model,method,gpu,gpus,precision,sequence,tokens_per_s,stack,software\n"
        "llama-3.1-8b,lora,RTX 4090,1,bf16,2048,1008,plain,mine\n"  # 1,008 GB/s
        "llama-3.1-8b,lora,A100 SXM 80GB,1,bf16,2048,2039,plain,mine\n"  # 2,039 GB/s: the plain ratio is exact
    )
    assert main(["validate-tokens", str(file), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    rows = {row["method"]: row for row in result["methods"]}
    assert result["headline"] in rows and rows["nothing known"]["rows"] == 2
    other = rows["other device"]
    assert (other["rows"], other["coverage90"]) == (2, 1.0)
    assert other["median_abs_error"] == pytest.approx(0, abs=1e-9)
