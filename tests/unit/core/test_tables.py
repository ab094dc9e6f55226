"""Tables: what is asked and answered, standing orders, seats that come and go, and failing rules."""

from __future__ import annotations

from typing import Any

import pytest

from engine.core.chance import Seed
from engine.core.decisions import Offer, Option, Script, Withdrawn, ask
from engine.core.errors import Reason, Refusal, RuleFault
from engine.core.events import Event
from engine.core.games import Outcome, Registry
from engine.core.table import MAX_ORDERS, Input, InputKind, Step, Table
from tests.unit.core import toy
from tests.unit.core.toy import TOY, TOYS, ToyPlay, option


def begin(seats: int = 3, seed: int = 1, **options: str) -> Table:
    return Table.new(TOY, seats, options, Seed.fixed(seed))[0]


def at_vote(seats: int = 3) -> Table:
    """Seat 0 has called for a vote; everybody is asked."""
    table = begin(seats)
    table.answer(0, "1", ["topic:vote"])
    return table


def pick(table: Table, seat: int, *picks: str) -> Step:
    return table.answer(seat, table.decision, picks)


def public(step: Step) -> list[Event]:
    return [told.public for told in step.told]


def refused(table: Table, reason: Reason, call: Any, *arguments: Any) -> Refusal:
    """The call is refused for that reason, and the table is exactly as it was."""
    before = table.save()
    with pytest.raises(Refusal) as refusal:
        call(*arguments)
    assert refusal.value.reason is reason
    assert table.save() == before
    return refusal.value


# Beginning


@pytest.mark.parametrize("seats", [-1, 0, 1, 5, 1000])
def test_a_wrong_number_of_seats_is_refused(seats: int) -> None:
    with pytest.raises(Refusal) as refusal:
        Table.new(TOY, seats, {}, Seed.fixed(1))
    assert (refusal.value.reason, refusal.value.field) == (Reason.SEATS_OUT_OF_RANGE, "seats")


@pytest.mark.parametrize("contributions", [(b"a",), (b"a", b"b", b"c"), (b"a", bytes(33))])
def test_contributions_are_one_a_seat_and_at_most_32_bytes(contributions: tuple[bytes, ...]) -> None:
    with pytest.raises(Refusal) as refusal:
        Table.new(TOY, 2, {}, Seed(bytes(32), contributions))
    assert (refusal.value.reason, refusal.value.field) == (Reason.CONTRIBUTIONS, "contributions")


def test_contributions_change_the_deal() -> None:
    plain, _ = Table.new(TOY, 2, {}, Seed(bytes(32)))
    helped, _ = Table.new(TOY, 2, {}, Seed(bytes(32), (b"", bytes(32))))
    assert plain.play.state.numbers + plain.play.state.deck != helped.play.state.numbers + helped.play.state.deck


# Asking and answering


def test_one_seat_is_asked_and_nobody_else() -> None:
    table = begin()
    assert table.asked == (0,)
    assert table.decision == "1"
    asked = table.question(0)
    assert asked is not None
    assert [option.id for option in asked.options] == ["topic:vote", "topic:rank", "topic:exchange"]
    assert table.question(1) is table.question(2) is table.question(7) is None


def test_several_seats_are_asked_at_once_and_answer_in_any_order() -> None:
    table = at_vote()
    assert (table.asked, table.decision) == ((0, 1, 2), "2")
    pick(table, 2, "pass")
    assert (table.asked, table.decision) == ((0, 1), "2")
    assert table.question(2) is None
    pick(table, 0, "voices:1")
    step = pick(table, 1, "pass")
    assert toy.VoteClosed(False, rule="T4") in public(step)
    assert (table.asked, table.decision) == ((1,), "3")


def test_each_answer_is_told_as_it_is_heard() -> None:
    table = at_vote()
    assert public(pick(table, 1, "voices:2")) == [toy.Voted(1, 2, rule="T4")]
    assert public(pick(table, 0, "pass")) == [toy.Voted(0, 0, rule="T4")]


def test_an_ask_that_is_settled_closes_before_all_have_answered() -> None:
    table = at_vote()
    pick(table, 2, "voices:2")
    step = pick(table, 0, "voices:1")
    assert public(step) == [toy.Voted(0, 1, rule="T4"), toy.VoteClosed(True, rule="T4")]
    late = refused(table, Reason.DECISION_CLOSED, table.answer, 1, "2", ["voices:1"])
    assert late.field == "decision"


