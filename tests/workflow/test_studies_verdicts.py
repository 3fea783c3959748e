"""The five studies' claims together: verdicts counted apart, one sentence of reason each, the READMEs the same."""

import re

import pytest
from study_tables import STUDIES, study_tables

# Holds, contradicted by the source's own figures, differs with stand-ins, cannot be checked; rows without a verdict.
COUNTS = {
    "parkopedia-2018": (78, 8, 6, 4, 2),
    "woolf-2017": (90, 3, 0, 3, 3),
    "rare-2018": (23, 0, 0, 4, 19),
    "cheap-cron-2018": (12, 1, 0, 1, 5),
    "initialized-2017": (7, 0, 0, 8, 3),
}
VERDICTS = ("holds", "contradicted", "differs", "cannot be checked", "not printed")
# As the READMEs say it, in this order and only where there are any.
WORDS = (r"(\d+) holds?", r"(\d+)\s(?:is|are)\scontradicted", r"(\d+) differ", r"(\d+) cannot\sbe\schecked")


@pytest.mark.parametrize("study", COUNTS)
def test_each_claim_has_a_verdict_and_one_sentence_of_reason(study):
    claims = study_tables(study).claims
    assert [int((claims["verdict"] == verdict).sum()) for verdict in VERDICTS] == list(COUNTS[study])
    assert len(claims) == sum(COUNTS[study])
    reasons = claims["reason"]
    assert reasons.str.len().gt(0).all()
    assert not reasons.str.contains(r"\. [A-Z]").any(), reasons[reasons.str.contains(r"\. [A-Z]")].tolist()


@pytest.mark.parametrize("study", COUNTS)
def test_what_is_refuted_rests_on_the_source_alone_and_says_why(study):
    claims = study_tables(study).claims
    refuted, differing = (claims[claims["verdict"] == verdict] for verdict in ("contradicted", "differs"))
    assert set(refuted["rests_on"]) <= {"the source's own figures"}
    assert "the source's own figures" not in set(differing["rests_on"])
    written = (STUDIES / study / "claims.yaml").read_text()
    for claim in refuted.index:  # by hand: nothing is refuted in a generated sentence
        assert re.search(rf"(?ms)^- id: {re.escape(claim)}$.*?^  reason: ", written), claim


@pytest.mark.parametrize("study", COUNTS)
def test_the_manual_counts_the_same(study):
    manual = (STUDIES.parent.parent / "docs" / "studies.md").read_text()
    row = re.search(rf"(?m)^\| `{study}` \|((?: \d+ \|){{5}})$", manual)
    assert row is not None
    assert tuple(map(int, re.findall(r"\d+", row[1]))) == COUNTS[study]


@pytest.mark.parametrize("study", COUNTS)
def test_the_readme_counts_the_same(study):
    text = (STUDIES / study / "README.md").read_text()
    told = re.search(r"Of\s(\d+)\sclaims\s[^;.]*", text)
    assert told is not None
    *counts, _ = COUNTS[study]
    assert int(told[1]) == sum(counts)
    for words, count in zip(WORDS, counts, strict=True):
        found = re.search(words, told[0])
        assert (int(found[1]) if found else 0) == count, (words, told[0])
