"""Files over HTTP from a real server: tries, time-outs, faults of the answer, and the copies kept."""

import hashlib
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
from price_server import Answer, serving
from sweetspot.catalogues import downloads as module
from sweetspot.catalogues.downloads import Downloads, public_url
from sweetspot.errors import UserError

BODY = b"instance,per_hour\np3.2xlarge,3.06\n"
DAY = datetime(2026, 11, 22, 12, 0, tzinfo=UTC)


@pytest.fixture
def server():
    with serving() as found:
        found.routes["/a.csv"] = Answer(BODY)
        yield found


@pytest.fixture
def slept() -> list[float]:
    return []


@pytest.fixture
def net(tmp_path, slept) -> Downloads:
    return Downloads(tmp_path / "cache", sleep=slept.append, now=lambda: DAY, timeouts_s=(2.0, 0.3))


def test_a_file_is_fetched_with_its_day_and_checksum(server, net):
    server.routes["/a.csv"] = Answer(BODY, headers={"Last-Modified": "Mon, 06 Jul 2026 23:30:00 GMT"})
    found = net.get(f"{server.url}/a.csv", "CSV")
    assert found.path.read_bytes() == BODY
    assert found.sha256 == hashlib.sha256(BODY).hexdigest()
    assert (found.fetched, found.modified, found.cached) == (DAY, date(2026, 7, 6), False)
    assert str(found).startswith(f"{server.url}/a.csv, 2026-11-22 12:00 UTC, sha256 ")


def test_the_file_is_asked_for_as_it_is(server, net):
    """Of a gzipped answer nobody can see that it stops before its end."""
    net.get(f"{server.url}/a.csv", "CSV")
    assert server.agents[0]["Accept-Encoding"] == "identity"


@pytest.mark.parametrize(
    ("answer", "tries", "told"),
    [
        (Answer(b"", 429), 4, "answers 429 in 4 tries; try again later"),
        *[(Answer(b"", code), 4, f"answers {code} in 4 tries") for code in (408, 500, 502, 503, 504)],
        (Answer(BODY, cut=10), 4, "cannot be fetched .* in 4 tries"),
        (Answer(BODY, wait_s=0.6), 4, "cannot be fetched .* in 4 tries"),
        (Answer(b"gone", 404), 1, r"answers 404 \(Not Found\); expected a file"),
        (Answer(b"", 403), 1, r"answers 403"),
        (Answer(b"  \n<!DOCTYPE html><p>Sign in"), 1, "answers a web page; expected CSV"),
        (Answer(b" \n"), 1, "answers nothing; expected CSV"),
    ],
)  # fmt: skip
def test_a_fault_ends_in_a_sentence_and_leaves_no_file(server, net, slept, answer, tries, told):
    server.routes["/a.csv"] = answer
    with pytest.raises(UserError, match=told) as error:
        net.get(f"{server.url}/a.csv", "CSV")
    assert str(error.value).startswith(f"{server.url}/a.csv: ")
    assert len(server.asked) == tries
    assert slept == [1.0, 2.0, 4.0, 8.0][: tries if tries > 1 else 0]
    assert list(net.folder.glob("*")) == []


def test_nobody_there_and_no_address(net):
    with pytest.raises(UserError, match=r"cannot be fetched .* in 4 tries"):
        net.get("http://127.0.0.1:9/a.csv", "CSV")
    with pytest.raises(UserError, match="is no address"):
        net.get("http://", "CSV")


def test_more_bytes_than_a_catalogue_has_are_refused(server, net):
    server.routes["/a.csv"] = Answer(b"x" * 2000)
    with pytest.raises(UserError, match="more than 1,000 bytes"):
        net.get(f"{server.url}/a.csv", "CSV", size_limit=1000)
    assert list(net.folder.glob("*")) == []
    assert net.get(f"{server.url}/a.csv", "CSV", size_limit=2000).path.stat().st_size == 2000


def test_an_address_longer_than_a_file_name_has_a_copy(server, net):
    server.routes[f"/{'d' * 300}.csv"] = Answer(BODY)
    assert net.get(f"{server.url}/{'d' * 300}.csv", "CSV").path.read_bytes() == BODY


def test_a_proxy_of_the_environment_is_asked(server, net, monkeypatch):
    """The server plays the proxy: it gets the whole address of a host that does not exist."""
    for name in ("NO_PROXY", "no_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("http_proxy", server.url)
    server.routes["/b.csv"] = Answer(BODY)
    assert net.get("http://prices.invalid/b.csv", "CSV").path.read_bytes() == BODY
    assert server.asked == ["http://prices.invalid/b.csv"]


def test_offline_takes_the_copy_and_asks_nobody(server, net):
    net.get(f"{server.url}/a.csv", "CSV")
    later = Downloads(net.folder, offline=True, now=lambda: DAY + timedelta(days=40))
    found = later.get(f"{server.url}/a.csv", "CSV")
    assert (found.cached, found.fetched, found.path.read_bytes()) == (True, DAY, BODY)
    assert str(found).endswith("(from the cache)")
    assert len(server.asked) == 1
    with pytest.raises(UserError, match=r"no copy is in .*, and --offline fetches nothing"):
        later.get(f"{server.url}/other.csv", "CSV")


def test_a_fresh_copy_is_taken_and_an_old_one_is_named_where_the_server_fails(server, net):
    net.reuse = timedelta(hours=1)
    net.get(f"{server.url}/a.csv", "CSV")
    assert net.get(f"{server.url}/a.csv", "CSV").cached
    server.routes["/a.csv"] = Answer(b"", 503)
    net.now = lambda: DAY + timedelta(hours=2)
    with pytest.raises(UserError, match=r"answers 503 .*\(--offline takes the copy of 2026-11-22\)"):
        net.get(f"{server.url}/a.csv", "CSV")
    assert Downloads(net.folder, offline=True).get(f"{server.url}/a.csv", "CSV").path.read_bytes() == BODY


def test_what_may_be_a_secret_of_an_address_is_kept_nowhere(server, net):
    url = f"{server.url.replace('//', '//me:hunter2@')}/a.csv?token=s3cret"
    found = net.get(url, "CSV")
    assert public_url(url) == f"{server.url}/a.csv"
    for text in (str(found), *(file.name for file in net.folder.iterdir())):
        assert "hunter2" not in text and "s3cret" not in text
    server.routes["/a.csv"] = Answer(b"", 404)
    with pytest.raises(UserError) as error:
        net.get(url, "CSV")
    assert "hunter2" not in str(error.value) and "s3cret" not in str(error.value)


def test_the_cache_is_the_users(monkeypatch, tmp_path):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert module.cache_folder() == tmp_path / "sweetspot" / "catalogues"
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert module.cache_folder() == Path.home() / ".cache" / "sweetspot" / "catalogues"