def test_a_seat_answers_once() -> None:
    table = at_vote()
    pick(table, 0, "pass")
    refused(table, Reason.DECISION_CLOSED, table.answer, 0, "2", ["voices:2"])
    refused(table, Reason.DECISION_CLOSED, table.answer_default, 0, "2")


def test_several_picks_come_in_the_order_given() -> None:
    table = begin()
    pick(table, 0, "topic:rank")
    step = pick(table, 0, "colour:white", "colour:red")
    assert public(step) == [toy.Ranked(0, ("colour:white", "colour:red"), rule="T5")]


def test_places_in_the_list_are_as_good_as_ids() -> None:
    one, other = begin(), begin()
    assert one.answer_places(0, (1,)) == other.answer(0, "1", ["topic:rank"])
    assert one.save() == other.save()


def test_a_step_names_its_input() -> None:
    assert pick(begin(), 0, "topic:rank").inputs == [Input(InputKind.ANSWER, 0, 1, (1,))]


@pytest.mark.parametrize("decision", ["2", "99", "", "x", "-1", "0", "1.0", " 1", "²", "9" * 50])
def test_a_decision_never_asked_is_unknown(decision: str) -> None:
    table = begin()
    refusal = refused(table, Reason.UNKNOWN_DECISION, table.answer, 0, decision, ["topic:vote"])
    assert refusal.field == "decision"


def test_an_answered_decision_is_closed() -> None:
    table = at_vote()
    refused(table, Reason.DECISION_CLOSED, table.answer, 0, "1", ["topic:vote"])
    refused(table, Reason.DECISION_CLOSED, table.answer, 1, "1", ["topic:vote"])


def test_a_seat_that_is_not_asked_cannot_answer() -> None:
    table = begin()
    for call in (
        lambda: table.answer(1, "1", ["topic:vote"]),
        lambda: table.answer_default(1, "1"),
        lambda: table.answer_places(1, (0,)),
        lambda: table.explain(1, "topic:vote"),
    ):
        assert refused(table, Reason.NOT_ASKED, call).field == "seat"


@pytest.mark.parametrize("seat", [-1, 3, 99])
def test_a_seat_that_is_not_at_the_table_is_refused(seat: int) -> None:
    table = begin()
    for call in (
        lambda: table.answer(seat, "1", ["topic:vote"]),
        lambda: table.answer(seat, "7", ["topic:vote"]),
        lambda: table.answer_default(seat, "1"),
        lambda: table.explain(seat, "topic:vote"),
        lambda: table.set_orders(seat, {}),
        lambda: table.leave(seat),
    ):
        assert refused(table, Reason.SEAT_OUT_OF_RANGE, call).field == "seat"


def test_an_illegal_answer_changes_nothing() -> None:
    table = begin()
    assert refused(table, Reason.UNKNOWN_OPTION, table.answer, 0, "1", ["topic:roll"]).rule == "T2"
    refused(table, Reason.TOO_FEW_PICKS, table.answer, 0, "1", [])
    refused(table, Reason.TOO_MANY_PICKS, table.answer, 0, "1", ["topic:vote", "topic:rank"])
    refused(table, Reason.UNKNOWN_OPTION, table.answer_places, 0, (5,))


def test_an_option_that_is_not_offered_is_explained() -> None:
    table = begin()
    assert (table.explain(0, "topic:boast").offered, table.explain(0, "topic:boast").rule) == (False, "T2")
    assert (table.explain(0, "topic:vote").offered, table.explain(0, "topic:vote").rule) == (True, "T1")
    assert not table.explain(0, "topic:dance").known


def test_a_default_stands_for_a_seat_that_does_not_answer() -> None:
    table = begin()
    step = table.answer_default(0, "1")
    assert step.inputs == [Input(InputKind.DEFAULT, 0, 1, (0,))]
    assert public(step) == [toy.Tabled(0, "topic:vote", rule="T1")]


def test_the_end_of_the_game_closes_everything() -> None:
    table = begin(rounds="2")
    pick(table, 0, "topic:exchange")
    step = pick(table, 1, "topic:roll")
    numbers = table.play.state.numbers
    assert public(step)[-1] == toy.Ended(tuple(numbers), rule="T9")
    assert table.outcome is not None
    assert (table.outcome.ending, table.outcome.winners) == ("played_out", (numbers.index(max(numbers)),))
    assert table.asked == ()
    refused(table, Reason.GAME_OVER, table.answer, 0, "3", ["topic:vote"])
    refused(table, Reason.DECISION_CLOSED, table.answer, 0, "2", ["topic:vote"])
    refused(table, Reason.GAME_OVER, table.set_orders, 0, {"vote": "pass"})
    refused(table, Reason.GAME_OVER, table.leave, 0)
    refused(table, Reason.GAME_OVER, table.join)
    refused(table, Reason.GAME_OVER, table.explain, 0, "topic:vote")
    assert Table.load(TOYS, table.save()).outcome == table.outcome


