"""The sentence that answers, on facts made for it: its limits hold whatever happens, and it never says the opposite."""

import itertools
import math
import re

import pytest
from sweetspot.decision.answer_words import LONGEST, Facts, answer, chance

MULTIPLE = re.compile(r"([0-9.,]+) times cheaper")
INTERVAL = re.compile(r"\b([0-9.,]+) to ([0-9.,]+)\)")
PROBABILITY = re.compile(r"\((over |under )?(\d+) %\)")
NAMES = {
    "short": ("Box", "Rival"),
    "usual": ("the office box with 4 GTX 1080 Ti", "Google Cloud TPU v2"),
    "long": (
        "the bought server with 8 B200 SXM, 2 TB of memory and eight network cards in the cellar of the institute",
        "the virtual machine with 96 virtual processors and 8 V100 (preemptible) [Google Cloud, December 2017]",
    ),
}
SURE = [(1.0, 0.6), (1.02, 0.5), (1.4, 0.73), (1.85, 0.974), (6.8, 1.0), (29.0, 0.005), (1.1, 0.4)]
USES = ["", "Owning never pays.", "Owning pays only from 28.5 days of use a month."]
HANGS = ["", "Most hangs on the length of the project."]
KINDS = [
    {}, {"close": True}, {"close": True, "close_on": "11 of 12 models"}, {"bound": "at least"}, {"bound": "up to"},
    {"next_best": False}, {"on": "Llama 3.1 8B"}, {"close": True, "on": "Llama 3.1 8B"}, {"bill": "0.76 USD a month"},
    {"bill": "0.50 USD a run", "all_month": True}, {"taken_away": True, "next_best": False},
    {"over": "30 months"}, {"close": True, "over": "the project"},
]  # fmt: skip


def facts():
    """Every combination of names, sureness, use, cause and kind: 1,638 outcomes."""
    for names, (gain, sure), use, hangs, kind in itertools.product(NAMES.values(), SURE, USES, HANGS, KINDS):
        more = {"use": use, "hangs": hangs, **kind}
        yield Facts(*names, times=gain, low=gain / 1.9, high=gain * 2.1, probability=sure, **more)


def test_whatever_the_outcome_the_answer_has_45_words_one_multiple_one_interval_one_probability():
    for one in facts():
        said, left = answer(one)
        assert len(said.split()) <= LONGEST, said
        assert len(MULTIPLE.findall(said)) == 1, said
        assert len(INTERVAL.findall(said)) == 1, said
        assert len(PROBABILITY.findall(said)) == 1, said
        assert said.endswith(".") and ".." not in said
        for sentence in (one.use, one.hangs):  # said in the answer or beside it, never both or neither
            kept = sentence.replace(" of use a month", " a month")
            assert (kept in said or sentence in said) != (sentence in left) or not sentence, said


def test_the_figures_said_are_those_of_the_facts():
    for one in facts():
        said, _ = answer(one)
        (multiple,), (ends,) = MULTIPLE.findall(said), INTERVAL.findall(said)
        assert float(multiple) == pytest.approx(one.times, rel=0.05)
        assert [float(end.replace(",", "")) for end in ends] == pytest.approx([one.low, one.high], rel=0.05)
        ((limit, percent),) = PROBABILITY.findall(said)
        if limit:
            assert (limit, percent) in {("over ", "99"), ("under ", "1")}
            assert (one.probability > 0.5) == (limit == "over ")
        else:
            assert float(percent) == pytest.approx(100 * one.probability, abs=0.51)


def test_the_cheaper_one_is_named_before_the_dearer():
    """A sentence that took the dearer, or held the cheaper against it, would be noticed here."""
    for one in facts():
        said, _ = answer(one)
        cheap, dear = " ".join(one.take.split()[:5]), " ".join(one.against.split()[:5])
        cheap = cheap[:1].upper() + cheap[1:] if said.startswith("The ") else cheap
        verb = "Too close to call" if one.close else "Take"
        assert said.startswith(verb) and cheap in said
        if dear in said:
            assert said.index(cheap) < said.index(dear)
        else:
            assert "than the next" in said or "as much as the next" in said
            assert one.next_best  # only the second cheapest is called so


