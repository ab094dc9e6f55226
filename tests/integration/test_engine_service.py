"""The engine service as its callers meet it: over a real server, knowing nothing but the contracts."""

from __future__ import annotations

import asyncio
import json
import urllib.request
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from hashlib import blake2b
from random import Random
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2
from grpc import aio
from grpc_status import rpc_status
from pydantic import SecretStr
from structlog.testing import capture_logs

from engine.camelot import turns
from engine.camelot.game import CAMELOT
from engine.core.table import Table
from roundtable.camelot.v1 import camelot_pb2
from roundtable.engine.v1 import engine_pb2
from roundtable.engine.v1.engine_pb2_grpc import EngineServiceStub
from roundtable.table.v1 import table_pb2
from services.engine.main import FULL_NAME, compose
from services.runtime.errors import Reason, ServiceError
from services.runtime.server import Ready, open_channel, serving
from services.runtime.settings import Settings

SETTINGS = Settings(allow_seeds=True, drain_seconds=2)
GARBLED = b"\x0a\xff\xff\xff\xff\x0f"
SEATS = 5
WAIT_SECONDS = 10


class Bench:
    """A running engine, and one open stream to it."""

    def __init__(self, ready: Ready, channel: aio.Channel) -> None:
        self.ready = ready
        self.stub = EngineServiceStub(channel)
        # Without a serializer, so that it carries what is no message too.
        self._stream: Any = channel.stream_stream(
            f"/{FULL_NAME}/Resolve", response_deserializer=engine_pb2.ResolveResponse.FromString
        )()
        self._calls = 0

    async def new(self, **request: Any) -> engine_pb2.NewGameResponse:
        return await self.stub.NewGame(engine_pb2.NewGameRequest(**{"game": "camelot", "seats": SEATS, **request}))

    async def send_raw(self, message: bytes) -> engine_pb2.ResolveResponse:
        await self._stream.write(message)
        async with asyncio.timeout(WAIT_SECONDS):
            response = await self._stream.read()
        assert response is not aio.EOF
        assert isinstance(response, engine_pb2.ResolveResponse)
        return response

    async def send(self, state: bytes, **given: Any) -> engine_pb2.ResolveResponse:
        self._calls += 1
        request = engine_pb2.ResolveRequest(call=self._calls, state=state, **given)
        response = await self.send_raw(request.SerializeToString())
        assert response.call == self._calls
        return response

    async def resolve(self, state: bytes, **given: Any) -> engine_pb2.Resolved:
        response = await self.send(state, **given)
        assert response.WhichOneof("result") == "resolved", response.error
        return response.resolved

    async def refused(self, state: bytes, **given: Any) -> ServiceError:
        response = await self.send(state, **given)
        assert response.WhichOneof("result") == "error"
        return ServiceError.from_status(response.error)

    async def close(self) -> None:
        await self._stream.done_writing()
        assert await self._stream.read() is aio.EOF


@asynccontextmanager
async def serving_bench(settings: Settings = SETTINGS) -> AsyncIterator[Bench]:
    async with (
        serving("engine", FULL_NAME, settings, compose) as ready,
        open_channel(ready.address, settings) as channel,
    ):
        bench = Bench(ready, channel)
        yield bench
        await bench.close()


@pytest.fixture
async def bench() -> AsyncIterator[Bench]:
    async with serving_bench() as running:
        yield running


def picks(decision: table_pb2.Decision, random: Random) -> list[str]:
    """A legal answer, at random."""
    alone = [option.id for option in decision.options if option.alone]
    others = [option.id for option in decision.options if not option.alone]
    if alone and (len(others) < max(1, decision.min) or random.random() < 0.3):
        return [random.choice(alone)]
    places = random.sample(range(len(others)), random.randint(decision.min, min(decision.max, len(others))))
    return [others[place] for place in (places if decision.ordered else sorted(places))]


def answer(seat: int, decision: str, *chosen: str) -> engine_pb2.Answer:
    return engine_pb2.Answer(seat=seat, decision=decision, picks=chosen)


def open_decision(resolved: engine_pb2.Resolved) -> table_pb2.Decision:
    """The first one that is open."""
    return resolved.seats[resolved.public.asked[0]].decision


async def reach(bench: Bench, wanted: Callable[[table_pb2.Decision], bool]) -> engine_pb2.Resolved:
    """A table of a random game whose first open decision is a wanted one."""
    for seed in range(50):
        random = Random(seed)
        resolved = (await bench.new(seed=seed)).resolved
        while resolved.public.asked:
            decision = open_decision(resolved)
            if wanted(decision):
                return resolved
            given = answer(decision.seat, decision.id, *picks(decision, random))
            resolved = await bench.resolve(resolved.state, answer=given)
    pytest.fail("no such decision in 50 random games")


