"""How quests advance and how they end (sections 8, 10 and 11)."""

from __future__ import annotations

from engine.camelot import events
from engine.camelot.camelot import Camelot
from engine.camelot.choices import Verb, card_choice, passing
from engine.camelot.life import gain_life, lose_life
from engine.camelot.pieces import (
    CARD_FIGURES,
    FIGHT_VALUE,
    FIGHTS,
    QUEST_FIGURES,
    RELIC_FIGURES,
    WARS,
    Card,
    Coat,
    Place,
    Relic,
    Standing,
    black_value,
)
from engine.camelot.sharing import share_reward
from engine.camelot.squires import knight_a_squire
from engine.camelot.state import Knight, Laid
from engine.core.decisions import Script, Withdrawn, ask

EVIL_CARDS = (Card.DESPAIR, Card.DESOLATION)

# Combat


def group_takes(g: Camelot, quest: Place, group: int, card: int) -> bool:
    """Equal cards within a group, different values between groups (R10.2, R10.3)."""
    white = g.state.combat(quest).white
    cards = white[group]
    if cards:
        return cards[0] == card and len(cards) < QUEST_FIGURES[quest].groups[group]
    return all(not other or other[0] != card for other in white)


def lay_fight(g: Camelot, knight: Knight, quest: Place, card: Card, group: int) -> Script:
    white = g.state.combat(quest).white
    knight.hand.remove(card)
    white[group].append(card)
    g.tell(events.WhiteCardPlayed(knight.seat, card, quest, group, rule="R6.16"))
    if all(len(cards) == size for cards, size in zip(white, QUEST_FIGURES[quest].groups, strict=True)):
        yield from decide_combat(g, quest, knight, by_black_card=False)


def lay_black(g: Camelot, quest: Place, laid: Laid, drawer: Knight, after_laying: bool) -> Script:
    """Lays a black card into the next slot; `after_laying` gives the drawer his white card first (R5.3)."""
    black = g.state.combat(quest).black
    black.append(laid)
    slot = len(black) - 1
    full = events.BlackCardPlaced(quest, laid.face_down, slot, Card(laid.card), rule="R5.3")
    if laid.face_down:
        g.tell_knowing(laid.seen, full, events.BlackCardPlaced(quest, True, slot, rule="R5.3"))
    else:
        g.tell(full)
    if after_laying:
        g.draw_to_hand(drawer, 1, "R5.3")
    if len(black) == QUEST_FIGURES[quest].black_slots:
        yield from decide_combat(g, quest, drawer, by_black_card=True)


def decide_combat(g: Camelot, quest: Place, ender: Knight, *, by_black_card: bool) -> Script:
    """Shuffle and reveal the black cards, let Kay add a card, compare; ties favour evil (section 8 step 1)."""
    combat = g.state.combat(quest)
    revealed = bytearray(laid.card for laid in combat.black)
    g.chance.shuffle(revealed)
    g.tell(events.BlackCardsRevealed(quest, tuple(map(Card, revealed)), rule="R5.10"))
    white = sum(FIGHT_VALUE[card] for group in combat.white for card in group)
    kay = next((knight for knight in g.present(quest) if knight.coat is Coat.KAY and knight.life), None)
    if kay is not None:
        white += yield from kay_helps(g, kay)
    owner = g.owner(Relic.EXCALIBUR)
    if owner is not None and owner.place == quest:
        white += RELIC_FIGURES[Relic.EXCALIBUR].fight_bonus
    evil = sum(black_value(card, quest) for card in revealed)
    won = white > evil
    g.tell(events.FightDecided(white, evil, won, quest, rule="R16.8"))
    yield from end_quest(g, quest, won, ender, by_black_card=by_black_card)


def kay_helps(g: Camelot, kay: Knight) -> Script:
    """Kay may add one Fight card of any value; asked whenever he has a card, so that his hand stays secret (R14.4)."""
    if not kay.hand:
        return 0
    fights = [card_choice("R14.4", card) for card in FIGHTS if card in kay.hand]
    try:
        choice = yield from ask(kay.seat, "kay_power", [passing("R14.4"), *fights])
    except Withdrawn:
        return 0
    if choice.verb is Verb.PASS:
        return 0
    kay.hand.remove(choice.card)
    g.state.white_discards.append(choice.card)
    g.tell(events.KayHelped(kay.seat, choice.card, rule="R14.4"))
    return FIGHT_VALUE[choice.card]


# Excalibur


