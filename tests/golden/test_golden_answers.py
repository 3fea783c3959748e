"""Each shipped study answers what was frozen, verdicts, costs, break-evens, turning points, claims and throughput, and
says it in the words that were read."""

import pytest
from golden import GOLDEN, differences, read_golden, study_answers, study_words, word_differences
from study_tables import STUDIES

NAMES = sorted(folder.name for folder in STUDIES.iterdir() if (folder / "study.yaml").is_file())


def test_each_study_has_golden_answers():
    assert [[file.stem for file in sorted(GOLDEN.glob(f"*.{end}"))] for end in ("json", "txt")] == [NAMES, NAMES]


def test_differences_name_what_is_missing_new_or_off_by_more_than_a_millionth():
    expected = {"choices": {"rent": {"usd": 100.0, "kind": "rent"}, "buy": {"usd": 5.0}}}
    actual = {"choices": {"rent": {"usd": 100.00009, "kind": "rent"}, "mix": {"usd": 5.0}}}
    assert sorted(differences(expected, actual)) == ["choices / buy: is missing", "choices / mix: is new"]
    actual["choices"]["rent"]["usd"] = 100.0002  # 2e-6 more than 100
    assert "choices / rent / usd: 100.0 became 100.0002" in list(differences(expected, actual))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_study_gives_its_golden_answers(name, study_results):
    assert sorted(differences(read_golden(name), study_answers(study_results(name)))) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_study_says_its_golden_words(name, study_results):
    """Where they were changed on purpose: read the difference, then tests/support/golden.py RESULTS --write-words."""
    assert word_differences(name, study_words(study_results(name))) == []