def is_heroic(decision: table_pb2.Decision) -> bool:
    return decision.key == "heroic_action"


async def refusal(call: Any) -> ServiceError:
    with pytest.raises(aio.AioRpcError) as failed:
        await call
    return ServiceError.from_rpc_error(failed.value, Reason.ENGINE_UNAVAILABLE)


async def test_the_games_are_listed(bench: Bench) -> None:
    listed = (await bench.stub.ListGames(engine_pb2.ListGamesRequest())).games

    assert [game.id for game in listed] == ["camelot"]
    assert (listed[0].min_seats, listed[0].max_seats) == (3, 7)
    for option in listed[0].options:
        assert option.default in option.values


@pytest.mark.parametrize("seats", [3, 5, 7])
async def test_a_game_is_played_to_its_end(bench: Bench, seats: int) -> None:
    random = Random(seats)
    made = await bench.new(seats=seats)
    resolved = made.resolved
    assert made.commitment.verifiable
    assert (resolved.version, len(resolved.inputs), len(resolved.digest)) == (0, 0, 16)
    digests = {resolved.digest}
    while not resolved.public.HasField("outcome"):
        assert sorted(resolved.seats) == list(range(seats))
        asked = [seat for seat in sorted(resolved.seats) if resolved.seats[seat].HasField("decision")]
        assert list(resolved.public.asked) == asked
        assert not resolved.public.HasField("decision")
        assert not resolved.public.HasField("reveal")
        decision = resolved.seats[random.choice(asked)].decision
        version = resolved.version
        given = answer(decision.seat, decision.id, *picks(decision, random))
        resolved = await bench.resolve(resolved.state, answer=given)
        assert resolved.version == version + 1
        (logged,) = resolved.inputs
        assert (logged.kind, logged.seat, logged.decision) == (
            engine_pb2.INPUT_KIND_ANSWER,
            decision.seat,
            decision.id,
        )
        assert [decision.options[place].id for place in logged.picks] == list(given.picks)
        assert resolved.digest not in digests
        digests.add(resolved.digest)

    reveal = resolved.public.reveal
    assert blake2b(reveal.secret, digest_size=32).digest() == made.commitment.commitment
    for seat in range(seats):
        assert resolved.seats[seat].outcome == resolved.public.outcome
        assert resolved.seats[seat].reveal == reveal
        assert not resolved.seats[seat].HasField("decision")
    over = await bench.refused(resolved.state, answer=answer(0, "999", "pass"))
    assert over.reason is Reason.GAME_OVER


async def test_the_same_seed_and_inputs_make_the_same_game(bench: Bench) -> None:
    made = [await bench.new(seed=7, options={"traitor_in_deck": "none"}) for _ in range(2)]
    assert made[0] == made[1]
    assert not made[0].commitment.verifiable

    decision = open_decision(made[0].resolved)
    given = answer(decision.seat, decision.id, decision.options[0].id)
    assert await bench.resolve(made[0].resolved.state, answer=given) == await bench.resolve(
        made[1].resolved.state, answer=given
    )


async def test_games_without_a_seed_differ(bench: Bench) -> None:
    made = [await bench.new() for _ in range(2)]

    assert made[0].commitment != made[1].commitment


async def test_contributions_change_the_deal_and_are_revealed_with_the_secret(bench: Bench) -> None:
    contributions = [bytes([seat]) * seat for seat in range(3)]
    plain, mixed = await bench.new(seats=3, seed=1), await bench.new(seats=3, seed=1, contributions=contributions)
    assert plain.commitment == mixed.commitment
    views = [
        await bench.stub.View(engine_pb2.ViewRequest(state=made.resolved.state, seat=0)) for made in (plain, mixed)
    ]
    assert views[0].view != views[1].view

    random = Random(1)
    resolved = mixed.resolved
    while not resolved.public.HasField("outcome"):
        decision = open_decision(resolved)
        given = answer(decision.seat, decision.id, *picks(decision, random))
        resolved = await bench.resolve(resolved.state, answer=given)
    assert list(resolved.public.reveal.contributions) == contributions
    assert blake2b(resolved.public.reveal.secret, digest_size=32).digest() == mixed.commitment.commitment


