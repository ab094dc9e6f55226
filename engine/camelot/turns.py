"""A whole game: set-up, turns and the end (sections 2, 3 and 16)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from engine.camelot import events
from engine.camelot.camelot import Camelot, GameEnds
from engine.camelot.evil import progression_of_evil
from engine.camelot.heroic import heroic_step
from engine.camelot.life import bury_the_dead
from engine.camelot.pieces import (
    BLACK,
    CARD_FIGURES,
    FIGURES,
    QUEST_FIGURES,
    WHITE,
    Card,
    Coat,
    Ending,
    Loyalty,
    Phase,
    Place,
    Standing,
)
from engine.camelot.sharing import round_table_sharing
from engine.camelot.squires import challenge
from engine.camelot.state import Knight, Options, State, Turn, War, empty_combat
from engine.camelot.traitor import traitors_turn
from engine.core.chance import Chance
from engine.core.decisions import CHECKPOINT, Script, Withdrawn
from engine.core.games import Outcome

OUT_OF_THE_GAME = (Standing.DEAD, Standing.LEFT)

# Set-up


def deal(seats: int, options: Options, chance: Chance) -> State:
    """Coats of Arms, loyalty, black pile, white pile and hands, shuffled in this order (section 2).

    With squires everybody has what a squire has, until his player chooses (R20.3).
    """
    coats = bytearray(coat for coat in Coat if coat)
    chance.shuffle(coats)
    loyalty = loyalty_deck(seats, options)
    chance.shuffle(loyalty)
    black = deck(BLACK)
    chance.shuffle(black)
    white = deck(WHITE)
    merlins = bytes([Card.MERLIN] * FIGURES.opening_merlins)
    for _ in range(seats * len(merlins)):
        white.remove(Card.MERLIN)
    chance.shuffle(white)
    cards = options.squire_start_cards if options.squires else FIGURES.opening_white_cards
    life = options.squire_start_life if options.squires else FIGURES.life_start
    knights = []
    for seat in range(seats):
        dealt = bytes(white.pop() for _ in range(cards))
        hand = bytearray(sorted(merlins + dealt))
        coat = Coat.NONE if options.squires else Coat(coats.pop())
        knights.append(Knight(seat, coat, life, bool(loyalty.pop()), hand, shown=loyalty_lies_open(seats, options)))
    return State(
        phase=Phase.CHALLENGE if options.squires else Phase.SHARING,
        active=first_seat(knights),
        order=list(range(seats)),
        knights=knights,
        white_pile=white,
        black_pile=black,
        white_discards=bytearray(),
        black_discards=bytearray(),
        spare_coats=coats,
        spare_loyalty=loyalty,
        black_knight=empty_combat(Place.BLACK_KNIGHT),
        lancelot=empty_combat(Place.LANCELOT),
        dragon=empty_combat(Place.DRAGON),
        excalibur=QUEST_FIGURES[Place.EXCALIBUR].track_start,
        grail=bytearray(QUEST_FIGURES[Place.GRAIL].row_slots),
        despairs=bytearray(),
        pict_war=War(),
        saxon_war=War(),
    )


def first_seat(knights: Sequence[Knight]) -> int:
    """Arthur's, else that of the youngest player, who is in seat 0 (R2.12)."""
    return next((knight.seat for knight in knights if knight.coat is Coat.ARTHUR), 0)


def deck(cards: tuple[Card, ...]) -> bytearray:
    return bytearray(card for card in cards for _ in range(CARD_FIGURES[card].copies))


def loyalty_deck(seats: int, options: Options) -> bytearray:
    """The cards to deal from (R2.7, R2.9, R20.4)."""
    if options.traitor_in_deck == "none":
        return bytearray([Loyalty.LOYAL] * (FIGURES.loyalty_total - 1))
    loyal = seats if options.traitor_in_deck == "among_us" else FIGURES.loyalty_total - 1
    return bytearray([Loyalty.LOYAL] * loyal + [Loyalty.TRAITOR])


def loyalty_lies_open(began_with: int, options: Options) -> bool:
    """Without a traitor the cards lie face up as reminders (R2.9), if nobody has to wait for his (R20.6)."""
    blind = options.blind_loyalty_3p and began_with == FIGURES.players_min
    return options.traitor_in_deck == "none" and not blind


# Turns


def script(g: Camelot) -> Script:
    """The game from wherever its state stands to its end; returns the `Outcome`."""
    try:
        while g.state.phase is not Phase.OVER:
            yield from PHASES[g.state.phase](g)
            yield CHECKPOINT
    except GameEnds as end:
        conclude(g, end)
    return outcome(g)


