"""What must hold in every state of play."""

from __future__ import annotations

from collections.abc import Iterator

from engine.camelot.camelot import Camelot
from engine.camelot.pieces import (
    CARD_FIGURES,
    COMBATS,
    FIGHTS,
    FIGURES,
    QUEST_FIGURES,
    QUESTS,
    RELIC_FIGURES,
    SOLO,
    WARS,
    ActionType,
    Card,
    Ending,
    Phase,
    Place,
    Relic,
    Standing,
)
from engine.camelot.quests import EVIL_CARDS, run_needed
from engine.camelot.secrecy import COMBAT_BACKS
from engine.camelot.state import NOBODY, Turn
from engine.core.facts import Fault

COMBAT_CARDS = dict(zip(COMBATS, (COMBAT_BACKS[0], COMBAT_BACKS[1], COMBAT_BACKS[1]), strict=True))
"""The black cards that go to a combat quest."""


def faults(g: Camelot, *, resting: bool = False) -> Iterator[Fault]:
    """Each broken invariant, by its fact; with `resting` those too that hold where no rule is half-way through."""
    wrong = [*seats(g)]
    yield from wrong
    if wrong:
        # Who is meant by the other facts is not clear.
        return
    yield from knights(g)
    yield from table(g)
    for quest in COMBATS:
        yield from combat(g, quest)
    for war in WARS:
        yield from war_faults(g, war)
    yield from row(g)
    if resting and g.state.phase is Phase.OVER:
        yield from ending_faults(g)
    elif resting:
        yield from relics(g)
        yield from unsettled(g)
        yield from bearing(g)
        yield from turn_so_far(g)


def name(piece: Place | Relic | Card) -> str:
    return piece.name.lower()


def seats(g: Camelot) -> Iterator[Fault]:
    """Every seat that is named is one of the table's."""
    state = g.state
    there = range(len(state.knights))
    if sorted(state.order) != list(there):
        yield Fault("order", "is not each seat once")
    if state.active not in there:
        yield Fault("active", f"there is no seat {state.active}")
    for place, knight in enumerate(state.knights):
        if knight.seat != place:
            yield Fault(f"knights[{place}].seat", f"this is seat {place}")
    for relic in Relic:
        if state.relics[relic] not in (NOBODY, *there):
            yield Fault(f"relics.{name(relic)}", f"there is no seat {state.relics[relic]}")
    for quest in COMBATS:
        for place, laid in enumerate(state.combat(quest).black):
            if laid.seen > g.everyone():
                yield Fault(f"{name(quest)}.black[{place}].seen", "names a seat that is not there")
    for place, drawn in enumerate(state.drawn):
        if drawn.drawer not in there or drawn.seen > g.everyone():
            yield Fault(f"drawn[{place}]", "names a seat that is not there")
    if state.pool is not None:
        for seat in {*state.pool.sharers, *state.pool.proposed} - {*there}:
            yield Fault("pool", f"there is no seat {seat}")


def knights(g: Camelot) -> Iterator[Fault]:
    state = g.state
    for knight in state.knights:
        path = f"knights[{knight.seat}]"
        if not FIGURES.life_min <= knight.life <= FIGURES.life_max:
            yield Fault(f"{path}.life", f"{knight.life} is not a life from {FIGURES.life_min} to {FIGURES.life_max}")
        if knight.standing is not Standing.ALIVE:
            if knight.hand:
                yield Fault(f"{path}.hand", f"a knight who is {knight.standing.name.lower()} has no hand")
            if knight.place:
                yield Fault(f"{path}.place", f"a knight who is {knight.standing.name.lower()} stands nowhere")
            if knight.life:
                yield Fault(f"{path}.life", f"a knight who is {knight.standing.name.lower()} has no life")
        elif knight.life and (not knight.place or not g.in_play(knight.place)):
            yield Fault(f"{path}.place", f"{name(knight.place)} is not in play")
        if knight.standing is Standing.UNMASKED and not (knight.traitor and knight.shown):
            yield Fault(f"{path}.standing", "the unmasked traitor is the traitor, and his card is shown")
        if list(knight.hand) != sorted(knight.hand):
            yield Fault(f"{path}.hand", "is not sorted")
        for fact, number in (("known_top", knight.known_top), ("known_bottom", knight.known_bottom)):
            if not 0 <= number <= len(state.black_pile):
                yield Fault(f"{path}.{fact}", f"the black pile has no {number} cards")
    for quest in SOLO:
        there = [knight.seat for knight in g.present(quest)]
        for seat in sorted(there)[1:]:
            yield Fault(f"knights[{seat}].place", f"{name(quest)} holds one knight")