async def test_a_default_stands_when_nobody_answers(bench: Bench) -> None:
    resolved = (await bench.new(seed=1)).resolved
    decision = open_decision(resolved)

    given = engine_pb2.DefaultAnswer(seat=decision.seat, decision=decision.id)
    stood = await bench.resolve(resolved.state, default_answer=given)

    (logged,) = stood.inputs
    assert logged.kind == engine_pb2.INPUT_KIND_DEFAULT_ANSWER
    assert [decision.options[place].id for place in logged.picks] == list(decision.default)


async def test_standing_orders_answer_at_once_and_are_private(bench: Bench) -> None:
    resolved = (await bench.new(seed=1)).resolved
    decision = open_decision(resolved)
    orders = {decision.key: decision.options[0].id}

    ordered = await bench.resolve(
        resolved.state, standing_orders=engine_pb2.StandingOrders(seat=decision.seat, orders=orders)
    )

    given, set_off = ordered.inputs
    assert (given.kind, given.seat, dict(given.orders)) == (
        engine_pb2.INPUT_KIND_STANDING_ORDERS,
        decision.seat,
        orders,
    )
    assert (given.decision, list(given.picks)) == ("", [])
    assert (set_off.kind, set_off.decision, list(set_off.picks)) == (
        engine_pb2.INPUT_KIND_STANDING_ANSWER,
        decision.id,
        [0],
    )
    assert ordered.version == resolved.version + 2
    by_hand = await bench.resolve(resolved.state, answer=answer(decision.seat, decision.id, decision.options[0].id))
    assert [event.kind for event in ordered.public.events] == [event.kind for event in by_hand.public.events]


async def test_seats_come_and_go_and_the_game_is_played_again_with_them(bench: Bench) -> None:
    made = await bench.new(seed=1)
    left = await bench.resolve(made.resolved.state, leave=engine_pb2.Leave(seat=1))
    joined = await bench.resolve(left.state, join=engine_pb2.Join())

    assert [event.kind for event in left.public.events] == ["knight_left"]
    assert 1 not in left.public.asked
    assert sorted(joined.seats) == list(range(SEATS + 1))
    assert list(left.inputs) == [engine_pb2.LoggedInput(kind=engine_pb2.INPUT_KIND_LEAVE, seat=1)]
    assert list(joined.inputs) == [engine_pb2.LoggedInput(kind=engine_pb2.INPUT_KIND_JOIN, seat=SEATS)]
    newcomer = await bench.stub.View(engine_pb2.ViewRequest(state=joined.state, seat=SEATS))
    seen = camelot_pb2.View()
    assert newcomer.view.detail.Unpack(seen)
    assert (list(seen.arriving), len(seen.knights), seen.HasField("private")) == ([SEATS], SEATS, False)
    again = await bench.stub.Replay(engine_pb2.ReplayRequest(origin=made.origin, inputs=[*left.inputs, *joined.inputs]))
    assert again.resolved.state == joined.state

    gone = await bench.refused(joined.state, leave=engine_pb2.Leave(seat=1))
    assert (gone.reason, gone.field, gone.metadata["rule"]) == (Reason.SEATS_FIXED, "seat", "R20.2")
    nobody = await bench.refused(joined.state, leave=engine_pb2.Leave(seat=SEATS + 1))
    assert (nobody.reason, nobody.field) == (Reason.FIELD_INVALID, "seat")
    full = await bench.resolve(joined.state, join=engine_pb2.Join())
    eighth = await bench.refused(full.state, join=engine_pb2.Join())
    assert (eighth.reason, eighth.reason.code) == (Reason.SEATS_FIXED, grpc.StatusCode.FAILED_PRECONDITION)


async def test_a_view_is_a_seats_own_or_a_spectators(bench: Bench) -> None:
    resolved = (await bench.new(seed=1)).resolved
    asked = resolved.public.asked[0]
    own = await bench.stub.View(engine_pb2.ViewRequest(state=resolved.state, seat=asked))
    public = await bench.stub.View(engine_pb2.ViewRequest(state=resolved.state))

    assert (own.view.HasField("seat"), own.view.seat) == (True, asked)
    assert not public.view.HasField("seat")
    assert own.update.decision == resolved.seats[asked].decision
    assert not public.update.HasField("decision")
    assert list(public.update.asked) == list(resolved.public.asked)
    assert own.digest == public.digest == resolved.digest
    seen, shown = camelot_pb2.View(), camelot_pb2.View()
    assert own.view.detail.Unpack(seen)
    assert public.view.detail.Unpack(shown)
    assert len(seen.private.hand) == seen.knights[asked].hand_size
    assert not shown.HasField("private")


