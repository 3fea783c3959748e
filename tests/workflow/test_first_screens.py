"""What the founding studies answer first, against the figures of their texts; the two others: test_studies_small.py.

The box is predicted by the study's own rule here: four times the printed 273 images/s of one device, times the mean of
its column of efficiencies, 0.865; an hour of it costs 264.67 USD / 240 h.
"""

import pytest
from study_tables import STUDIES, study_tables
from sweetspot.study.instances import load_instances

BOX = 4 * 273 * 0.865  # images/s on ResNet50 at batch 64
BOX_HOUR = (6500 / 30 + 48) / 240
TPU = 90 * 1_281_167 / (9.889843 * 3600)  # DAWNBench's entry, at 6.595 USD an hour
V100_2018, V100_2020 = 675.0, 1276.24


def screen(study, draws=200):
    answer = study_tables(study, draws).comparison["headline"].iloc[0]
    for instance in load_instances(STUDIES / study / "instances.yaml"):
        if "-" in instance or "_" in instance:  # titles, never the names of the tables
            assert instance not in " ".join(answer[["first", "second", "more"]].dropna())
    return answer


def gain(images_per_s, usd_per_hour):
    return (BOX / BOX_HOUR) / (images_per_s / usd_per_hour)


def test_the_box_is_told_with_one_multiple_and_what_is_cheaper_and_can_be_taken_away():
    answer = screen("parkopedia-2018")
    assert answer["gain"] == pytest.approx(gain(TPU, 6.595), rel=1e-3)  # 1.74
    assert answer["first"].startswith("Take the office box with 4 GTX 1080 Ti: 1.7 times cheaper than the next (")
    assert answer["first"].count("times") == 1
    assert answer["second"].startswith("That is on ResNet-50, the closest of 3 models, against Google Cloud TPU v2. ")
    # 771.37 images/s of 2020 at 1.11 USD: 128e6 / 771.37 s = 46.1 h, 51.2 USD; the box 4 x 160 x 0.865 = 553.6: 64.2 h
    assert (
        "It is the cheapest that cannot be taken away. Cheapest of all on 1 of 3 models is AWS p3.2xlarge (spot), "
        "which can be taken away. It takes 46.1 h for 51.2 USD on Inception v3, against 64.2 h for 70.8 USD."
    ) in answer["second"]


def test_the_gain_of_the_box_moves_with_others_figures_and_its_rank_among_the_persistent_never():
    table = study_tables("parkopedia-2018").comparison["other_figures"]
    assert set(table["winner"]) == {"office-4x1080ti"}
    found = {
        (row.images_per_s, row.alternative_figure): (row.rival, row.gain, row.gain_of_all)
        for row in table[table["model"] == "resnet50"].itertuples()
    }
    near = lambda value: pytest.approx(value, rel=1e-3)  # noqa: E731
    assert found == {
        (V100_2018, "as used"): ("TPUv2", near(gain(TPU, 6.595)), near(gain(V100_2018, 1.11))),  # 1.74, spot 1.41
        (V100_2018, "left out"): ("GCE_1xV100", near(gain(V100_2018, 2.86)), near(gain(V100_2018, 1.11))),  # 3.63
        (V100_2020, "as used"): ("TPUv2", near(gain(TPU, 6.595)), near(gain(V100_2020, 1.11))),  # spot 0.75
        (V100_2020, "left out"): ("GCE_1xV100", near(gain(V100_2020, 2.86)), near(gain(V100_2020, 1.11))),  # 1.92
    }
    assert screen("parkopedia-2018")["more"].startswith(
        "With other published figures of the Tesla V100 or without Google Cloud TPU v2, the office box with 4 GTX 1080 "
        "Ti is still the cheaper on ResNet-50, by 1.7 to 3.6 times."
    )


def test_the_page_of_the_founding_study_shows_the_few_warnings_that_could_change_its_answer():
    warnings = study_tables("parkopedia-2018").comparison["warnings"]
    shown = warnings[warnings["decisive"]]
    assert len(warnings) > 150
    assert len(shown) <= 10
    assert set(shown["model"].dropna()) <= {"resnet50", ""}
    assert set(shown["batch_size"].dropna()) <= {64}
    # The hour that the text gets wrong, and the figures of the rival that stand in.
    told = set(zip(shown["instance"], shown["rule"], strict=True))
    assert {("office-4x1080ti", "text_against_table"), ("TPUv2", "stand_in_batch")} <= told


def test_cpus_are_in_the_answer_about_cpus():
    # the charts print 0.30, 0.44, 0.48, 0.80 and 0.85 of the cost for 16 CPUs, 1.04 on the MNIST CNN: the last two are
    # within what one published run is off by, and ties; 1.23 to 3.33 of the time on the other four; the P100 with
    # TensorFlow is printed as the fastest but on the MLP and CIFAR-10 (CNTK)
    # Both are a factor 1.29 (90 %) off: Phi(ln 1.17 / (sqrt(2) ln 1.29 / 1.645)) = 77 %, near the 80 % of a tie.
    answer = screen("woolf-2017", draws=4000)
    assert answer["first"] == (
        # 1 / 0.80 = 1.24 and 1 / 0.298 = 3.36
        "Take the machine with 16 vCPUs and TensorFlow (preemptible) on 4 of 6 models: 1.2 to 3.4 times cheaper than "
        "the machine with a K80 and TensorFlow. Too close to call on IMDb fastText and MNIST CNN."
    )
    assert answer["second"].startswith(
        "On those 4 it takes 1.2 to 3.3 times as long. "
        "Fastest on 4 of 6 models is the machine with a P100 and TensorFlow."
    )


def test_the_months_server_is_cheapest_if_it_works_all_month_and_who_is_by_the_hour():
    # 0.5 USD of 2.27 h: 0.2203 an hour, 161 for a month of 732 h; 1.61 for 1.82 h of the P6000: 161 / 1.61 = 100 runs
    answer = screen("rare-2018")
    assert answer["first"].startswith(
        "Take Hetzner EX51-SSD-GPU if it works all month: 0.50 USD a run, 3.2 times cheaper than Paperspace P6000 ("
    )
    assert answer["first"].endswith(" It pays from 100 runs a month; for fewer, take Paperspace P6000.")
    assert answer["second"] == (
        "Fastest is AWS p3.2xlarge: 1.06 h for 3.24 USD a run. A month of Hetzner EX51-SSD-GPU costs 161 USD, used or "
        "not."
    )


@pytest.mark.parametrize(
    ("study", "words"),
    [
        (
            "rare-2018",
            "The prices of Paperspace P6000 and Hetzner EX51-SSD-GPU are derived, not published.",
        ),
        ("initialized-2017", "The price of Paperspace P5000 is derived, not published."),
    ],
)
def test_a_derived_price_beside_a_printed_speed_is_called_a_price(study, words):
    answer = screen(study)
    assert words in answer["more"]
    assert "The speed" not in answer["more"]
