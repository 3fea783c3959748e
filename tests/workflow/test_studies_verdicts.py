"""The five studies' claims together: verdicts counted apart, one sentence of reason each, the READMEs the same."""

import re

import pytest
from study_tables import STUDIES, study_tables

# Holds, contradicted by the source's own figures, differs with stand-ins, cannot be checked; rows without a verdict.
COUNTS = {
    "parkopedia-2018": (75, 8, 10, 5, 2),
    "woolf-2017": (81, 3, 0, 4, 3),
    "rare-2018": (25, 0, 0, 6, 20),
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


# What the manual's first table says is contradicted, and the claims that it speaks of.
SAID = {
    "parkopedia-2018": {
        "1.30 USD an hour": ["box-hour"],
        'the word "discount"': ["spot-share-called-discount"],
        "n1-standard-4 at 0.04": ["gce-1xk80-price"],
        "GCE_8xK80 the cheapest cloud": ["gce-8xk80-cheapest-persistent-cloud"],
        "four pairs of ratios and days": ["twice-and-36-percent", "gains-over-p3-fit-together",
                                          "twice-as-cheap-as-gce-8xk80", "break-even-cheapest-spot"],
    },
    "woolf-2017": {
        '"about 7x" is 6.4x': ["bilstm-than-it-once-was"],
        "preemptible GPUs do not always beat CPUs": ["preemptible-gpus-ahead-of-cpus"],
        "two prices stand the wrong way round": ["preemptible-prices-in-printed-order"],
    },
    "rare-2018": {"nothing": []},
    "cheap-cron-2018": {"the functions line by the words of the text": ["functions-text"]},
    "initialized-2017": {"nothing": []},
}  # fmt: skip
FIGURES = [  # of the same rows
    ("parkopedia-2018", "box-hour", "printed", "1.30 USD"),
    ("woolf-2017", "bilstm-than-it-once-was", "printed", "about 7x"),
    ("woolf-2017", "bilstm-than-it-once-was", "computed", "6.4x"),
    ("rare-2018", "cost-aws-p3.2xlarge", "printed", "3.3 "),
    ("rare-2018", "cost-aws-p3.2xlarge", "computed", "3.24"),
    ("initialized-2017", "gpu-plus-cost-adjusted", "printed", "2.7x"),
    ("initialized-2017", "gpu-plus-cost-adjusted", "computed", "2.59x"),
]


def row_of_the_manual(study):
    manual = (STUDIES.parent.parent / "docs" / "studies.md").read_text()
    found = re.search(rf"(?m)^\| `{study}`.*\| (.*) \|$", manual)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("study", COUNTS)
def test_the_manual_names_what_is_contradicted(study):
    claims, row = study_tables(study).claims, row_of_the_manual(study)
    assert all(words in row for words in SAID[study]), row
    assert set(claims.index[claims["verdict"] == "contradicted"]) == set().union(*SAID[study].values())
    numbers = {"eight": "contradicted", "ten": "differs"}
    told = {verdict: word for word, verdict in numbers.items() if re.search(rf"\b{word}\b", row)}
    assert told == ({"contradicted": "eight", "differs": "ten"} if study == "parkopedia-2018" else {})


@pytest.mark.parametrize(("study", "claim", "column", "words"), FIGURES)
def test_the_manuals_figures_are_those_of_the_claims(study, claim, column, words):
    assert words in row_of_the_manual(study)
    value = re.search(r"[\d.]+", words)
    assert value is not None
    digits = len(value[0].partition(".")[2])
    assert round(study_tables(study).claims.loc[claim, column], digits) == float(value[0])


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