async def test_a_candidate_is_explained(bench: Bench) -> None:
    resolved = await reach(bench, is_heroic)
    decision = open_decision(resolved)

    async def explain(candidate: str) -> engine_pb2.ExplainResponse:
        request = engine_pb2.ExplainRequest(state=resolved.state, seat=decision.seat, candidate=candidate)
        return await bench.stub.Explain(request)

    option = decision.options[0]
    offered = await explain(option.id)
    assert (offered.offered, offered.rule, offered.condition) == (True, option.rule, "")
    assert "move:camelot" not in [option.id for option in decision.options], "he is there"
    withheld = await explain("move:camelot")
    assert not withheld.offered
    assert withheld.condition == CAMELOT.rules[withheld.rule].title
    elsewhere = await explain("draw_black")
    assert (elsewhere.offered, elsewhere.rule) == (False, "R3.1")


async def test_inputs_for_many_tables_share_a_stream(bench: Bench) -> None:
    tables = [(await bench.new(seed=seed)).resolved for seed in range(20)]
    decisions = [open_decision(table) for table in tables]

    async def requests() -> AsyncIterator[engine_pb2.ResolveRequest]:
        for call, (table, decision) in enumerate(zip(tables, decisions, strict=True), start=1):
            given = answer(decision.seat, decision.id, decision.options[0].id)
            yield engine_pb2.ResolveRequest(call=call, state=table.state, answer=given)

    responses = [response async for response in bench.stub.Resolve(requests())]

    assert sorted(response.call for response in responses) == list(range(1, 21))
    assert all(response.resolved.version == 1 for response in responses)


async def test_inputs_are_counted_by_what_came_of_them(bench: Bench) -> None:
    table = (await bench.new(seed=1)).resolved
    decision = open_decision(table)
    for pick in (decision.options[0].id, "fly:avalon", "fly:avalon"):
        await bench.send(table.state, answer=answer(decision.seat, decision.id, pick))

    def read() -> str:
        with urllib.request.urlopen(f"http://{bench.ready.metrics_address}/metrics") as page:
            return str(page.read(), "utf-8")

    metrics = await asyncio.to_thread(read)
    assert 'roundtable_engine_inputs_total{reason=""} 1.0' in metrics
    assert 'roundtable_engine_inputs_total{reason="UNKNOWN_OPTION"} 2.0' in metrics
    assert "roundtable_engine_input_seconds_count 3.0" in metrics


