"""Each shipped study answers what was frozen, in the words that were read."""

import pytest
from golden import GOLDEN, differences, read_golden, study_answers, study_words, word_differences
from study_tables import STUDIES

NAMES = sorted(folder.name for folder in STUDIES.iterdir() if (folder / "study.yaml").is_file())


def test_each_study_has_golden_answers():
    assert [[file.stem for file in sorted(GOLDEN.glob(f"*.{end}"))] for end in ("json", "txt")] == [NAMES, NAMES]


def test_differences_name_what_is_missing_new_or_off_by_more_than_a_millionth():
    expected = {"rent": {"usd": 100.0}, "spot": {"usd": 100.0}, "buy": {"usd": 5.0}}
    found = list(differences(expected, {"rent": {"usd": 100.00009}, "spot": {"usd": 100.0002}, "mix": {"usd": 5.0}}))
    assert sorted(found) == ["buy: is missing", "mix: is new", "spot / usd: 100.0 became 100.0002"]


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_study_gives_its_golden_answers_in_its_golden_words(name, study_results):
    """Where words were changed on purpose: read the difference, then tests/support/golden.py RESULTS --write-words."""
    assert sorted(differences(read_golden(name), study_answers(study_results(name)))) == []
    assert word_differences(name, study_words(study_results(name))) == []