def challenge_phase(g: Camelot) -> Script:
    yield from challenge(g)
    g.state.active = g.living(first_seat(g.state.knights))[0].seat
    g.state.phase = Phase.SHARING


def sharing_phase(g: Camelot) -> Script:
    yield from round_table_sharing(g)
    begin_turn(g, g.living()[0].seat)


def evil_phase(g: Camelot) -> Script:
    yield from or_leaving(progression_of_evil(g))
    count_swords(g)
    if turn_is_over(g) or g.active.doomed:
        end_turn(g)
    else:
        g.state.phase = Phase.HEROIC


def heroic_phase(g: Camelot) -> Script:
    yield from or_leaving(heroic_step(g))
    count_swords(g)
    if turn_is_over(g) or (g.active.doomed and not g.state.turn.fatal):
        end_turn(g)


def traitor_phase(g: Camelot) -> Script:
    yield from or_leaving(traitors_turn(g))
    count_swords(g)
    end_turn(g)


def or_leaving(part: Script) -> Script:
    """A part of a turn, or as much of it as comes before its player leaves (R20.7)."""
    with suppress(Withdrawn):
        yield from part


def turn_is_over(g: Camelot) -> bool:
    return g.state.turn.ends or g.active.standing is Standing.LEFT


PHASES = {
    Phase.CHALLENGE: challenge_phase,
    Phase.SHARING: sharing_phase,
    Phase.EVIL: evil_phase,
    Phase.HEROIC: heroic_phase,
    Phase.TRAITOR: traitor_phase,
}


def end_turn(g: Camelot) -> None:
    """The dead leave, newcomers sit down, then the next player clockwise; the dead are skipped (R13.2, R3.4, R20.8)."""
    bury_the_dead(g)
    g.state.turns += 1
    for seat in g.arrivals:
        sit_down(g, seat)
    g.arrivals.clear()
    following = list(g.clockwise(g.state.active))[1:]
    player = next((knight for knight in following if knight.standing not in OUT_OF_THE_GAME), g.active)
    begin_turn(g, player.seat)


def sit_down(g: Camelot, seat: int) -> None:
    """A newcomer, immediately left of Arthur, else of who was to begin (R20.1)."""
    state = g.state
    beside = first_seat(state.knights)
    loyalty = state.spare_loyalty.pop(g.chance.below(len(state.spare_loyalty)))
    coat = g.take_coat()
    shown = loyalty_lies_open(g.began_with, g.options)
    knight = Knight(seat, coat, FIGURES.join_life, bool(loyalty), shown=shown, joined=True)
    state.knights.append(knight)
    state.order.insert(state.order.index(beside) + 1, seat)
    g.tell(events.KnightJoined(seat, coat, knight.life, beside, rule="R20.1"))
    g.draw_to_hand(knight, FIGURES.join_cards, "R20.1")


def begin_turn(g: Camelot, seat: int) -> None:
    state = g.state
    state.active = seat
    state.turn = Turn()
    state.phase = Phase.TRAITOR if g.active.standing is Standing.UNMASKED else Phase.EVIL
    g.tell(events.TurnBegan(seat, rule="R3.1"))


# The end


def count_swords(g: Camelot) -> None:
    """After an action: at twelve swords a hidden traitor turns two, then white needs the majority (R16.2 to R16.4)."""
    if g.swords < FIGURES.swords_end:
        return
    if any(knight.traitor for knight in g.living()):
        g.turn_swords(FIGURES.traitor_end_flips, "R16.3")
        if g.options.end_flips_trigger_seven_black:
            g.check_black_swords()
    won = g.state.white_swords > g.state.black_swords
    raise GameEnds(Ending.TWELFTH_SWORD_WON if won else Ending.TWELFTH_SWORD_LOST, "R16.4")


def conclude(g: Camelot, end: GameEnds) -> None:
    """All loyalty cards are revealed (R16.9)."""
    state = g.state
    state.phase = Phase.OVER
    state.ending = end.ending
    traitor = next((knight.seat for knight in state.knights if knight.traitor), -1)
    winners = outcome(g).winners
    g.tell(events.GameEnded(end.ending, winners, state.white_swords, state.black_swords, traitor, rule=end.rule))


def outcome(g: Camelot) -> Outcome:
    """Who won: the dead with their side; evil without a traitor wins for nobody (R16.7)."""
    ending = Ending(g.state.ending)
    loyal_won = ending is Ending.TWELFTH_SWORD_WON
    winners = tuple(knight.seat for knight in g.state.knights if knight.traitor is not loyal_won)
    twelfth = ending in (Ending.TWELFTH_SWORD_WON, Ending.TWELFTH_SWORD_LOST)
    return Outcome(ending.name.lower(), "R16.4" if twelfth else "R16.1", winners)
