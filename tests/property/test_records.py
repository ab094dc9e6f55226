"""A record is the game that was played, to the last byte; and the games of released rules are still those games."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random

import msgspec
import pytest

from engine.camelot.pieces import FIGURES
from engine.catalogue import GAMES
from engine.core.chance import Seed
from engine.core.errors import Reason, Refusal
from engine.core.games import AnyGame
from engine.core.records import Altered, Record, to_text, verify
from tests.property.playing import every_size, random_options
from tests.records.make import FOLDER, played

KEPT = sorted(FOLDER.glob("*.json"))
CHANGES = 40


def record(game: AnyGame, seats: int, random: Random) -> Record:
    seed = Seed(random.randbytes(32), tuple(random.randbytes(random.randrange(33)) for _ in range(seats)))
    return played(game, seats, random_options(game, random), seed, random)


def refused(data: bytes) -> Altered | Refusal | None:
    try:
        verify(GAMES, data)
    except (Altered, Refusal) as refusal:
        return refusal
    return None


def first_that_differs(data: bytes) -> int:
    """The input that the refusal names, 0 if none; the record must be refused."""
    refusal = refused(data)
    if isinstance(refusal, Refusal):
        assert refusal.reason in (Reason.UNKNOWN_GAME, Reason.RULES_VERSION)
        return 0
    assert refusal is not None, "the record was accepted"
    assert (f"input {refusal.input} is the first" in str(refusal)) == bool(refusal.input)
    return refusal.input


@every_size
def test_a_record_is_verified_and_none_of_its_bytes_can_be_changed(game: AnyGame, seats: int) -> None:
    random = Random(f"records {game.id} {seats}")
    kept = record(game, seats, random)
    data = to_text(kept).encode()
    assert verify(GAMES, data).record == kept
    assert verify(GAMES, data, bytes.fromhex(kept.commitment)).record == kept
    lines = data.split(b"\n")
    begin = lines.index(b'"inputs": [')
    for _ in range(CHANGES):
        place = random.randrange(len(data))
        other = random.choice([random.randrange(256), data[place] ^ 1, data[place] ^ 0x20])
        if other != data[place]:
            number = data.count(b"\n", 0, place) - begin
            wanted = number if 0 < number <= len(kept.inputs) else None
            found = first_that_differs(data[:place] + bytes([other]) + data[place + 1 :])
            assert wanted in (None, found), (place, other)


@every_size
def test_a_changed_seed_is_refused_with_the_first_input(game: AnyGame, seats: int) -> None:
    random = Random(f"seeds {game.id} {seats}")
    kept = record(game, seats, random)
    secret = kept.secret
    for place in random.sample(range(64), 4):
        other = (
            secret[:place] + random.choice([d for d in "0123456789abcdef" if d != secret[place]]) + secret[place + 1 :]
        )
        assert first_that_differs(to_text(msgspec.structs.replace(kept, secret=other).sealed()).encode()) == 1
    for seat in range(seats):
        added = list(kept.contributions)
        added[seat] = "00" if added[seat] != "00" else ""
        changed = msgspec.structs.replace(kept, contributions=tuple(added)).sealed()
        assert first_that_differs(to_text(changed).encode()) == 1
    foreign = blake2b_of(b"another secret")
    assert first_that_differs(to_text(msgspec.structs.replace(kept, commitment=foreign).sealed()).encode()) == 0
    with pytest.raises(Altered, match="not the one of this commitment"):
        verify(GAMES, to_text(kept).encode(), bytes.fromhex(foreign))


def blake2b_of(secret: bytes) -> str:
    return Seed(secret.ljust(32)).commitment().hex()


@every_size
def test_changed_inputs_are_named_though_the_seal_is_made_anew(game: AnyGame, seats: int) -> None:
    random = Random(f"values {game.id} {seats}")
    kept = record(game, seats, random)
    for _ in range(8):
        place = random.randrange(len(kept.inputs))
        one = kept.inputs[place]
        changes = (
            {"seat": (one.seat + 1) % seats},
            {"decision": one.decision + 1},
            {"picks": (0,) if one.picks != (0,) else (1,)},
            {"kind": "default" if one.kind != "default" else "answer"},
            {"digest": one.digest[::-1]},
        )
        other = msgspec.structs.replace(one, **random.choice(changes))
        inputs = (*kept.inputs[:place], other, *kept.inputs[place + 1 :])
        found = first_that_differs(to_text(msgspec.structs.replace(kept, inputs=inputs).sealed()).encode())
        assert found == place + 1
    doubled = msgspec.structs.replace(kept, inputs=(kept.inputs[0], *kept.inputs)).sealed()
    assert first_that_differs(to_text(doubled).encode()) == 2
    shorter = msgspec.structs.replace(kept, inputs=kept.inputs[:-1]).sealed()
    with pytest.raises(Altered, match="does not end like this"):
        verify(GAMES, to_text(shorter).encode())


# Records of released rules


def test_every_game_has_records_of_its_rules() -> None:
    assert {file.name.rpartition("-")[0] for file in KEPT} >= {f"{game.id}-v{game.rules_version}" for game in GAMES}


@pytest.mark.parametrize("file", [pytest.param(file, id=file.stem) for file in KEPT])
def test_a_kept_record_is_still_that_game(file: Path) -> None:
    data = file.read_bytes()
    game = GAMES.get(json.loads(data)["game"])
    if json.loads(data)["rules_version"] == game.rules_version:
        assert verify(GAMES, data).table.outcome is not None
    else:
        with pytest.raises(Refusal) as refused:
            verify(GAMES, data)
        assert refused.value.reason is Reason.RULES_VERSION


def test_an_altered_rule_makes_a_kept_record_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    data = (FOLDER / "camelot-v2-1.json").read_bytes()
    verify(GAMES, data)
    figures = msgspec.structs.replace(FIGURES, draw_action_cards=FIGURES.draw_action_cards + 1)
    monkeypatch.setattr("engine.camelot.heroic.FIGURES", figures)
    with pytest.raises(Altered) as altered:
        verify(GAMES, data)
    assert altered.value.input > 0
