"""The five studies' claims together: what is refuted rests on the source alone, and the documents count the same."""

import re

import pytest
from study_tables import STUDIES, study_tables

PAPERS = ("parkopedia-2018", "woolf-2017", "rare-2018", "cheap-cron-2018", "initialized-2017")
VERDICTS = ("holds", "contradicted", "differs", "cannot be checked", "not printed")


def counts(study):
    """How many claims have each verdict."""
    verdicts = study_tables(study).claims["verdict"]
    return [int((verdicts == verdict).sum()) for verdict in VERDICTS]


@pytest.mark.parametrize("study", PAPERS)
def test_what_is_refuted_rests_on_the_source_alone_and_says_why(study):
    claims = study_tables(study).claims
    refuted, differing = (claims[claims["verdict"] == verdict] for verdict in ("contradicted", "differs"))
    assert set(refuted["rests_on"]) <= {"the source's own figures"}
    assert "the source's own figures" not in set(differing["rests_on"])
    written = (STUDIES / study / "claims.yaml").read_text()
    for claim in refuted.index:  # by hand: nothing is refuted in a generated sentence
        assert re.search(rf"(?ms)^- id: {re.escape(claim)}$.*?^  reason: ", written), claim


@pytest.mark.parametrize("study", PAPERS)
def test_manual_and_readme_count_the_same(study):
    manual = (STUDIES.parent.parent / "docs" / "studies.md").read_text()
    (row,) = re.findall(rf"(?m)^\| `{study}` \|((?: \d+ \|){{5}})$", manual)
    assert [int(number) for number in re.findall(r"\d+", row)] == counts(study)
    (total,) = re.findall(r"Of\s(\d+)\sclaims\s", (STUDIES / study / "README.md").read_text())
    assert int(total) == sum(counts(study)[:4])  # a row without a printed number is no claim