def move_excalibur(g: Camelot, steps: int, ender: Knight, rule: str) -> Script:
    """Moves the sword, towards the knights by positive steps; at either bank the quest ends (R11.2)."""
    figures = QUEST_FIGURES[Place.EXCALIBUR]
    state = g.state
    won_at = figures.track_start + figures.steps_to_win
    lost_at = figures.track_start - figures.steps_to_lose
    state.excalibur = max(lost_at, min(won_at, state.excalibur + steps))
    g.tell(events.ExcaliburMoved(state.excalibur, rule=rule))
    if state.excalibur in (won_at, lost_at):
        yield from end_quest(g, Place.EXCALIBUR, state.excalibur == won_at, ender)


# The Grail's row


def first_empty(row: bytearray) -> int:
    return row.find(0)


def last_empty(row: bytearray) -> int:
    return row.rfind(0)


def lay_grail(g: Camelot, knight: Knight) -> Script:
    """Into the empty slot nearest the Grail; on a full row it takes the nearest black card away (R6.18, R11.4)."""
    state = g.state
    knight.hand.remove(Card.GRAIL)
    slot = first_empty(state.grail)
    if slot >= 0:
        state.grail[slot] = Card.GRAIL
        g.tell(events.WhiteCardPlayed(knight.seat, Card.GRAIL, Place.GRAIL, slot, rule="R6.18"))
    else:
        state.white_discards.append(Card.GRAIL)
        g.tell(events.WhiteCardPlayed(knight.seat, Card.GRAIL, Place.GRAIL, rule="R6.18"))
        slot = next(slot for slot, card in enumerate(state.grail) if card in EVIL_CARDS)
        remove_from_row(g, slot, "R11.9")
    yield from check_row(g, knight)


def remove_from_row(g: Camelot, slot: int, rule: str) -> None:
    """A black card leaves the row for the discards."""
    state = g.state
    card = Card(state.grail[slot])
    state.grail[slot] = 0
    if card is Card.DESPAIR:
        state.despairs.remove(slot)
    state.black_discards.append(card)
    g.tell(events.BlackCardRemoved(Place.GRAIL, slot, card, rule=rule))


def lay_despair(g: Camelot, card: Card, drawer: Knight) -> Script:
    """Into the empty slot farthest from the Grail; on a full row it and the front Grail card go (R5.7)."""
    state = g.state
    slot = last_empty(state.grail)
    if slot >= 0:
        put_on_row(g, card, slot)
    else:
        state.black_discards.append(card)
        remove_grail_card(g, state.grail.rfind(Card.GRAIL), "R5.7")
    yield from check_row(g, drawer)


def put_on_row(g: Camelot, card: Card, slot: int) -> None:
    g.state.grail[slot] = card
    if card is Card.DESPAIR:
        g.state.despairs.append(slot)
    g.tell(events.BlackCardPlaced(Place.GRAIL, False, slot, card, rule="R5.7"))


def remove_grail_card(g: Camelot, slot: int, rule: str) -> None:
    g.state.grail[slot] = 0
    g.state.white_discards.append(Card.GRAIL)
    g.tell(events.GrailCardRemoved(slot, rule=rule))


def check_row(g: Camelot, ender: Knight) -> Script:
    """Seven of a colour end the quest (R11.3)."""
    row = g.state.grail
    if 0 in row:
        return
    grails = row.count(Card.GRAIL)
    if grails in (0, len(row)):
        yield from end_quest(g, Place.GRAIL, grails > 0, ender)


# Wars


def run_needed(g: Camelot, war: Place) -> tuple[int, ...]:
    """The run to lay: with Mordred there, a second Fight 5 after it (B6)."""
    extra = CARD_FIGURES[Card.MORDRED].params.extra_run_values if g.state.war(war).mordred else ()
    return QUEST_FIGURES[war].run + extra


def next_in_run(g: Camelot, war: Place) -> int:
    """The Fight value that continues the run (R6.19)."""
    return run_needed(g, war)[g.state.war(war).run]


def continue_run(g: Camelot, knight: Knight, war: Place, card: Card) -> Script:
    state = g.state.war(war)
    knight.hand.remove(card)
    state.run += 1
    g.tell(events.WhiteCardPlayed(knight.seat, card, war, state.run - 1, rule="R6.19"))
    if state.run == len(run_needed(g, war)):
        yield from end_quest(g, war, True, knight)


def add_warrior(g: Camelot, war: Place, ender: Knight, rule: str) -> Script:
    state = g.state.war(war)
    state.warriors += 1
    g.tell(events.WarriorAdded(war, state.warriors, rule=rule))
    if state.warriors == QUEST_FIGURES[war].warriors:
        yield from end_quest(g, war, False, ender)