def test_too_close_to_call_is_said_first_and_only_then():
    for one in facts():
        said, _ = answer(one)
        assert said.startswith("Too close to call") == one.close
        assert said.count("Too close") == one.close and said.count("Take") == (not one.close)


def test_names_of_usual_length_stand_in_full_with_use_and_cause():
    take, against = NAMES["usual"]
    sure = {"times": 1.85, "low": 1.09, "high": 2.97, "probability": 0.974}
    use, hangs = "Owning pays from 4.9 days of use a month.", "Most hangs on the other's speed."
    said, left = answer(Facts(take, against, **sure, use=use, hangs=hangs))
    assert said == (
        "Take the office box with 4 GTX 1080 Ti: 1.9 times cheaper than Google Cloud TPU v2 (1.09 to 3.0), a chance of "
        "about 39 in 40 (97 %). Owning pays from 4.9 days of use a month. Most hangs on the other's speed."
    )
    assert left == []


def test_of_a_plan_the_rival_is_named_rather_than_what_most_hangs_on():
    take, against = NAMES["usual"][0], "GCE n1-standard-8 with 1 V100"
    sure = {"times": 4.0, "low": 2.5, "high": 6.3, "probability": 0.999, "over": "30 months"}
    use, hangs = "It pays from 22 % of that work on.", "Most hangs on the speed of Tesla V100 on VGG-16."
    assert answer(Facts(take, against, **sure, use=use, hangs=hangs)) == (
        f"Take {take}: 4.0 times cheaper than {against} over 30 months (2.5 to 6.3), almost certain (over 99 %). {use}",
        [hangs],
    )


def test_of_a_plan_that_nothing_else_does_it_is_said_why():
    told = answer(Facts("Box", bill="8,000 USD", alone="Nothing else here does the work."))
    assert told == ("Take Box: 8,000 USD. Nothing else here does the work.", [])


def test_one_option_alone_is_all_that_can_be_judged():
    found = answer(Facts("Box", bill="10.0 USD"))
    assert found == ("Only Box can be judged: 10.0 USD. Nothing else has both a price and a speed.", [])


def test_figures_that_leave_no_room_have_neither_interval_nor_probability():
    assert answer(Facts("Box", "Rival", times=2.0, low=2.0, high=2.0))[0] == "Take Box: 2.0 times cheaper than Rival."


@pytest.mark.parametrize(
    ("probability", "said"),
    [
        (0.857, "a chance of about 6 in 7 (86 %)"),
        (0.75, "a chance of about 3 in 4 (75 %)"),
        (0.62, "a chance of about 5 in 8 (62 %)"),
        (0.9, "a chance of about 9 in 10 (90 %)"),
        (0.95, "a chance of about 19 in 20 (95 %)"),
        (0.2, "a chance of about 1 in 5 (20 %)"),
        (0.54, "an even chance (54 %)"),
        (0.46, "an even chance (46 %)"),
        (0.991, "almost certain (over 99 %)"),
        (1.0, "almost certain (over 99 %)"),
        (0.004, "hardly a chance (under 1 %)"),
        (0.0, "hardly a chance (under 1 %)"),
    ],
)
def test_a_probability_in_words_and_number(probability, said):
    assert chance(probability) == said


def test_the_words_of_a_probability_are_near_its_number_and_turn_over_with_it():
    """The odds said are within a third of those meant, and of p and 1 - p the counterparts: 3 in 4 and 1 in 4."""
    for percent in range(1, 100):
        p = percent / 100
        found = re.search(r"about (\d+) in (\d+)", chance(p))
        if not found:
            assert abs(p - 0.5) <= 0.0501
            continue
        one, of = map(int, found.groups())
        assert abs(math.log(one / (of - one)) - math.log(p / (1 - p))) < math.log(4 / 3), percent
        assert f"about {of - one} in {of} " in chance(1 - p)
        assert (one * 2 > of) == (p > 0.5)
