"""`sweetspot refresh-prices --stock` against a real local server with real rows: what is appended, what is refused."""

import re
from functools import partial

import pytest
from price_refresh import DATA, NOW, STUDY, contents, refresh
from price_server import Answer, gzipped
from sweetspot.catalogues.downloads import Downloads
from sweetspot.commands import refresh_prices
from sweetspot.commands.command_line import main
from sweetspot.errors import UserError
from sweetspot.study.stock import looks_file, read_looks

SHADEFORM = (DATA / "skypilot" / "shadeform_2026.csv").read_bytes()
PROVIDERS = ("lambda", "nebius", "crusoe", "digitalocean")
# As Lambda documents it: a type, and the regions that have one.
LAMBDA = b"""{"data": {
  "gpu_8x_h100_sxm5": {"instance_type": {"name": "gpu_8x_h100_sxm5", "price_cents_per_hour": 2392},
    "regions_with_capacity_available": [{"name": "us-east-1", "description": "Virginia, USA"}]},
  "gpu_8x_b200_sxm6": {"instance_type": {"name": "gpu_8x_b200_sxm6", "price_cents_per_hour": 3992},
    "regions_with_capacity_available": []}}}"""


@pytest.fixture
def server(server, monkeypatch):
    monkeypatch.delenv("LAMBDA_API_KEY", raising=False)
    server.routes["/shadeform/vms.csv"] = Answer(SHADEFORM)
    return server


def looks(config, study=STUDY):
    return read_looks(looks_file(config / "studies" / study))


def stock(config, server, *given, providers=PROVIDERS, study=STUDY):
    refresh(config, server, "--stock", *given, providers=providers, study=study)


def there(found):
    return {(look.provider, look.gpu, look.gpus) for look in found if look.in_stock}


def test_what_is_listed_is_in_stock_and_what_is_not_is_none(config, server, capsys):
    before = contents(config)
    stock(config, server)
    found = looks(config)
    # The file has 8 x H100 of DigitalOcean and Nebius and 8 x H200 of Nebius; Lambda's are of 1 and 4 devices.
    assert there(found) == {("digitalocean", "H100 SXM", 8), ("nebius", "H100 SXM", 8), ("nebius", "H200 SXM", 8)}
    gone = {(look.provider, look.gpu) for look in found if not look.in_stock}
    assert {("lambda", "H100 SXM"), ("nebius", "B300 SXM"), ("crusoe", "H100 SXM")} <= gone
    assert {(str(look.as_of), look.purchase, look.gpus) for look in found} == {("2026-11-22", "on_demand", 8)}
    assert re.fullmatch(r"SkyPilot's catalogue, shadeform/vms.csv of 2026-11-22, sha256 [0-9a-f]{12}", found[0].source)
    told = capsys.readouterr().out
    assert "nebius 8 x H200 SXM (on_demand): in stock; on 1 of the last 1 days of looks" in told
    assert "lambda 8 x H100 SXM (on_demand): not listed, and never was: no look of it counts" in told
    assert f"3 of {len(found)} are in stock; {len(found)} new looks, {len(found)} in all" in told
    # Prices stay as they are.
    assert {name for name in contents(config) if contents(config)[name] != before.get(name)} == {
        f"studies/{STUDY}/prices/history/stock.csv"
    }


def test_looks_are_appended_and_the_same_file_is_one_look(config, server, capsys):
    stock(config, server)
    first = looks(config)
    stock(config, server)
    assert looks(config) == first and "nothing is new" in capsys.readouterr().out
    without = b"".join(line for line in SHADEFORM.splitlines(True) if b"nebius_H200" not in line)
    server.routes["/shadeform/vms.csv"] = Answer(without, headers={"Last-Modified": "Mon, 23 Nov 2026 03:00:00 GMT"})
    stock(config, server)
    assert looks(config)[: len(first)] == first and len(looks(config)) == 2 * len(first)
    assert "nebius 8 x H200 SXM (on_demand): none; on 1 of the last 2 days of looks" in capsys.readouterr().out