def table(g: Camelot) -> Iterator[Fault]:
    """The Round Table, the engines, and how the game stands."""
    state = g.state
    for fact, number in (("white_swords", state.white_swords), ("black_swords", state.black_swords)):
        if not 0 <= number <= FIGURES.swords_total:
            yield Fault(fact, f"{number} is not from 0 to {FIGURES.swords_total}")
    if g.swords > FIGURES.swords_total:
        yield Fault("black_swords", f"{g.swords} swords lie, of {FIGURES.swords_total}")
    if not 0 <= state.engines <= FIGURES.engines_total:
        yield Fault("engines", f"{state.engines} is not from 0 to {FIGURES.engines_total}")
    for fact, number in (("turns", state.turns), ("turn.actions", state.turn.actions)):
        if number < 0:
            yield Fault(fact, "is less than 0")
    if not 0 <= state.mists <= CARD_FIGURES[Card.MISTS_OF_AVALON].copies:
        yield Fault("mists", f"{state.mists} is not from 0 to {CARD_FIGURES[Card.MISTS_OF_AVALON].copies}")
    for place, roll in enumerate(state.rolls):
        if not 1 <= roll <= FIGURES.engine_die_sides:
            yield Fault(f"rolls[{place}]", f"the die has no {roll}")
    for place in Place:
        if state.over & 1 << place and (place not in QUESTS or QUEST_FIGURES[place].after == "restart"):
            yield Fault("over", f"{name(place)} is never over")
    if state.over & 1 << Place.DRAGON and not state.over & 1 << Place.LANCELOT:
        yield Fault("over", "the dragon comes after lancelot")
    if state.heroism and (state.heroism not in QUESTS or not g.in_play(state.heroism)):
        yield Fault("heroism", f"{name(state.heroism)} is no quest in play")
    steps = QUEST_FIGURES[Place.EXCALIBUR].track_spaces
    if not 0 <= state.excalibur < steps:
        yield Fault("excalibur", f"{state.excalibur} is not from 0 to {steps - 1}")
    over = state.phase is Phase.OVER
    if over != bool(state.ending):
        yield Fault("ending", "is told if and only if the game is over")
    if not over and state.engines >= FIGURES.engines_defeat:
        yield Fault("engines", f"with {state.engines} the game is over")
    if not over and state.black_swords >= FIGURES.black_swords_defeat:
        yield Fault("black_swords", f"with {state.black_swords} the game is over")


def combat(g: Camelot, quest: Place) -> Iterator[Fault]:
    combat, figures = g.state.combat(quest), QUEST_FIGURES[quest]
    if not g.in_play(quest) and (combat.black or any(combat.white)):
        yield Fault(name(quest), "has cards, but is not in play")
    if len(combat.black) > figures.black_slots:
        yield Fault(f"{name(quest)}.black", f"there are {figures.black_slots} slots")
    for place, laid in enumerate(combat.black):
        if laid.card not in COMBAT_CARDS[quest]:
            yield Fault(f"{name(quest)}.black[{place}].card", "does not go to this quest")
    if len(combat.white) != len(figures.groups):
        yield Fault(f"{name(quest)}.white", f"there are {len(figures.groups)} groups")
        return
    for place, (group, size) in enumerate(zip(combat.white, figures.groups, strict=True)):
        path = f"{name(quest)}.white[{place}]"
        if len(group) > size:
            yield Fault(path, f"holds {size} cards")
        if len(set(group)) > 1 or set(group) - {*FIGHTS}:
            yield Fault(path, "is not of equal fights")
        if group and any(group[:1] == other[:1] for other in combat.white[:place]):
            yield Fault(path, "has the fights of another group")


def war_faults(g: Camelot, war: Place) -> Iterator[Fault]:
    state = g.state.war(war)
    for fact, number, most in (
        ("run", state.run, len(run_needed(g, war))),
        ("warriors", state.warriors, QUEST_FIGURES[war].warriors),
    ):
        if not 0 <= number <= most:
            yield Fault(f"{name(war)}.{fact}", f"{number} is not from 0 to {most}")