@pytest.mark.parametrize(
    ("request_fields", "reason", "field", "code"),
    [
        ({"game": ""}, Reason.FIELD_MISSING, "game", grpc.StatusCode.INVALID_ARGUMENT),
        ({"game": "x" * 33}, Reason.FIELD_TOO_LONG, "game", grpc.StatusCode.INVALID_ARGUMENT),
        ({"game": "chess"}, Reason.UNKNOWN_GAME, "game", grpc.StatusCode.NOT_FOUND),
        ({"seats": 0}, Reason.SEATS_OUT_OF_RANGE, "seats", grpc.StatusCode.INVALID_ARGUMENT),
        ({"seats": 2}, Reason.SEATS_OUT_OF_RANGE, "seats", grpc.StatusCode.INVALID_ARGUMENT),
        ({"seats": 8}, Reason.SEATS_OUT_OF_RANGE, "seats", grpc.StatusCode.INVALID_ARGUMENT),
        (
            {"options": {"wizards": "true"}},
            Reason.UNKNOWN_GAME_OPTION,
            "options.wizards",
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
        (
            {"options": {"heal_with_merlins": "perhaps"}},
            Reason.GAME_OPTION_VALUE,
            "options.heal_with_merlins",
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
        (
            {"options": {f"o{number}": "true" for number in range(33)}},
            Reason.FIELD_TOO_LONG,
            "options",
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
        ({"contributions": [b""]}, Reason.FIELD_INVALID, "contributions", grpc.StatusCode.INVALID_ARGUMENT),
        (
            {"contributions": [b"x" * 33] * SEATS},
            Reason.FIELD_INVALID,
            "contributions",
            grpc.StatusCode.INVALID_ARGUMENT,
        ),
    ],
)
async def test_a_game_that_cannot_be_is_refused(
    bench: Bench, request_fields: dict[str, Any], reason: Reason, field: str, code: grpc.StatusCode
) -> None:
    refused = await refusal(bench.new(**request_fields))

    assert (refused.reason, refused.field, refused.code) == (reason, field, code)


async def test_seeds_are_for_servers_that_allow_them() -> None:
    async with serving_bench(SETTINGS.model_copy(update={"allow_seeds": False})) as bench:
        refused = await refusal(bench.new(seed=0))
        assert (refused.reason, refused.field) == (Reason.SEEDS_NOT_ALLOWED, "seed")
        assert refused.code is grpc.StatusCode.PERMISSION_DENIED
        assert (await bench.new()).commitment.verifiable


def other(table: engine_pb2.Resolved) -> int:
    """A seat that is not asked."""
    return next(seat for seat in table.seats if seat not in table.public.asked)


Change = Callable[[engine_pb2.Resolved, table_pb2.Decision], dict[str, Any]]


@pytest.mark.parametrize(
    ("change", "reason", "field"),
    [
        (lambda t, d: {}, Reason.FIELD_MISSING, "input"),
        (lambda t, d: {"answer": answer(d.seat, "", "pass")}, Reason.FIELD_MISSING, "decision"),
        (lambda t, d: {"answer": answer(d.seat, "1" * 65, "pass")}, Reason.FIELD_TOO_LONG, "decision"),
        (lambda t, d: {"answer": answer(d.seat, "9999", "pass")}, Reason.UNKNOWN_DECISION, "decision"),
        (lambda t, d: {"answer": answer(d.seat, "one", "pass")}, Reason.UNKNOWN_DECISION, "decision"),
        (lambda t, d: {"answer": answer(d.seat, "1", "pass")}, Reason.DECISION_CLOSED, "decision"),
        (lambda t, d: {"answer": answer(other(t), d.id, "pass")}, Reason.NOT_ASKED, "seat"),
        (lambda t, d: {"answer": answer(15, d.id, "pass")}, Reason.FIELD_INVALID, "seat"),
        (lambda t, d: {"answer": answer(2**32 - 1, d.id, "pass")}, Reason.FIELD_INVALID, "seat"),
        (lambda t, d: {"answer": answer(d.seat, d.id, "fly:avalon")}, Reason.UNKNOWN_OPTION, "picks"),
        (lambda t, d: {"answer": answer(d.seat, d.id, "")}, Reason.FIELD_MISSING, "picks"),
        (lambda t, d: {"answer": answer(d.seat, d.id, "x" * 65)}, Reason.FIELD_TOO_LONG, "picks"),
        (lambda t, d: {"answer": answer(d.seat, d.id, *["x"] * 1025)}, Reason.FIELD_TOO_LONG, "picks"),
        (lambda t, d: {"answer": answer(d.seat, d.id)}, Reason.TOO_FEW_PICKS, "picks"),
        (
            lambda t, d: {"answer": answer(d.seat, d.id, d.options[0].id, d.options[1].id)},
            Reason.TOO_MANY_PICKS,
            "picks",
        ),
        (
            lambda t, d: {"answer": answer(d.seat, d.id, d.options[0].id, d.options[0].id)},
            Reason.REPEATED_PICK,
            "picks",
        ),
        (
            lambda t, d: {"default_answer": engine_pb2.DefaultAnswer(seat=d.seat)},
            Reason.FIELD_MISSING,
            "decision",
        ),
        (
            lambda t, d: {"default_answer": engine_pb2.DefaultAnswer(seat=other(t), decision=d.id)},
            Reason.NOT_ASKED,
            "seat",
        ),
        (
            lambda t, d: {"standing_orders": engine_pb2.StandingOrders(seat=9, orders={"evil": "pass"})},
            Reason.FIELD_INVALID,
            "seat",
        ),
        (
            lambda t, d: {"standing_orders": engine_pb2.StandingOrders(orders={f"k{n}": "pass" for n in range(33)})},
            Reason.FIELD_TOO_LONG,
            "orders",
        ),
        (
            lambda t, d: {"standing_orders": engine_pb2.StandingOrders(orders={"k" * 33: "pass"})},
            Reason.FIELD_TOO_LONG,
            "orders",
        ),
        (
            lambda t, d: {"standing_orders": engine_pb2.StandingOrders(orders={"evil": ""})},
            Reason.FIELD_MISSING,
            "orders",
        ),
    ],
)
async def test_an_input_that_is_not_legal_is_refused_and_the_stream_goes_on(
    bench: Bench, change: Change, reason: Reason, field: str
) -> None:
    table = await reach(bench, is_heroic)
    decision = open_decision(table)

    refused = await bench.refused(table.state, **change(table, decision))

    assert (refused.reason, refused.field) == (reason, field)
    given = answer(decision.seat, decision.id, decision.options[0].id)
    assert (await bench.resolve(table.state, answer=given)).version == table.version + 1


async def test_picks_of_several_are_listed_in_order_and_pass_stands_alone(bench: Bench) -> None:
    def takes_several(decision: table_pb2.Decision) -> bool:
        return decision.max > 1 and decision.options[0].alone and len(decision.options) > 2

    table = await reach(bench, takes_several)
    decision = open_decision(table)
    alone, first, second = (option.id for option in decision.options[:3])

    async def reason(*chosen: str) -> Reason:
        return (await bench.refused(table.state, answer=answer(decision.seat, decision.id, *chosen))).reason

    assert await reason(second, first) is Reason.PICKS_OUT_OF_ORDER
    assert await reason(alone, first) is Reason.PICK_NOT_ALONE
    assert (await bench.resolve(table.state, answer=answer(decision.seat, decision.id, first, second))).version


async def test_an_option_that_is_withheld_is_refused_with_its_rule(bench: Bench) -> None:
    table = await reach(bench, is_heroic)
    decision = open_decision(table)

    refused = await bench.refused(table.state, answer=answer(decision.seat, decision.id, "move:camelot"))

    assert refused.reason is Reason.UNKNOWN_OPTION
    assert refused.rule in CAMELOT.rules


@pytest.mark.parametrize(
    ("state", "reason"),
    [
        (b"", Reason.FIELD_MISSING),
        (b"x" * (256 * 1024 + 1), Reason.FIELD_TOO_LONG),
        (b"\0", Reason.STATE_GARBLED),
        (b"not a table", Reason.STATE_GARBLED),
        (Random(1).randbytes(2000), Reason.STATE_GARBLED),
    ],
)
async def test_bytes_that_are_no_table_are_refused(bench: Bench, state: bytes, reason: Reason) -> None:
    refused = [
        await bench.refused(state, answer=answer(0, "1", "pass")),
        await refusal(bench.stub.View(engine_pb2.ViewRequest(state=state))),
        await refusal(bench.stub.Explain(engine_pb2.ExplainRequest(state=state, candidate="pass"))),
    ]

    assert {(each.reason, each.field) for each in refused} == {(reason, "state")}


async def test_a_flipped_bit_anywhere_in_a_table_is_found(bench: Bench) -> None:
    table = await reach(bench, is_heroic)
    decision = open_decision(table)
    given = answer(decision.seat, decision.id, decision.options[0].id)
    random = Random(1)
    for place in range(len(table.state)):
        flipped = bytearray(table.state)
        flipped[place] ^= 1 << random.randrange(8)
        assert (await bench.refused(bytes(flipped), answer=given)).reason is Reason.STATE_GARBLED
    cut = await bench.refused(table.state[: len(table.state) // 2], answer=given)
    assert cut.reason is Reason.STATE_GARBLED
    assert (await bench.resolve(table.state, answer=given)).version == table.version + 1


async def test_a_table_of_other_rules_is_refused(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    table = (await bench.new(seed=1)).resolved
    decision = open_decision(table)
    given = answer(decision.seat, decision.id, decision.options[0].id)
    with monkeypatch.context() as patch:
        patch.setattr(CAMELOT, "rules_version", CAMELOT.rules_version + 1)
        refused = await bench.refused(table.state, answer=given)

    assert (refused.reason, refused.field) == (Reason.RULES_VERSION, "state")
    assert refused.code is grpc.StatusCode.FAILED_PRECONDITION
    assert refused.metadata["saved"] == str(CAMELOT.rules_version)
    assert (await bench.resolve(table.state, answer=given)).version == 1


async def test_a_message_that_cannot_be_read_is_answered_and_the_stream_goes_on(bench: Bench) -> None:
    table = (await bench.new(seed=1)).resolved
    decision = open_decision(table)
    given = answer(decision.seat, decision.id, decision.options[0].id)

    garbled = await bench.send_raw(GARBLED)
    large = await bench.send_raw(b"\0" * (SETTINGS.max_message_bytes + 1))

    for response, reason in ((garbled, Reason.MESSAGE_GARBLED), (large, Reason.MESSAGE_TOO_LARGE)):
        assert response.call == 0
        assert ServiceError.from_status(response.error).reason is reason
    assert (await bench.resolve(table.state, answer=given)).version == 1


async def test_seats_and_candidates_that_are_not_there_are_refused(bench: Bench) -> None:
    table = await reach(bench, is_heroic)
    seat = open_decision(table).seat

    async def explaining(seat: int, candidate: str) -> tuple[Reason, str | None]:
        request = engine_pb2.ExplainRequest(state=table.state, seat=seat, candidate=candidate)
        refused = await refusal(bench.stub.Explain(request))
        return refused.reason, refused.field

    viewed = await refusal(bench.stub.View(engine_pb2.ViewRequest(state=table.state, seat=SEATS)))
    assert (viewed.reason, viewed.field) == (Reason.FIELD_INVALID, "seat")
    assert await explaining(SEATS, "pass") == (Reason.FIELD_INVALID, "seat")
    assert await explaining(other(table), "pass") == (Reason.NOT_ASKED, "seat")
    assert await explaining(other(table), "fly:avalon") == (Reason.NOT_ASKED, "seat")
    assert await explaining(seat, "fly:avalon") == (Reason.UNKNOWN_OPTION, "candidate")
    assert await explaining(seat, "") == (Reason.FIELD_MISSING, "candidate")


async def test_an_error_inside_a_rule_is_internal_and_tells_no_secret(
    bench: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = (await bench.new(seed=1)).resolved
    decision = open_decision(table)
    given = answer(decision.seat, decision.id, decision.options[0].id)

    def fail(*_: object) -> Table:
        raise LookupError("the traitor is seat 3")

    with monkeypatch.context() as patch, capture_logs() as logs:
        patch.setattr(Table, "_feed", fail)
        refused = await bench.refused(table.state, answer=given)
        patch.setattr(turns, "deal", fail)
        made = await refusal(bench.new())

    assert refused.reason is made.reason is Reason.INTERNAL
    faults = [line for line in logs if line["event"] == "failed"]
    assert [line["fault"][0] for line in faults] == ["RuleFault", "LookupError"]
    assert "LookupError" in faults[0]["fault"]
    assert any(place.endswith(" fail") for place in faults[1]["fault"])
    assert "seat 3" not in repr((logs, refused, refused.metadata, made, made.metadata))
    assert (await bench.resolve(table.state, answer=given)).version == 1


async def test_a_game_is_played_again_from_its_origin_and_inputs(bench: Bench) -> None:
    made = await bench.new(seed=5, contributions=[b"a", b"", b"c", b"", b"e"], options={})
    random, table = Random(5), made.resolved
    inputs: list[engine_pb2.LoggedInput] = []
    for _ in range(40):
        decision = open_decision(table)
        table = await bench.resolve(table.state, answer=answer(decision.seat, decision.id, *picks(decision, random)))
        inputs += table.inputs

    again = await bench.stub.Replay(engine_pb2.ReplayRequest(origin=made.origin, inputs=inputs))

    assert (again.resolved.state, again.resolved.digest) == (table.state, table.digest)
    assert (len(again.digests), again.digests[-1]) == (len(inputs), table.digest)
    assert (again.game, again.rules_version, again.seats) == ("camelot", str(CAMELOT.rules_version), SEATS)
    assert again.options == {option.id: option.default for option in CAMELOT.options}
    assert again.commitment == made.commitment
    assert list(again.reveal.contributions) == [b"a", b"", b"c", b"", b"e"]
    assert not again.resolved.public.HasField("reveal")


@pytest.mark.parametrize(
    ("request_", "reason", "about"),
    [
        ({"origin": b""}, Reason.FIELD_MISSING, {"field": "origin"}),
        ({"origin": b"x" * 5000}, Reason.FIELD_TOO_LONG, {"field": "origin"}),
        ({"origin": b"x" * 50}, Reason.STATE_GARBLED, {"field": "origin"}),
        ({"inputs": [{}]}, Reason.FIELD_INVALID, {"field": "inputs"}),
        ({"inputs": [{"kind": 1, "decision": "x"}]}, Reason.FIELD_INVALID, {"field": "inputs"}),
        ({"inputs": [{"kind": 1, "decision": "7"}]}, Reason.LOG_BROKEN, {"version": "1"}),
        ({"inputs": [{"kind": 3, "decision": "1"}]}, Reason.LOG_BROKEN, {"version": "1"}),
        ({"inputs": [{"kind": 4, "seat": 9}]}, Reason.LOG_BROKEN, {"version": "1"}),
        ({"inputs": [{"kind": 5, "seat": 9}]}, Reason.LOG_BROKEN, {"version": "1"}),
        ({"inputs": [{"kind": 6, "seat": 9}]}, Reason.LOG_BROKEN, {"version": "1"}),
    ],
)
async def test_what_cannot_be_played_again_is_refused(
    bench: Bench, request_: dict[str, Any], reason: Reason, about: dict[str, str]
) -> None:
    origin = (await bench.new()).origin
    call = bench.stub.Replay(engine_pb2.ReplayRequest(**{"origin": origin, **request_}))
    refused = await refusal(call)
    assert refused.reason is reason
    assert about.items() <= refused.metadata.items()


# Positions

TOKEN = "a-token-of-some-length"
OPERATOR = (("authorization", f"Bearer {TOKEN}"),)
POSITION = json.dumps(
    {
        "game": "camelot",
        "facts": {
            "phase": "heroic",
            "active": 0,
            "knights": [{"coat": "gawain", "hand": ["grail"], "place": "grail"}, {"coat": "kay"}, {"coat": "tristan"}],
            "grail": ["grail", "grail", "desolation", "grail", "grail", "grail", "grail"],
        },
    }
)


@pytest.fixture
async def operated() -> AsyncIterator[Bench]:
    async with serving_bench(SETTINGS.model_copy(update={"operator_token": SecretStr(TOKEN)})) as running:
        yield running


async def test_an_operator_puts_a_position_on_the_table_and_takes_it_off(operated: Bench) -> None:
    made = await operated.stub.ImportPosition(engine_pb2.ImportPositionRequest(position=POSITION), metadata=OPERATOR)

    assert not made.commitment.verifiable
    decision = open_decision(made.resolved)
    assert "grail" in [option.id for option in decision.options]
    moved = await operated.resolve(made.resolved.state, answer=answer(0, decision.id, "grail"))
    request = engine_pb2.ExportPositionRequest(state=moved.state)
    exported = (await operated.stub.ExportPosition(request, metadata=OPERATOR)).position
    assert json.loads(exported)["facts"]["grail"] == ["grail", "grail", "", "grail", "grail", "grail", "grail"]
    back = await operated.stub.ImportPosition(engine_pb2.ImportPositionRequest(position=exported), metadata=OPERATOR)
    assert back.resolved.public == table_pb2.Update(version=1, asked=moved.public.asked)
    assert back.resolved.digest == moved.digest
    assert back.resolved.seats[0].decision == moved.seats[0].decision


async def test_positions_are_for_operators(bench: Bench, operated: Bench) -> None:
    wish = engine_pb2.ImportPositionRequest(position=POSITION)
    state = engine_pb2.ExportPositionRequest(state=(await operated.new(seed=1)).resolved.state)
    for running in (bench, operated):
        for call in (
            partial(running.stub.ImportPosition, wish),
            partial(running.stub.ExportPosition, state),
        ):
            assert (await refusal(call())).reason is Reason.OPERATOR_TOKEN_REQUIRED
            for token in (f"Bearer {TOKEN}x", TOKEN, "Bearer ", "", "Bearer None"):
                wrong = await refusal(call(metadata=(("authorization", token),)))
                assert (wrong.reason, wrong.code) == (
                    Reason.OPERATOR_TOKEN_INVALID,
                    grpc.StatusCode.PERMISSION_DENIED,
                )
    closed = await refusal(bench.stub.ImportPosition(wish, metadata=OPERATOR))
    assert closed.reason is Reason.OPERATOR_TOKEN_INVALID, "a server without a token has no operators"


async def test_a_position_is_refused_with_every_fault(operated: Bench) -> None:
    position = json.loads(POSITION)
    position["facts"]["knights"][0]["hand"] = ["fate"] * 2
    position["facts"]["engines"] = 99
    position["weather"] = "fine"
    request = engine_pb2.ImportPositionRequest(position=json.dumps(position))
    with pytest.raises(aio.AioRpcError) as failed:
        await operated.stub.ImportPosition(request, metadata=OPERATOR)

    status = rpc_status.from_call(failed.value)  # type: ignore[arg-type]  # it reads only code, details and metadata
    assert ServiceError.from_status(status).reason is Reason.POSITION_INVALID
    assert ServiceError.from_status(status).metadata == {"field": "position", "faults": "4"}
    violations = error_details_pb2.BadRequest()
    assert any(detail.Unpack(violations) for detail in status.details)
    assert [violation.field for violation in violations.field_violations] == [
        "position",
        "weather",
        "facts.knights[0].hand[1]",
        "facts.engines",
        "facts.engines",
    ]
