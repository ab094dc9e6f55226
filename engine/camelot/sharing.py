"""Sharing cards by agreement: at the Round Table before the first turn, and after a won quest (R2.10, section 8)."""

from __future__ import annotations

from collections.abc import Sequence

from engine.camelot import events
from engine.camelot.camelot import Camelot
from engine.camelot.choices import ACCEPT, DEAL_AT_RANDOM, DECLINE, GIVE, card_choice
from engine.camelot.pieces import Card
from engine.camelot.state import Knight, Pool
from engine.core.decisions import Answers, Script, ask, ask_all, question


def round_table_sharing(g: Camelot) -> Script:
    """Every knight offers one card of his hand; all are revealed at once and shared (R2.10)."""
    knights = list(g.clockwise(g.state.active))
    answers = yield from ask_all(
        question(knight.seat, "offer_card", [card_choice("R2.10", Card(card)) for card in sorted(set(knight.hand))])
        for knight in knights
    )
    offered = bytearray()
    for knight in knights:
        card = answers[knight.seat][0].card
        knight.hand.remove(card)
        offered.append(card)
    told = tuple((knight.seat, Card(card)) for knight, card in zip(knights, offered, strict=True))
    g.tell(events.CardsOffered(told, rule="R2.10"))
    g.state.pool = Pool(offered, tuple(knight.seat for knight in knights), public=True)
    yield from share_out(g, knights[0], "R2.10")


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
    yield from share_out(g, proposer, rule)


def share_out(g: Camelot, proposer: Knight, rule: str) -> Script:
    """One proposal; a single refusal has the cards dealt at random."""
    pool = g.state.pool
    assert pool is not None
    agreed = yield from propose(g, pool, proposer, rule)
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


def propose(g: Camelot, pool: Pool, proposer: Knight, rule: str) -> Script:
    """The proposer names a knight for each card in turn, the others accept or decline at the same time."""
    for card in map(Card, pool.cards):
        options = [GIVE[seat] for seat in pool.sharers]
        if not pool.proposed:
            options.append(DEAL_AT_RANDOM)
        choice = yield from ask(proposer.seat, "propose_share", options, prefer=[DEAL_AT_RANDOM])
        if choice is DEAL_AT_RANDOM:
            return False
        pool.proposed.append(choice.seat)
        full = events.CardProposed(proposer.seat, choice.seat, card, rule=rule)
        if pool.public:
            g.tell(full)
        else:
            hidden = events.CardProposed(proposer.seat, choice.seat, rule=rule)
            g.tell_some(hidden, dict.fromkeys(pool.sharers, full))
    answers = yield from ask_all(
        (question(seat, "accept_share", [ACCEPT, DECLINE]) for seat in pool.sharers if seat != proposer.seat),
        settled=_refused,
    )
    refused = tuple(seat for seat, picked in answers.items() if picked[0] is DECLINE)
    g.tell(events.ProposalAnswered(not refused, refused, rule=rule))
    return not refused


def _refused(answers: Answers) -> bool:
    return any(picked[0] is DECLINE for picked in answers.values())