# The end of a quest


def end_quest(g: Camelot, quest: Place, won: bool, ender: Knight, *, by_black_card: bool = False) -> Script:
    """The common procedure of section 8, step by step."""
    figures = QUEST_FIGURES[quest]
    state = g.state
    there = g.present(quest)
    g.tell(events.QuestEnded(quest, won, rule="R8.3"))
    if won:
        spoils = figures.victory
        for knight in there:
            palamedes = knight.coat is Coat.PALAMEDES
            gain_life(g, knight, spoils.life + palamedes, "R14.5" if palamedes else "R8 step 2")
        sharers = [knight for knight in there if g.gains_cards(knight)]
        yield from share_reward(g, spoils.white_cards, sharers, ender.seat, "R8 step 3")
        win_relic(g, quest, ender, there, by_black_card)
        heroism = CARD_FIGURES[Card.HEROISM].params.extra_white_swords_if_won if state.heroism == quest else 0
        g.lay_swords(spoils.white_swords + heroism, 0, "R8 step 5")
    else:
        penalty = figures.defeat
        yield from lose_life(g, there, -penalty.life, "R8 step 2")
        if penalty.relic_lost is not None:
            g.lose_relic(Relic[penalty.relic_lost.upper()], "R8 step 4")
        heroism = CARD_FIGURES[Card.HEROISM].params.extra_black_swords_if_lost if state.heroism == quest else 0
        mists = CARD_FIGURES[Card.MISTS_OF_AVALON].params.extra_black_swords * state.mists
        g.lay_swords(0, penalty.black_swords + mists + heroism, "R8 step 5")
        g.add_engines(penalty.engines, "R8 step 6")
    clear_quest(g, quest)
    for knight in there:
        if knight.standing is Standing.ALIVE:
            g.move(knight, Place.CAMELOT, "R8 step 7")
    if won and g.options.persistent_black_duration == "until_quest_won":
        lift_lasting_cards(g)
    if figures.after != "restart":
        state.over |= 1 << quest
    if won:
        yield from knight_a_squire(g, there, ender)


def win_relic(g: Camelot, quest: Place, ender: Knight, there: list[Knight], by_black_card: bool) -> None:
    """To the knight whose action ended the quest; Lancelot won by a black card is his who stands there (R10.8).

    With one who has left it is lost (R20.2).
    """
    name = QUEST_FIGURES[quest].victory.relic
    if name is None:
        return
    relic = Relic[name.upper()]
    winner: Knight | None = ender
    if by_black_card and g.options.armor_when_black_card_ends_lancelot == "knight_present":
        winner = there[0] if there else None
    if winner is None or winner.standing is Standing.LEFT:
        g.lose_relic(relic, "R20.2")
        return
    g.state.relics[relic] = winner.seat
    g.tell(events.RelicWon(relic, winner.seat, rule="R8 step 4"))


def clear_quest(g: Camelot, quest: Place) -> None:
    """All cards on the quest are discarded, figures go back to the reserve (section 8 steps 8 and 9)."""
    state = g.state
    if QUEST_FIGURES[quest].combat:
        g.clear_combat(quest)
    elif quest == Place.GRAIL:
        state.white_discards += bytes(card for card in state.grail if card == Card.GRAIL)
        state.black_discards += bytes(card for card in state.grail if card in EVIL_CARDS)
        state.grail[:] = bytes(len(state.grail))
        state.despairs.clear()
    elif quest in WARS:
        war = state.war(quest)
        state.white_discards += bytes(FIGHTS[value - 1] for value in run_needed(g, quest)[: war.run])
        if war.mordred:
            state.black_discards.append(Card.MORDRED)
            g.tell(events.LastingCardEnded(Card.MORDRED, quest, rule="B6"))
        war.run, war.warriors, war.mordred = 0, 0, False
    if state.heroism == quest:
        state.heroism = Place.NOWHERE
        state.white_discards.append(Card.HEROISM)


def lift_lasting_cards(g: Camelot) -> None:
    """A won quest ends Vivien and Dark Forest (R12.D)."""
    state = g.state
    if state.vivien:
        state.vivien = False
        state.black_discards.append(Card.VIVIEN)
        g.tell(events.LastingCardEnded(Card.VIVIEN, rule="R12.D"))
    if state.dark_forest:
        state.dark_forest = False
        state.black_discards.append(Card.DARK_FOREST)
        g.tell(events.LastingCardEnded(Card.DARK_FOREST, rule="R12.D"))
