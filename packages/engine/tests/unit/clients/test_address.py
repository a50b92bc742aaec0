from __future__ import annotations

import pytest

from keyfold_engine.clients.address import AddressError, Embedded, Endpoint, Remote, parse


@pytest.mark.parametrize("path", [":memory:", "hangouts.db", "./data/x.db", "/var/lib/k.db", "C:x"])
def test_a_path_or_memory_is_the_embedded_engine(path: str) -> None:
    assert parse(path) == Embedded(path)


@pytest.mark.parametrize("name", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_a_servers_region_is_the_one_that_the_environment_names(
    monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setenv(name, "eu-central-1")
    found = parse("http://localhost:8000")
    assert isinstance(found, Remote)
    assert found.region == "eu-central-1"


@pytest.fixture(autouse=True)
def no_region(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION"):
        monkeypatch.delenv(name, raising=False)


def test_a_url_is_a_server_that_takes_any_credentials() -> None:
    endpoint = Endpoint("localhost", 8000, tls=False)
    assert parse("http://localhost:8000") == Remote(endpoint, endpoint, "us-east-1", None, False)


def test_the_default_port_is_left_out_of_the_host_header() -> None:
    found = parse("https://db.example.org")
    assert isinstance(found, Remote)
    assert found.endpoint.authority == "db.example.org"
    assert found.endpoint.port == 443


def test_an_ipv6_host_keeps_its_brackets_in_the_host_header() -> None:
    found = parse("http://[::1]:8000")
    assert isinstance(found, Remote)
    assert (found.endpoint.host, found.endpoint.authority) == ("::1", "[::1]:8000")


def test_a_region_is_amazon_with_an_endpoint_of_its_own_for_streams() -> None:
    found = parse("dynamodb://eu-west-1?profile=work")
    assert isinstance(found, Remote)
    assert found.endpoint.url == "https://dynamodb.eu-west-1.amazonaws.com"
    assert found.streams_endpoint.url == "https://streams.dynamodb.eu-west-1.amazonaws.com"
    assert (found.region, found.profile, found.is_amazon) == ("eu-west-1", "work", True)


def test_chinese_regions_have_their_own_domain() -> None:
    found = parse("dynamodb://cn-north-1")
    assert isinstance(found, Remote)
    assert found.endpoint.host == "dynamodb.cn-north-1.amazonaws.com.cn"


def test_an_endpoint_replaces_amazons_and_keeps_the_region() -> None:
    found = parse("dynamodb://eu-west-1?endpoint=http://alternator:8000")
    assert isinstance(found, Remote)
    assert (found.endpoint.url, found.region) == ("http://alternator:8000", "eu-west-1")
    assert found.streams_endpoint == found.endpoint


@pytest.mark.parametrize(
    ("address", "explanation"),
    [
        ("", "it is empty"),
        (" x.db", "surrounding spaces"),
        ("localhost:8000", "begins with http://"),
        ("127.0.0.1:8000", "begins with http://"),
        ("eu-west-1", "a region is written dynamodb://eu-west-1"),
        ("dynamodb:/eu-west-1", "after dynamodb: come two slashes"),
        ("http:localhost:8000", "after http: come two slashes"),
        ("data/", "it is a directory"),
        ("sqlite:///x.db", "without sqlite://"),
        ("redis://localhost", "redis:// is not known"),
        ("http://", "the host is missing"),
        ("http://host:99999", "the port is not a number"),
        ("http://a:b@host", "credentials do not belong"),
        ("http://host/table", "nothing may follow"),
        ("dynamodb://", "is not a region"),
        ("dynamodb://Frankfurt", "'Frankfurt' is not a region"),
        ("dynamodb://eu-west-1?profil=x", "option 'profil' is not known"),
        ("dynamodb://eu-west-1?profile=", "option 'profile' has no value"),
        ("dynamodb://eu-west-1?endpoint=host:1", "must be an http:// or https:// URL"),
    ],
)
def test_a_wrong_address_is_explained_with_the_right_forms(address: str, explanation: str) -> None:
    with pytest.raises(AddressError) as caught:
        parse(address)
    assert explanation in str(caught.value)
    assert "dynamodb://region?profile=name&endpoint=url" in str(caught.value)