def test_a_dry_run_and_a_study_whose_machines_no_catalogue_lists_write_nothing(config, server, capsys):
    before = contents(config)
    stock(config, server, "--dry-run")
    stock(config, server, providers=("aws",))
    told = capsys.readouterr().out
    assert contents(config) == before and "nothing is written (--dry-run)" in told
    assert re.search(r"no catalogue says what is in stock: \d+ kinds of machine of aws", told)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(b"<html>portal</html>"), "answers a web page .*; expected a CSV file of SkyPilot's catalogue"),
        (Answer(b"", 404), "answers 404 .*; expected a file"),
        (Answer(b"", 503), "answers 503 in 4 tries; try again later"),
        (Answer(b""), "the answer is empty; expected a CSV file"),
        (Answer(SHADEFORM, cut=100), "the answer stops before its end"),
        (gzipped(SHADEFORM, cut=9), "the gzipped answer is not whole"),
        (Answer(SHADEFORM[:-200]), "the file may be cut off|not CSV in UTF-8"),
        (Answer(SHADEFORM[: SHADEFORM.index(b"nebius_H200") + 20]), "not as many fields .* nothing is said of stock"),
        (Answer(SHADEFORM.split(b"\n")[0] + b"\n"), "holds no price at all; nothing is written"),
        (Answer(SHADEFORM.replace(b"InstanceType", b"Type")), "column 'InstanceType' is missing"),
        (Answer(SHADEFORM, headers={"Last-Modified": "Fri, 06 Feb 2099 03:00:00 GMT"}), "of a day to come"),
        (Answer(b'{"error": "rate limited"}'), "column 'InstanceType' is missing"),
    ],
)
def test_an_answer_that_is_none_ends_in_one_sentence_and_writes_nothing(config, server, answer, told):
    server.routes["/shadeform/vms.csv"] = answer
    before = contents(config)
    with pytest.raises(UserError, match=told) as found:
        stock(config, server)
    assert contents(config) == before and len(found.value.sentences) == 1


def test_a_provider_of_no_offer_is_one_sentence(config, server):
    with pytest.raises(UserError, match=r"--provider is .nebuis.; expected some of aws, .*nebius"):
        stock(config, server, providers=("nebuis",))


def test_a_damaged_history_ends_the_command_and_stays(config, server):
    file = looks_file(config / "studies" / STUDY)
    file.parent.mkdir()
    file.write_text("as_of,provider\n")
    with pytest.raises(UserError, match="expected the columns as_of,provider,gpu"):
        stock(config, server)
    assert file.read_text() == "as_of,provider\n"


def with_key(config, server, monkeypatch):
    monkeypatch.setenv("LAMBDA_API_KEY", "secret-of-mine")
    mirrors = [f"skypilot={server.url}", f"lambda={server.url}/api/v1"]
    where = ["--config", str(config), "--cache", str(config.parent / "cache"), "--reuse-hours", "0"]
    main(["refresh-prices", STUDY, *where, "--mirror", *mirrors, "--provider", "lambda", "nebius", "--stock"])


def test_lambdas_own_interface_goes_before_a_catalogue_and_the_key_is_nowhere_kept(config, server, monkeypatch):
    server.routes["/api/v1/instance-types"] = Answer(LAMBDA)
    with_key(config, server, monkeypatch)
    found = [look for look in looks(config) if look.provider == "lambda"]
    assert {(look.gpu, look.in_stock) for look in found} == {("H100 SXM", True), ("B200 SXM", False)}
    assert {look.source for look in found} == {"Lambda's interface, 2026-11-22 12:00 UTC"}
    sent = [agent["Authorization"] for agent in server.agents if "Authorization" in agent]
    assert sent == ["Bearer secret-of-mine"]
    kept = [file for file in config.parent.rglob("*") if file.is_file() and b"secret-of-mine" in file.read_bytes()]
    assert kept == []


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (Answer(b'{"error": {"code": "global/invalid-api-key"}}', 401), "answers 401 .*; expected a file"),
        (Answer(b'{"data": []}'), "has no types with 'regions_with_capacity_available'; expected Lambda's"),
        (Answer(LAMBDA.replace(b"regions_with_capacity_available", b"regions")), "expected Lambda's instance types"),
        (Answer(LAMBDA[:200]), "expected Lambda's instance types"),
        (Answer(b"<!doctype html>"), "answers a web page .*; expected Lambda's instance types as JSON"),
    ],
)
def test_another_answer_of_lambda_is_one_sentence_without_the_key(config, server, monkeypatch, answer, told):
    server.routes["/api/v1/instance-types"] = answer
    before = contents(config)
    with pytest.raises(UserError, match=told) as found:
        with_key(config, server, monkeypatch)
    assert contents(config) == before and "secret" not in str(found.value)


def test_without_network_the_file_of_before_serves_and_is_no_second_look(config, server, monkeypatch):
    stock(config, server)
    first = looks(config)
    later = NOW.replace(day=24)
    monkeypatch.setattr(refresh_prices, "Downloads", partial(Downloads, sleep=lambda _: None, now=lambda: later))
    stock(config, server, "--offline")
    assert looks(config) == first