def row(g: Camelot) -> Iterator[Fault]:
    state, slots = g.state, QUEST_FIGURES[Place.GRAIL].row_slots
    if len(state.grail) != slots:
        yield Fault("grail", f"there are {slots} slots")
    for slot, card in enumerate(state.grail):
        if card and card != Card.GRAIL and card not in EVIL_CARDS:
            yield Fault(f"grail[{slot}]", f"{name(Card(card))} does not lie on the row")
    if any(state.grail) and not g.in_play(Place.GRAIL):
        yield Fault("grail", "has cards, but is not in play")
    if sorted(state.despairs) != [slot for slot, card in enumerate(state.grail) if card == Card.DESPAIR]:
        yield Fault("despairs", "are not the slots where despairs lie")


def relics(g: Camelot) -> Iterator[Fault]:
    """A relic is owned once its quest is over, by a knight who can own it (section 9)."""
    for relic in Relic:
        owner, quest = g.owner(relic), Place[RELIC_FIGURES[relic].quest.upper()]
        if owner is None:
            continue
        if g.in_play(quest):
            yield Fault(f"relics.{name(relic)}", f"it is still on its quest: {name(quest)} is not over")
        keeps = relic is Relic.LANCELOTS_ARMOR and owner.standing is Standing.UNMASKED
        if owner.standing is not Standing.ALIVE and not keeps:
            yield Fault(f"relics.{name(relic)}", f"seat {owner.seat} is {owner.standing.name.lower()}")


def bearing(g: Camelot) -> Iterator[Fault]:
    """What each knight can be between the rules."""
    state = g.state
    if g.began_with < FIGURES.players_min:
        yield Fault("knights", f"{FIGURES.players_min} at least have not joined in mid-game")
    for knight in state.knights:
        path = f"knights[{knight.seat}]"
        if knight.coat and state.phase is Phase.CHALLENGE:
            yield Fault(f"{path}.coat", "who is a knight is chosen only now")
        if knight.standing is Standing.ALIVE and knight.traitor and knight.shown:
            yield Fault(f"{path}.shown", "a traitor whose card is shown is unmasked")
        if knight.doomed and knight is g.active and state.phase is not Phase.HEROIC:
            yield Fault(f"{path}.life", "nobody begins his turn at 0 life")
        if knight.joined and not state.turns:
            yield Fault(f"{path}.joined", "nobody joins before the end of the first turn")
        if not knight.joined and any(other.joined for other in state.knights[: knight.seat]):
            yield Fault(f"{path}.joined", "who joins gets the next seat")
    if state.phase is Phase.CHALLENGE and not g.options.squires:
        yield Fault("phase", "there are no squires to choose")


def turn_so_far(g: Camelot) -> Iterator[Fault]:
    """What the active knight can have done between two choices (sections 3 and 6)."""
    state, turn = g.state, g.state.turn
    if turn.ends:
        yield Fault("turn.ends", "the turn should have ended")
    if state.phase is not Phase.HEROIC:
        if turn != Turn():
            yield Fault("turn", f"nothing is done yet in the phase {state.phase.name.lower()}")
        return
    if turn.fatal != g.active.doomed:
        yield Fault("turn.fatal", "the active knight is at 0 life if and only if his sacrifice was fatal")
    for fact, told, needed in (("owed", turn.owed, "sacrificed"), ("fatal", turn.fatal, "owed")):
        if told and not getattr(turn, needed):
            yield Fault(f"turn.{fact}", f"is so only if {needed} is")
    if turn.fatal_grail and not turn.sacrificed:
        yield Fault("turn.fatal_grail", "is so only if sacrificed is")
    if (turn.sacrificed and turn.actions != 2 - turn.owed) or (not turn.sacrificed and turn.actions > 1):
        yield Fault("turn.actions", "there is one, and another one for a sacrifice")
    # Tristan's ride and Galahad's card are of a type, but no action.
    free = turn.types & (ActionType.MOVE | ActionType.SPECIAL) and 1
    if not turn.actions <= turn.types.bit_count() <= turn.actions + free:
        yield Fault("turn.types", f"there is one for each of the {turn.actions} actions")


