"""Equal wishes share a pool, others do not; ids of tickets lead to their bucket and tell nothing else."""

import pytest

from services.matchmaking.keys import ALL_BUCKETS, bucket_of_ticket, request_key
from services.matchmaking.pools import Pool

POOL = Pool("camelot", 5, (("evil", "easy"), ("traitor", "maybe")), 2**64 - 1)


def test_a_pool_survives_its_encoding() -> None:
    for pool in (POOL, Pool("underdark", 2, (), None)):
        again = Pool.decode(pool.encoded)
        assert again == pool
        assert (again.id, again.bucket) == (pool.id, pool.bucket)


@pytest.mark.parametrize(
    "other",
    [
        Pool("underdark", 5, POOL.options, POOL.seed),
        Pool("camelot", 4, POOL.options, POOL.seed),
        Pool("camelot", 5, (("evil", "hard"), ("traitor", "maybe")), POOL.seed),
        Pool("camelot", 5, POOL.options, 0),
        Pool("camelot", 5, POOL.options, None),
    ],
)
def test_other_wishes_have_other_pools(other: Pool) -> None:
    assert other.id != POOL.id


def test_all_keys_of_a_bucket_share_its_tag() -> None:
    for bucket in ALL_BUCKETS:
        names = (bucket.arrivals, bucket.due, bucket.ticket("a"), bucket.claim("b"), bucket.queue("c"))
        assert {name.partition(":")[0] for name in (*names, bucket.deadlines("c"))} == {f"{{m{bucket.number}}}"}


def test_a_ticket_is_found_by_its_id() -> None:
    for bucket in ALL_BUCKETS:
        ids = {bucket.new_ticket_id() for _ in range(100)}
        assert len(ids) == 100
        assert all(bucket_of_ticket(ticket_id) == bucket and len(ticket_id) <= 64 for ticket_id in ids)


@pytest.mark.parametrize("other", ["", "m3", "m3-", "m16-" + "a" * 43, "m-1-" + "a" * 43, "m3-" + "a" * 42 + "}"])
def test_what_is_not_a_tickets_id_leads_nowhere(other: str) -> None:
    assert bucket_of_ticket(other) is None


def test_a_request_is_not_kept_under_its_own_name() -> None:
    assert "secret-request-id" not in request_key("secret-request-id")
    assert request_key("one") != request_key("another")
