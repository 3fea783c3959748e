"""Files over HTTP from a real server: faults of the answer, time-outs, the day and the checksum."""

import hashlib
from datetime import date

import pytest
from price_server import Answer, serving
from sweetspot.catalogues import downloads
from sweetspot.catalogues.downloads import download, public_url
from sweetspot.errors import UserError

BODY = b"instance,per_hour\np3.2xlarge,3.06\n"
DAY = date(2026, 11, 22)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(downloads, "current_day", lambda: DAY)
    monkeypatch.setattr(downloads, "TIMEOUTS_S", (2.0, 0.3))
    with serving() as found:
        found.routes["/a.csv"] = Answer(BODY)
        yield found


def test_a_file_is_fetched_with_its_day_and_checksum(server):
    plain = download(f"{server.url}/a.csv", "CSV")
    assert (plain.content, plain.day) == (BODY, DAY)
    assert plain.sha256 == hashlib.sha256(BODY).hexdigest()[:12]
    for changed, day in (("Mon, 06 Jul 2026 23:30:00 GMT", date(2026, 7, 6)), ("soon", DAY)):
        server.routes["/a.csv"] = Answer(BODY, headers={"Last-Modified": changed})
        assert download(f"{server.url}/a.csv", "CSV").day == day
    # Of a gzipped answer nobody can see that it stops before its end.
    assert server.agents[0]["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    ("answer", "fault"),
    [
        (Answer(b"", 429), "answers 429"),
        (Answer(b"gone", 404), r"answers 404 \(Not Found\); expected CSV"),
        (Answer(BODY, cut=10), "cannot be fetched"),
        (Answer(BODY, wait_s=0.6), "cannot be fetched"),
        (Answer(b"  \n<!DOCTYPE html><p>Sign in"), "answers a web page; expected CSV"),
        (Answer(b" \n"), "answers nothing; expected CSV"),
    ],
)
def test_a_fault_ends_in_a_sentence(server, answer, fault):
    server.routes["/a.csv"] = answer
    with pytest.raises(UserError, match=fault) as error:
        download(f"{server.url}/a.csv", "CSV")
    assert str(error.value).startswith(f"{server.url}/a.csv: ")


@pytest.mark.parametrize("url", ["http://127.0.0.1:9/a.csv", "http://"])
def test_nobody_there_and_no_address(url):
    with pytest.raises(UserError, match="cannot be fetched"):
        download(url, "CSV")


def test_what_may_be_a_secret_of_an_address_is_kept_nowhere(server):
    url = f"{server.url.replace('//', '//me:hunter2@')}/a.csv?token=s3cret"
    assert public_url(url) == download(url, "CSV").address == f"{server.url}/a.csv"
    server.routes["/a.csv"] = Answer(b"", 404)
    with pytest.raises(UserError) as error:
        download(url, "CSV")
    assert "hunter2" not in str(error.value) and "s3cret" not in str(error.value)
