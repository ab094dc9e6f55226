"""The generator against an independent reading of its description, and against numbers worked out with that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from hashlib import blake2b

import pytest

from engine.core.chance import Chance, Seed

SECRET = bytes(range(32))
CONTRIBUTIONS = (b"", b"moon", bytes(32))


def described_key(secret: bytes, contributions: tuple[bytes, ...]) -> bytes:
    told = b"".join(bytes([len(each)]) + each for each in contributions)
    return blake2b(told, key=secret, digest_size=32, person=b"roundtable-key").digest()


def described_words(key: bytes) -> Iterator[int]:
    block = 0
    while True:
        digest = blake2b(block.to_bytes(8, "little"), key=key, digest_size=64).digest()
        yield from (int.from_bytes(digest[place : place + 4], "little") for place in range(0, 64, 4))
        block += 1


def described_below(words: Iterator[int], bound: int) -> int:
    if bound == 1:
        return 0
    largest = 2**32 // bound * bound
    return next(word for word in words if word < largest) % bound


def test_numbers_are_those_of_the_description() -> None:
    bounds = [2, 3, 8, 1, 76, 84, 2**32, 3 * 2**30, 2**31 + 1, 1000] * 40
    chance = Chance(Seed(SECRET, CONTRIBUTIONS))
    words = described_words(described_key(SECRET, CONTRIBUTIONS))
    assert [chance.below(bound) for bound in bounds] == [described_below(words, bound) for bound in bounds]


def test_skipped_words_are_used_up() -> None:
    chance = Chance(Seed(SECRET))
    for _ in range(100):
        chance.below(2**31 + 1)
    words = described_words(described_key(SECRET, ()))
    taken = [place for place, word in zip(range(300), words, strict=False) if word < 2**31 + 1]
    assert chance.used == taken[99] + 1
    assert chance.used > 150


def test_a_number_below_one_uses_no_word() -> None:
    chance = Chance(Seed(SECRET))
    assert chance.below(1) == 0
    assert chance.used == 0


def test_a_shuffle_swaps_from_the_last_place_down() -> None:
    words = described_words(described_key(SECRET, ()))
    described = list(range(30))
    for place in range(29, 0, -1):
        other = described_below(words, place + 1)
        described[place], described[other] = described[other], described[place]
    items = list(range(30))
    Chance(Seed(SECRET)).shuffle(items)
    assert items == described
    assert sorted(items) == list(range(30))


def test_a_choice_is_the_item_at_the_next_number() -> None:
    items = "abcdefg"
    words = described_words(described_key(SECRET, ()))
    chance = Chance(Seed(SECRET))
    assert [chance.choice(items) for _ in range(20)] == [items[described_below(words, 7)] for _ in range(20)]


def test_a_die_shows_each_side_about_equally_often() -> None:
    chance = Chance(Seed.fixed(1))
    rolls = Counter(chance.die(8) for _ in range(8000))
    assert sorted(rolls) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert all(850 < number < 1150 for number in rolls.values())


@pytest.mark.parametrize("used", [0, 1, 15, 16, 17, 100])
def test_a_place_in_the_numbers_is_found_again(used: int) -> None:
    through = Chance(Seed(SECRET))
    for _ in range(used):
        through.below(2**32)
    again = Chance(Seed(SECRET), used)
    assert [again.below(2**32) for _ in range(40)] == [through.below(2**32) for _ in range(40)]


def test_published_vectors() -> None:
    """Anyone who writes the generator again can compare with these."""
    seed = Seed(SECRET, CONTRIBUTIONS)
    assert seed.commitment().hex() == "cb2f5160fc1f7e05a55ef49d340b48da2e5a78099d53393351cd579dd42503d6"
    assert seed.key().hex() == "4ff721d6958e28f25dd7b5bc6e9407fc07c6584b3558ffda4e9f9080121f508d"
    chance = Chance(seed)
    assert [chance.below(2**32) for _ in range(4)] == [1253588468, 913718844, 2587234436, 1514843996]
    assert [chance.die(8) for _ in range(8)] == [7, 1, 1, 6, 5, 7, 6, 2]
    items = list(range(10))
    chance.shuffle(items)
    assert items == [6, 0, 8, 3, 9, 4, 5, 7, 1, 2]


def test_the_commitment_is_the_hash_of_the_secret_alone() -> None:
    assert Seed(SECRET).commitment() == blake2b(SECRET, digest_size=32).digest()
    assert Seed(SECRET, CONTRIBUTIONS).commitment() == Seed(SECRET).commitment()


def test_contributions_count_in_seat_order_and_each_by_its_length() -> None:
    keys = {
        Seed(SECRET, contributions).key()
        for contributions in ((), (b"",), (b"a", b"b"), (b"b", b"a"), (b"ab", b""), (b"", b"ab"), (b"ab",))
    }
    assert len(keys) == 7


def test_a_fixed_seed_is_repeatable_and_says_that_it_is_not_verifiable() -> None:
    assert Seed.fixed(7) == Seed.fixed(7)
    assert Seed.fixed(7) != Seed.fixed(8)
    assert not Seed.fixed(7).verifiable
    assert len(Seed.fixed(7).secret) == 32
    assert Seed(SECRET).verifiable


def test_the_key_of_the_history_is_another_than_that_of_chance() -> None:
    assert Seed(SECRET).history_key() != Seed(SECRET).key()
