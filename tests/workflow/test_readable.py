"""What the pages of all studies say can be read by a manager: short sentences of short words."""

import re

import pytest
from readability import EASY, LONGEST, grade, sentences, syllables, words
from study_tables import STUDIES, study_tables
from sweetspot.report.evidence_text import (
    paying_in_words,
    plan_worth_in_words,
    turning_in_words,
    worth_knowing,
)
from sweetspot.report.outcome import other_work, outcome_of
from sweetspot.study.instances import load_instances
from sweetspot.study.study import load_study

STUDIES_ALL = sorted(file.parent.name for file in STUDIES.glob("*/study.yaml"))
# Not a reader's words: a reader thinks of what can be taken away, of a purchase, of the machine in question.
FOREIGN = re.compile(r"\b(possession|stays|persistent|declaration|the most|reference|headline|gain|instance)\b")
ANSWER = 35  # words of the answer itself


def names(study):
    """Titles of machines and models."""
    folder = STUDIES / study
    machines = load_instances(folder / "instances.yaml").values()
    known = load_study(folder)
    return [*(machine.title for machine in machines), *(known.model_title(model) for model in known.cells.model)]


def answers():
    """The answer of each study as docs/studies.md prints it, which a slow test holds against the page."""
    manual = (STUDIES.parent.parent / "docs" / "studies.md").read_text()
    return {study: " ".join(said.split()) for study, said in re.findall(r"(?m)^- `(.*?)`: (.*(?:\n  .*)*)", manual)}


def told(study):
    """All that the page of a study says around its answer."""
    comparison = study_tables(study, whole=True).comparison
    found = outcome_of(comparison)
    assert found is not None
    verdicts = [sentence for one in (found, *other_work(comparison)) for sentence in one.sentences()]
    of_plan = [turning_in_words(comparison), *paying_in_words(comparison), *plan_worth_in_words(comparison)]
    return " ".join([*verdicts, *of_plan, *worth_knowing(comparison)])


def test_the_measure_itself():
    # 6 and 4 words in two sentences; syllables 1 1 1 1 1 1 and 1 1 1 3: 0.39 x 5 + 11.8 x 12 / 10 - 15.59 = 0.52
    assert grade("The box is cheap and fast. It costs not a.") < grade("Its availability is questionable indeed.")
    assert grade("The cat sat on the mat. He saw an elephant.") == pytest.approx(0.52)
    assert [syllables(word) for word in ("machine", "table", "the", "1.8", "hours", "idea")] == [2, 2, 1, 1, 1, 2]
    assert sentences("Take p3.2xlarge: 1.8 times. It pays. 4.9 days.") == [
        "Take p3.2xlarge: 1.8 times.",
        "It pays.",
        "4.9 days.",
    ]
    assert len(words("62 % likely that it pays")) == 5


def test_every_study_answers_in_35_words_with_one_multiple():
    found = answers()
    assert set(found) == {folder.name for folder in STUDIES.iterdir() if (folder / "study.yaml").is_file()}
    for study, said in found.items():
        assert len(said.split()) <= ANSWER, study
        assert len(re.findall(r"times", said)) <= 1, study
        assert grade(said, names(study)) <= EASY, (study, grade(said, names(study)))


@pytest.mark.parametrize("study", STUDIES_ALL)
def test_what_a_page_says_is_easy_to_read(study):
    said = told(study)
    assert grade(said, names(study)) <= EASY
    for sentence in sentences(said):
        assert len(words(sentence)) <= LONGEST, sentence


@pytest.mark.parametrize("study", STUDIES_ALL)
def test_a_page_speaks_its_readers_words_and_no_keys(study):
    said = told(study)
    assert not FOREIGN.search(said), FOREIGN.search(said)
    # ViT-L is what people write: capitals and no underscore.
    keys = {model for model in load_study(STUDIES / study).cells.model if re.search(r"[_-]|[a-z]\d", model)}
    keys = {model for model in keys if "_" in model or model == model.lower()}
    keys |= {name for name in load_instances(STUDIES / study / "instances.yaml") if re.search(r"^[a-z0-9]+[-_]", name)}
    for key in keys:
        assert not re.search(rf"(?<![\w.-]){re.escape(key)}(?![\w.-])", said), key