# What is known of a table


def test_each_seat_sees_its_own_number_and_a_spectator_none() -> None:
    table = begin()
    numbers = table.play.state.numbers
    assert [table.view(seat).game.number for seat in (0, 1, 2, None)] == [*numbers, 0]
    assert table.view(1).asked == (0,)


def test_the_version_counts_inputs_and_the_history_chains_them() -> None:
    one, other, third = begin(), begin(), begin()
    assert one.version == 0
    for table, topic in ((one, "topic:rank"), (other, "topic:rank"), (third, "topic:exchange")):
        pick(table, 0, topic)
    assert one.version == third.version == 1
    assert one.history == other.history != third.history
    assert len(one.history) == 16
    before = one.history
    pick(one, 0, "pass")
    assert one.history != before


def test_the_history_of_equal_inputs_differs_between_tables() -> None:
    """Else a secret answer could be found from its digest."""
    one, other = begin(seed=1), begin(seed=2)
    pick(one, 0, "topic:rank")
    pick(other, 0, "topic:rank")
    assert one.history != other.history


def test_what_one_seat_may_see_is_told_to_it_alone() -> None:
    table = begin()
    (_, exchanged) = pick(table, 0, "topic:exchange").told
    number = table.play.state.numbers[0]
    assert exchanged.seen_by(0) == toy.Exchanged(0, number, rule="T6")
    for viewer in (1, 2, None):
        assert exchanged.seen_by(viewer) == toy.Exchanged(0, rule="T6")


# Standing orders


def test_an_order_answers_at_once_where_it_applies() -> None:
    table = at_vote()
    step = table.set_orders(1, {"vote": "voices:2"})
    assert step.inputs == [
        Input(InputKind.ORDERS, 1, orders=(("vote", "voices:2"),)),
        Input(InputKind.ORDER, 1, 2, (2,)),
    ]
    assert public(step) == [toy.Voted(1, 2, rule="T4")]
    assert table.asked == (0, 2)
    assert table.version == 3


def test_an_order_answers_later_questions_of_its_key() -> None:
    table = begin()
    assert table.set_orders(2, {"vote": "pass"}).inputs == [Input(InputKind.ORDERS, 2, orders=(("vote", "pass"),))]
    step = pick(table, 0, "topic:vote")
    assert [(given.kind, given.seat) for given in step.inputs] == [(InputKind.ANSWER, 0), (InputKind.ORDER, 2)]
    assert public(step) == [toy.Tabled(0, "topic:vote", rule="T1"), toy.Voted(2, 0, rule="T4")]
    assert table.asked == (0, 1)


def test_orders_that_settle_an_ask_set_off_the_next() -> None:
    table = begin(2, rounds="3")
    table.set_orders(0, {"topic": "topic:vote", "vote": "voices:2"})
    assert table.asked == (1,)
    step = table.set_orders(1, {"topic": "topic:exchange", "vote": "voices:1"})
    given = [(each.kind, each.seat, each.ask) for each in step.inputs]
    assert given == [
        (InputKind.ORDERS, 1, 0),
        (InputKind.ORDER, 1, 2),
        (InputKind.ORDER, 1, 3),
        (InputKind.ORDER, 0, 4),
        (InputKind.ORDER, 0, 5),
        (InputKind.ORDER, 1, 5),
    ]
    assert table.outcome is not None


def test_an_order_for_what_is_not_on_offer_waits() -> None:
    table = begin()
    table.set_orders(0, {"topic": "topic:boast"})
    assert table.asked == (0,)
    table.set_orders(0, {"topic": "topic:nonsense", "nothing": "pass"})
    assert table.asked == (0,)


def test_an_order_never_answers_a_question_for_several_picks() -> None:
    table = begin()
    table.set_orders(0, {"rank": "colour:red"})
    pick(table, 0, "topic:rank")
    assert table.asked == (0,)


def test_orders_are_replaced_as_a_whole() -> None:
    table = begin()
    table.set_orders(1, {"vote": "pass"})
    table.set_orders(1, {})
    pick(table, 0, "topic:vote")
    assert table.asked == (0, 1, 2)