def ending_faults(g: Camelot) -> Iterator[Fault]:
    """Whether the game can have ended as it says (section 16)."""
    state = g.state
    twelve, white_won = g.swords >= FIGURES.swords_end, state.white_swords > state.black_swords
    came = {
        Ending.SIEGE: state.engines >= FIGURES.engines_defeat,
        Ending.BLACK_SWORDS: state.black_swords >= FIGURES.black_swords_defeat,
        Ending.ALL_DEAD: all(knight.traitor for knight in g.living()),
        Ending.TWELFTH_SWORD_WON: twelve and white_won,
        Ending.TWELFTH_SWORD_LOST: twelve and not white_won,
    }
    if state.ending and not came[Ending(state.ending)]:
        yield Fault("ending", f"{Ending(state.ending).name.lower()} has not come about")


def unsettled(g: Camelot) -> Iterator[Fault]:
    """What rules have open only while they are carried out."""
    state = g.state
    for fact, is_open in (("pool", state.pool), ("drawn", state.drawn), ("played", state.played)):
        if is_open:
            yield Fault(fact, "no rule is carried out here; give the facts before it and the inputs since")
    for quest in COMBATS:
        laid, figures = state.combat(quest), QUEST_FIGURES[quest]
        if len(laid.black) == figures.black_slots or tuple(map(len, laid.white)) == figures.groups:
            yield Fault(name(quest), "is full, and should have ended")
    for war in WARS:
        if state.war(war).run == len(run_needed(g, war)):
            yield Fault(f"{name(war)}.run", "is complete, and should have ended")
        if state.war(war).warriors == QUEST_FIGURES[war].warriors:
            yield Fault(f"{name(war)}.warriors", "are all there, and the war should have ended")
    if 0 not in state.grail and (Card.GRAIL in state.grail) != any(card in state.grail for card in EVIL_CARDS):
        yield Fault("grail", "is full, and should have ended")
    if g.in_play(Place.EXCALIBUR) and state.excalibur in (0, QUEST_FIGURES[Place.EXCALIBUR].track_spaces - 1):
        yield Fault("excalibur", "has come ashore, and should have ended")
    if g.swords >= FIGURES.swords_end:
        yield Fault("white_swords", f"with {g.swords} swords the game is over")
    if all(knight.traitor for knight in g.living()):
        yield Fault("knights", "no loyal knight lives, and the game is over")
    for seat, fault in turn_faults(g):
        yield Fault(f"knights[{seat}]" if seat is not None else "phase", fault)


def turn_faults(g: Camelot) -> Iterator[tuple[int | None, str]]:
    """Whether the active knight can be in this phase."""
    state, active = g.state, g.active
    if active.standing in (Standing.DEAD, Standing.LEFT):
        yield active.seat, "has no turn any more"
    if (state.phase is Phase.TRAITOR) != (active.standing is Standing.UNMASKED):
        yield None, "is the traitor's if and only if the active seat is the unmasked traitor's"
    if state.phase is Phase.SHARING:
        for knight in g.living():
            if not knight.hand:
                yield knight.seat, "has no card to offer"


def white_cards(g: Camelot) -> bytearray:
    """Every white card, wherever it is."""
    state = g.state
    cards = state.white_pile + state.white_discards
    for knight in state.knights:
        cards += knight.hand
    for quest in COMBATS:
        for group in state.combat(quest).white:
            cards += group
    cards += bytes(card for card in state.grail if card == Card.GRAIL)
    for war in WARS:
        cards += bytes(FIGHTS[value - 1] for value in run_needed(g, war)[: state.war(war).run])
    if state.pool is not None:
        cards += state.pool.cards
    if state.played:
        cards.append(state.played)
    if state.heroism:
        cards.append(Card.HEROISM)
    return cards


def black_cards(g: Camelot) -> bytearray:
    """Every black card, wherever it is."""
    state = g.state
    cards = state.black_pile + state.black_discards
    for quest in COMBATS:
        cards += bytes(laid.card for laid in state.combat(quest).black)
    cards += bytes(card for card in state.grail if card in EVIL_CARDS)
    cards += bytes(drawn.card for drawn in state.drawn)
    lasting = (
        (Card.VIVIEN, state.vivien),
        (Card.DARK_FOREST, state.dark_forest),
        (Card.MISTS_OF_AVALON, state.mists),
    )
    for card, copies in lasting:
        # One too many is enough to be seen as wrong, and a number from a position can be of any size.
        cards += bytes([card] * min(copies, CARD_FIGURES[card].copies + 1))
    cards += bytes([Card.MORDRED] * sum(state.war(war).mordred for war in WARS))
    return cards
