"""Addresses of stores: which are refused, and what is shown of them."""

import pytest

from services.runtime.servers import servers_at
from services.runtime.store_url import check_store_url, mask_url

WELL_FORMED = {
    "redis://h": "redis://h",
    "redis://:SECRET@h:6390/0": "redis://***@h:6390/0",
    "redis://:SEC%2FRET%23@h:6390/0": "redis://***@h:6390/0",
    "redis://SECRET@h": "redis://***@h",
    "redis://:SEC@RET@h:1/": "redis://***@h:1/",
    "redis://[::1]:6390/3": "redis://[::1]:6390/3",
    "rediss://h:1?username=SECRET&password=SECRET&ssl_ca_certs=ca.pem": "rediss://h:1?***",
    "unix:///run/store.sock?db=2&password=SECRET": "unix:///run/store.sock?***",
    "unix://:SECRET@/run/store.sock": "unix://***@/run/store.sock",
    "redis+cluster://:SECRET@a:1,[::1]:2": "redis+cluster://***@a:1,[::1]:2",
    "rediss+cluster://a:1/0": "rediss+cluster://a:1/0",
}

MALFORMED = {
    "foo": "no scheme",
    "http://x": "no scheme",
    "REDIS://h": "no scheme",
    "user:SECRET@h": "no scheme",
    "redis:user:SECRET@h": "no scheme",
    "//:SECRET@h": "no scheme",
    "SECRET": "no scheme",
    "redis://": "host",
    "redis:///0": "host",
    "redis://[bad": "host",
    "redis://[bad]:1": "host",
    "redis://:SEC/RET@h:6390/0": "host",
    "redis://:SEC?RET@h:6390/0": "host",
    "redis://:12/SECRET@h": "host",
    "redis://u:12/SECRET@h": "database",
    "redis://u:12?SECRET@h": "options",
    "redis://:SEC#RET@h:6390/0": "fragment",
    "redis://h#SECRET": "fragment",
    "redis://h:SECRET": "host",
    "redis://h:99999": "port",
    "redis://h:0": "port",
    "redis://a:1,b:2": "host",
    "redis://h/notadb": "database",
    "redis://h?SECRET=1": "an option is none of db, password, username",
    "redis://h?db=SECRET": "db",
    "redis://h?ssl_ca_certs=SECRET": "option",
    "redis://:SECRET@h 1": "characters",
    "redis://:SECRET@h\n": "characters",
    "redis://:SECRET\u2100@h": "characters",
    "unix://SECRET/run/store.sock": "socket",
    "unix://": "socket",
    "redis+cluster://": "host",
    "redis+cluster://a": "port",
    "redis+cluster://a:1,,b:2": "host",
    "redis+cluster://a:1/3": "database 0",
    "redis+cluster://a:1?password=SECRET": "options",
}


@pytest.mark.parametrize(("url", "shown"), WELL_FORMED.items())
async def test_an_address_that_the_client_understands_is_shown_without_its_secrets(url: str, shown: str) -> None:
    check_store_url(url)
    servers_at(url)
    assert mask_url(url) == shown


@pytest.mark.parametrize(("url", "fault"), MALFORMED.items())
def test_a_malformed_address_is_refused_and_nothing_of_it_is_shown(url: str, fault: str) -> None:
    with pytest.raises(ValueError, match=fault) as refusal:
        check_store_url(url)
    assert "SEC" not in str(refusal.value)
    assert "RET" not in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert mask_url(url) == "***"
