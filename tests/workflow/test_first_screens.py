"""What the founding studies answer first, against the figures of their texts; the two others: test_studies_small.py.

The box is predicted by the study's own rule here: four times the printed 273 images/s of one device, times the mean of
its column of efficiencies, 0.865; an hour of it costs 264.67 USD / 240 h.
"""

import pandas as pd
import pytest
from study_tables import study_tables

BOX = 4 * 273 * 0.865  # images/s on ResNet50 at batch 64
BOX_HOUR = (6500 / 30 + 48) / 240
TPU = 90 * 1_281_167 / (9.889843 * 3600)  # DAWNBench's entry, at 6.595 USD an hour


def test_the_project_buys_the_box_and_pays_for_its_hours():
    found = study_tables("parkopedia-2018").comparison["verdict"].set_index("workload")
    project = found.loc["project"]
    assert bool(project["is_answer"]) and found["is_answer"].sum() == 1
    # 20 x 8 and 10 x 24 hours on one device each, four at once; 35 x 672 on all four, 0.838 each: 0.20 USD an hour
    hours = (20 * 8 + 10 * 24) / 4 + 35 * 672 / (4 * 0.8383)
    assert project["usd"] == pytest.approx(6500 + 0.20 * hours, rel=1e-3)  # 7,925
    # one job on a box that is busy 10 days a month is closer: 1.74 against the TPU, which is the nearest of three
    alone = found.loc["imagenet-resnet50"]
    assert alone["ratio"] == pytest.approx(BOX / BOX_HOUR / (TPU / 6.595), rel=1e-3)
    assert found["ratio"].min() == alone["ratio"] and (found["kind"] == "buy").all()


def test_what_can_be_taken_away_is_cheaper_on_one_of_three_models_and_no_answer():
    tables = study_tables("parkopedia-2018").comparison
    inside = tables["ranks"][tables["ranks"]["in_answer"] & tables["ranks"]["workload"].str.startswith("imagenet-")]
    first = inside.sort_values("usd").drop_duplicates("model").set_index("model")["title"]
    cheapest = first.to_dict()
    box = "office box with 4 GTX 1080 Ti"
    assert cheapest == {"resnet50": box, "vgg16": box, "inception3": "AWS p3.2xlarge (spot)"}
    # 771.37 images/s of 2020 at 1.11 USD: 128e6 / 771.37 s = 46.1 h, 51.2 USD; the box 4 x 160 x 0.865 = 553.6: 64.2 h
    choices = tables["choices"][tables["choices"]["workload"] == "imagenet-inception3"].set_index("title")
    spot, own = choices.loc["AWS p3.2xlarge (spot)"], choices.loc[box]
    assert (spot["hours"], spot["usd"]) == (pytest.approx(46.1, abs=0.05), pytest.approx(51.2, abs=0.05))
    assert (own["hours"], own["usd"]) == (pytest.approx(64.2, abs=0.05), pytest.approx(70.8, abs=0.05))
    assert spot["why_not"] == "interruptible"
    assert bool(own["is_best"]) and pd.isna(own["why_not"])


def test_cpus_are_in_the_answer_about_cpus():
    # the charts print 0.30, 0.44, 0.48, 0.80 and 0.85 of the cost for 16 CPUs, 1.04 on the MNIST CNN: the last two are
    # within what one published run is off by, and ties; 1.23 to 3.33 of the time on the other four; the P100 with
    # TensorFlow is printed as the fastest but on the MLP and CIFAR-10 (CNTK)
    # Both are a factor 1.29 (90 %) off: Phi(ln 1.17 / (sqrt(2) ln 1.29 / 1.645)) = 77 %, near the 80 % of a tie.
    tables = study_tables("woolf-2017", draws=4000).comparison
    ranks, verdicts_of = tables["ranks"], tables["verdict"].set_index("workload")
    own = tables["options"][tables["options"]["is_reference"]].set_index("workload")
    assert set(own["title"]) == {"machine with a K80 and TensorFlow"}
    clear = verdicts_of[verdicts_of["confidence"] != "too close to call"]
    assert set(own.loc[own.index.difference(clear.index), "model"]) == {"imdb_fasttext", "mnist_cnn"}
    assert set(clear["best_title"]) == {"machine with 16 vCPUs and TensorFlow (preemptible)"}
    best = ranks.set_index(["workload", "option"]).loc[list(zip(clear.index, clear["best"], strict=True))]
    judged = own.loc[clear.index]
    printed = sorted(1 / share for share in (0.30, 0.44, 0.48, 0.80))
    assert sorted(judged["usd"].to_numpy() / best["usd"].to_numpy()) == pytest.approx(printed, rel=0.02)  # 1.2 to 3.4
    longer = best["hours"].to_numpy() / judged["hours"].to_numpy()
    assert (longer.min(), longer.max()) == pytest.approx((1.23, 3.33), abs=0.01)
    fastest = ranks[ranks["in_answer"]].sort_values("hours").drop_duplicates("workload")["title"]
    assert (fastest == "machine with a P100 and TensorFlow").sum() == 4
    assert (verdicts_of["level"] == "machine").all()  # nothing binds: all is rented by the hour