def test_changing_orders_again_and_again_does_not_make_a_saved_table_grow() -> None:
    table = begin()
    pick(table, 0, "topic:vote")
    table.set_orders(1, {"topic": "topic:vote"})
    size = len(table.save())
    for _ in range(100):
        table.set_orders(1, {"topic": "topic:vote"})
    assert len(table.save()) == size
    assert Table.load(toy.TOYS, table.save()).orders == table.orders


def test_too_many_orders_are_refused() -> None:
    table = begin()
    orders = {f"key{number}": "pass" for number in range(MAX_ORDERS + 1)}
    assert refused(table, Reason.TOO_MANY_ORDERS, table.set_orders, 0, orders).field == "orders"
    table.set_orders(0, dict(list(orders.items())[1:]))


def test_orders_travel_with_the_table() -> None:
    table = begin()
    table.set_orders(1, {"vote": "pass"})
    table = Table.load(TOYS, table.save())
    pick(table, 0, "topic:vote")
    assert table.asked == (0, 2)


# Leaving and joining


def test_a_leavers_answer_is_withdrawn() -> None:
    table = at_vote()
    pick(table, 1, "voices:2")
    table.leave(1)
    assert list(table.asked) == [0, 2]
    step = pick(table, 0, "voices:2")
    assert toy.VoteClosed(True, rule="T4") not in public(step)
    step = pick(table, 2, "pass")
    assert public(step) == [
        toy.Voted(2, 0, rule="T4"),
        toy.VoteClosed(False, rule="T4"),
        toy.Went(1, rule="T8"),
    ]
    assert list(table.asked) == [2]


def test_the_last_one_awaited_leaves_and_the_ask_closes() -> None:
    table = at_vote()
    pick(table, 0, "voices:1")
    pick(table, 1, "pass")
    assert toy.VoteClosed(False, rule="T4") in public(table.leave(2))


def test_a_rule_hears_that_its_only_asked_seat_left() -> None:
    table = begin()
    assert public(table.leave(0)) == [toy.TurnLost(0, rule="T7"), toy.Went(0, rule="T8")]
    assert table.asked == (2,)


def test_everybody_leaves_and_the_game_ends() -> None:
    table = at_vote(2)
    table.leave(0)
    table.leave(1)
    assert table.outcome is not None
    assert table.outcome.winners == ()


def test_a_leaver_is_asked_nothing_and_his_orders_are_forgotten() -> None:
    table = begin()
    table.set_orders(1, {"vote": "voices:2"})
    table.leave(1)
    step = pick(table, 0, "topic:vote")
    assert len(step.inputs) == 1
    assert table.asked == (0, 2)
    refused(table, Reason.SEATS_FIXED, table.leave, 1)


def test_a_leaver_stays_gone_on_reload() -> None:
    table = at_vote()
    pick(table, 1, "voices:2")
    table.leave(1)
    again = Table.load(TOYS, table.save())
    assert again.save() == table.save()
    assert again.asked == (0, 2)
    for each in (again, table):
        pick(each, 0, "pass")
        pick(each, 2, "pass")
    assert again.save() == table.save()
    assert again.play.state.seats == [0, 2]


class Stopped(Exception):
    pass


class Prompt(toy.Toy):
    """Its departures count at once; the chair may name another seat, or nobody, and seat 3 ends it by leaving."""

    def depart(self, play: ToyPlay, seat: int) -> None:
        play.state.seats.remove(seat)
        play.tell(toy.Went(seat, rule="T8"))
        if seat == 3:
            raise Stopped

    def script(self, play: ToyPlay) -> Script:
        def others(offer: Offer[Option]) -> None:
            for seat in play.state.seats[1:]:
                offer(option(f"name:{seat}", "T1"))

        try:
            named = yield from ask(0, "name", others)
            play.tell(toy.Tabled(0, named.id, rule="T1"))
        except Withdrawn as withdrawn:
            play.tell(toy.TurnLost(withdrawn.seat, rule="T7"))
        except Stopped:
            return Outcome("stopped", "T8", ())
        yield from ask(0, "after", [toy.ROLL])


def prompt() -> tuple[Table, Registry]:
    game = Prompt()
    return Table.new(game, 4, {}, Seed.fixed(1))[0], Registry([game])


def ids(table: Table, seat: int) -> list[str]:
    question = table.question(seat)
    return [each.id for each in question.options] if question else []


