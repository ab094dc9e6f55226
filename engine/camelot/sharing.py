"""Sharing cards by agreement: at the Round Table before the first turn, and after a won quest (R2.10, section 8)."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from engine.camelot import events
from engine.camelot.camelot import Camelot
from engine.camelot.choices import ACCEPT, DEAL_AT_RANDOM, DECLINE, GIVE, Choice, Verb, card_choice
from engine.camelot.pieces import Card
from engine.camelot.state import Knight, Pool
from engine.core.decisions import Answers, Offer, Script, Withdrawn, ask, ask_all, question


def round_table_sharing(g: Camelot) -> Script:
    """Every knight offers one card of his hand; all are revealed at once and shared (R2.10)."""
    knights = g.living()
    answers = yield from ask_all(
        question(knight.seat, "offer_card", [card_choice("R2.10", Card(card)) for card in sorted(set(knight.hand))])
        for knight in knights
    )
    knights = [knight for knight in knights if knight.seat in answers]
    offered = bytearray()
    for knight in knights:
        card = answers[knight.seat][0].card
        knight.hand.remove(card)
        offered.append(card)
    told = tuple((knight.seat, Card(card)) for knight, card in zip(knights, offered, strict=True))
    g.tell(events.CardsOffered(told, rule="R2.10"))
    g.state.pool = Pool(offered, tuple(knight.seat for knight in knights), public=True)
    yield from share_out(g, "R2.10")


def share_reward(g: Camelot, number: int, sharers: Sequence[Knight], ender: int, rule: str) -> Script:
    """Draws cards for the knights who share them; the one who ended the quest, or the next of them, proposes."""
    if not sharers or not number:
        return
    proposer = next(knight for knight in g.clockwise(ender) if knight in sharers)
    if len(sharers) == 1:
        g.draw_to_hand(proposer, number, rule)
        return
    cards = g.draw_white(number)
    if not cards:
        return
    seats = tuple(knight.seat for knight in g.clockwise(proposer.seat) if knight in sharers)
    g.state.pool = Pool(bytearray(sorted(cards)), seats, public=False)
    full = events.CardsPooled(len(cards), seats, tuple(map(Card, sorted(cards))), rule=rule)
    g.tell_some(events.CardsPooled(len(cards), seats, rule=rule), dict.fromkeys(seats, full))
    yield from share_out(g, rule)


def share_out(g: Camelot, rule: str) -> Script:
    """One proposal, by the first of the sharers; a single refusal has the cards dealt at random."""
    pool = g.state.pool
    assert pool is not None
    agreed = yield from propose(g, pool, rule)
    seats = bytes(pool.proposed) if agreed else b""
    if not agreed:
        g.chance.shuffle(pool.cards)
        seats = bytes(pool.sharers[place % len(pool.sharers)] for place in range(len(pool.cards)))
    g.state.pool = None
    shares = {seat: bytearray() for seat in pool.sharers}
    for card, seat in zip(pool.cards, seats, strict=True):
        shares[seat].append(card)
    for seat, share in shares.items():
        g.take(g.state.knights[seat], share)
    numbers = tuple((seat, len(share)) for seat, share in shares.items())
    private = {
        seat: events.CardsShared(numbers, tuple(map(Card, sorted(share))), rule=rule) for seat, share in shares.items()
    }
    g.tell_some(events.CardsShared(numbers, rule=rule), private)


def propose(g: Camelot, pool: Pool, rule: str) -> Script:
    """The proposer names a knight for each card in turn, the others accept or decline at the same time.

    When a sharer leaves, what was proposed is void, and the first of those who stay proposes anew (R20.7).
    """
    while len(pool.sharers) > 1:
        if len(pool.proposed) == len(pool.cards):
            answers = yield from ask_all(
                (question(seat, "accept_share", [ACCEPT, DECLINE]) for seat in pool.sharers[1:]),
                settled=lambda answers: bool(refusing(answers)) or not pool.proposed,
            )
            if pool.proposed:
                refused = refusing(answers)
                g.tell(events.ProposalAnswered(not refused, refused, rule=rule))
                return not refused
            continue
        proposer = pool.sharers[0]
        try:
            choice = yield from ask(proposer, "propose_share", partial(receivers, pool), prefer=[DEAL_AT_RANDOM])
        except Withdrawn:
            continue
        if choice is DEAL_AT_RANDOM:
            return False
        full = events.CardProposed(proposer, choice.seat, Card(pool.cards[len(pool.proposed)]), rule=rule)
        pool.proposed.append(choice.seat)
        if pool.public:
            g.tell(full)
        else:
            hidden = events.CardProposed(proposer, choice.seat, rule=rule)
            g.tell_some(hidden, dict.fromkeys(pool.sharers, full))
    return False


def receivers(pool: Pool, offer: Offer[Choice]) -> None:
    """Who may get the next card; nobody is to be chosen once one sharer alone is left."""
    if len(pool.sharers) > 1:
        for seat in pool.sharers:
            offer(GIVE[seat])
        if not pool.proposed:
            offer(DEAL_AT_RANDOM)


def refusing(answers: Answers) -> tuple[int, ...]:
    return tuple(seat for seat, picked in answers.items() if picked[0].verb is Verb.DECLINE)