def test_others_are_asked_anew_where_a_departure_changes_what_they_can_pick() -> None:
    table, games = prompt()
    assert (table.decision, ids(table, 0)) == ("1", ["name:1", "name:2", "name:3"])
    assert public(table.leave(2)) == [toy.Went(2, rule="T8")]
    assert (table.decision, table.asked, ids(table, 0)) == ("2", (0,), ["name:1", "name:3"])
    assert refused(table, Reason.DECISION_CLOSED, table.answer, 0, "1", ["name:1"]).field == "decision"
    again = Table.load(games, table.save())
    assert (again.save(), again.decision, ids(again, 0)) == (table.save(), "2", ["name:1", "name:3"])
    assert public(pick(again, 0, "name:3")) == [toy.Tabled(0, "name:3", rule="T1")]


def test_who_is_left_with_nothing_to_pick_is_not_asked() -> None:
    game = Prompt()
    table, _ = Table.new(game, 2, {}, Seed.fixed(1))
    assert ids(table, 0) == ["name:1"]
    assert public(table.leave(1)) == [toy.Went(1, rule="T8"), toy.TurnLost(0, rule="T7")]
    assert ids(table, 0) == ["topic:roll"]


def test_what_a_departure_raises_is_raised_inside_the_script() -> None:
    table, games = prompt()
    table.leave(1)
    table = Table.load(games, table.save())
    table.leave(3)
    assert (table.outcome, table.asked) == (Outcome("stopped", "T8", ()), ())
    refused(table, Reason.GAME_OVER, table.leave, 2)
    refused(table, Reason.GAME_OVER, table.join)


def test_a_newcomer_sits_down_at_the_next_safe_point() -> None:
    table = at_vote(2)
    assert table.join().inputs == [Input(InputKind.JOIN, 2)]
    assert table.asked == (0, 1)
    table = Table.load(TOYS, table.save())
    pick(table, 0, "pass")
    step = pick(table, 1, "pass")
    assert toy.Came(2, rule="T8") in public(step)
    assert table.play.state.seats == [0, 1, 2]
    assert table.view(2).game.number == table.play.state.numbers[2]


def test_a_full_table_and_a_closed_one_are_not_joined() -> None:
    full, closed = begin(4), begin(2, comings="false")
    assert refused(full, Reason.SEATS_FIXED, full.join).field == "seat"
    assert refused(closed, Reason.SEATS_FIXED, closed.join).field == "seat"


# Failing rules and other rules


class Fault(Exception):
    pass


class Faulty(toy.Toy):
    """Fails in the middle of a vote, once the first seat has been heard."""

    def script(self, play: ToyPlay) -> Script:
        play.tell(toy.Rolled(play.chance.die(6), rule="T1"))
        yield from toy.vote(play)
        play.state.round = 99
        play.chance.die(6)
        raise Fault


def test_a_fault_inside_a_rule_leaves_the_table_as_it_was() -> None:
    games = Registry([Faulty()])
    table, step = Table.new(games.get("toy"), 2, {}, Seed.fixed(1))
    assert len(step.told) == 1
    pick(table, 0, "voices:2")
    before, asked = table.save(), table.question(1)
    with pytest.raises(RuleFault) as failed:
        pick(table, 1, "voices:1")
    assert isinstance(failed.value.__cause__, Fault)
    assert table.save() == before
    assert table.play.state.round == 0
    assert table.asked == (1,)
    again = table.question(1)
    assert asked is not None
    assert again is not None
    assert [option.id for option in again.options] == [option.id for option in asked.options]
    assert table.play.told == []


def test_a_fault_under_standing_orders_takes_back_the_orders_too() -> None:
    table, _ = Table.new(Faulty(), 2, {}, Seed.fixed(1))
    pick(table, 0, "voices:2")
    before = table.save()
    with pytest.raises(RuleFault):
        table.set_orders(1, {"vote": "voices:1"})
    assert table.save() == before
    assert table.orders == {}


class Renamed(toy.Toy):
    """Asks something else under the same version of the rules."""

    def script(self, play: ToyPlay) -> Script:
        yield from toy.turn(play, play.state.seats[-1])


@pytest.mark.parametrize("inputs", [[], [(0, "topic:vote")], [(0, "topic:vote"), (1, "pass")]])
def test_rules_that_ask_otherwise_under_the_same_version_are_refused(inputs: list[tuple[int, str]]) -> None:
    table = begin()
    for seat, answer in inputs:
        pick(table, seat, answer)
    with pytest.raises(Refusal) as refusal:
        Table.load(Registry([Renamed()]), table.save())
    assert refusal.value.reason is Reason.RULES_VERSION


def test_a_table_of_a_game_not_played_here_is_refused() -> None:
    with pytest.raises(Refusal) as refusal:
        Table.load(Registry([]), begin().save())
    assert (refusal.value.reason, refusal.value.field) == (Reason.RULES_VERSION, "state")
