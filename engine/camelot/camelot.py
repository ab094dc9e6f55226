"""A game in play and the small operations that every rule is made of."""

from __future__ import annotations

from bisect import insort
from collections.abc import Iterator

from engine.camelot import events
from engine.camelot.pieces import COMBATS, FIGURES, SOLO, Card, Coat, Ending, Place, Relic, Standing
from engine.camelot.state import NOBODY, Knight, Options, State
from engine.core.events import Event
from engine.core.games import Play


class GameEnds(Exception):
    """Ends the game at once, wherever the rules are (R3.2)."""

    def __init__(self, ending: Ending, rule: str) -> None:
        super().__init__(ending.name)
        self.ending = ending
        self.rule = rule


class Camelot(Play[State, Options]):
    """The game in play. Knights are meant by their `Knight`, seats by number."""

    __slots__ = ()

    def knight_at(self, seat: int | None) -> Knight | None:
        """The knight of a seat; None for a spectator and for a newcomer who has not sat down (R20.8)."""
        knights = self.state.knights
        return knights[seat] if seat is not None and seat < len(knights) else None

    @property
    def began_with(self) -> int:
        """How many players the game was dealt for."""
        return sum(not knight.joined for knight in self.state.knights)

    @property
    def active(self) -> Knight:
        return self.state.knights[self.state.active]

    def clockwise(self, first: int) -> Iterator[Knight]:
        """All knights around the table, beginning with a seat."""
        order, knights = self.state.order, self.state.knights
        start = order.index(first)
        for seat in order[start:] + order[:start]:
            yield knights[seat]

    def living(self, first: int | None = None) -> list[Knight]:
        """Knights neither dead nor unmasked, clockwise from a seat (the active one)."""
        around = self.clockwise(self.state.active if first is None else first)
        return [knight for knight in around if knight.standing is Standing.ALIVE]

    def hale(self, first: int | None = None) -> list[Knight]:
        """Living knights who are not about to be removed (R13.11)."""
        return [knight for knight in self.living(first) if knight.life]

    def present(self, place: Place) -> list[Knight]:
        """Living knights at a place, clockwise from the active seat."""
        return [knight for knight in self.living() if knight.place == place]

    def gains_cards(self, knight: Knight) -> bool:
        """At 0 life nobody gains a card, but by the action of a fatal sacrifice (R13.5, R13.11)."""
        if knight.standing is not Standing.ALIVE:
            return False
        return knight.life > 0 or (self.state.turn.fatal and knight.seat == self.state.active)

    def stand_in(self, knight: Knight) -> Knight:
        """Who makes a knight's choices: himself, or once he has left the next living one clockwise (R20.7)."""
        return self.living(knight.seat)[0] if knight.standing is Standing.LEFT else knight

    def everyone(self) -> int:
        return (1 << len(self.state.knights)) - 1

    def tell_knowing(self, seen: int, full: Event, public: Event) -> None:
        """Tells the full form to the seats that know a face-down card, as bits, and the public one to all others."""
        self.tell_some(public, {knight.seat: full for knight in self.state.knights if seen & 1 << knight.seat})

    # Loyalty

    @property
    def swords(self) -> int:
        return self.state.white_swords + self.state.black_swords

    def knows_loyalty(self, knight: Knight) -> bool:
        """In a game begun with three players nobody looks before six swords lie (R2.8, R20.8)."""
        blind = self.options.blind_loyalty_3p and self.began_with == FIGURES.players_min
        return not blind or knight.looked or knight.shown or self.swords >= FIGURES.blind_loyalty_until_swords_3p

    # Coats of Arms

    def take_coat(self) -> Coat:
        """One of those that nobody has, at random."""
        coats = self.state.spare_coats
        return Coat(coats.pop(self.chance.below(len(coats))))

    def give_coat(self, knight: Knight, rule: str) -> None:
        """A squire becomes a knight: he gets a remaining Coat of Arms at random, and its power at once."""
        knight.coat = self.take_coat()
        self.tell(events.Knighted(knight.seat, knight.coat, rule=rule))

    # Places

    def in_play(self, place: Place) -> bool:
        """Whether a place is a destination (R6.11, R10.9)."""
        if place == Place.DRAGON and not self.state.over & 1 << Place.LANCELOT:
            return False
        return not self.state.over & 1 << place

    def free(self, place: Place) -> bool:
        """A solo quest holds one knight (R6.9)."""
        return place not in SOLO or not self.present(place)

    def move(self, knight: Knight, place: Place, rule: str) -> None:
        """Moves a figure; a solo quest left before its end loses its white cards (R6.10)."""
        left = knight.place
        if left == place:
            return
        knight.place = place
        if place:
            self.tell(events.KnightMoved(knight.seat, place, rule=rule))
        if left in SOLO:
            self.abandon(left)

    def abandon(self, quest: Place) -> None:
        number = 0
        for group in self.state.combat(quest).white:
            number += len(group)
            self.state.white_discards += group
            group.clear()
        if number:
            self.tell(events.SoloQuestAbandoned(quest, number, rule="R6.10"))

    # Hands

    def take(self, knight: Knight, cards: bytes | bytearray) -> None:
        for card in cards:
            insort(knight.hand, card)

    def discard(self, knight: Knight, cards: bytes, rule: str, *, shown: bool = False) -> None:
        """White cards from a hand to the discards, face down: the owner alone knows which, unless they are shown."""
        if not cards:
            return
        for card in cards:
            knight.hand.remove(card)
        self.state.white_discards += cards
        full = events.CardsDiscarded(knight.seat, len(cards), tuple(map(Card, cards)), rule=rule)
        if shown:
            self.tell(full)
        else:
            self.tell_some(events.CardsDiscarded(knight.seat, len(cards), rule=rule), {knight.seat: full})

    def discard_hand(self, knight: Knight) -> int:
        number = len(knight.hand)
        self.state.white_discards += knight.hand
        knight.hand.clear()
        return number

    def pass_cards(self, giver: Knight, receiver: Knight, cards: bytes, rule: str) -> None:
        """Cards already taken out of the giver's hand; the two of them see which."""
        self.take(receiver, cards)
        hidden = events.CardsGiven(giver.seat, receiver.seat, len(cards), rule=rule)
        full = events.CardsGiven(giver.seat, receiver.seat, len(cards), tuple(map(Card, cards)), rule=rule)
        self.tell_some(hidden, {giver.seat: full, receiver.seat: full})

    # Piles

    def reshuffle(self) -> None:
        """The discards of both colours go back; every known order is lost (R17.1, R17.5)."""
        state = self.state
        if not state.white_discards and not state.black_discards:
            return
        for pile, discards in (
            (state.white_pile, state.white_discards),
            (state.black_pile, state.black_discards),
        ):
            if discards:
                pile += discards
                discards.clear()
                self.chance.shuffle(pile)
                if pile is state.black_pile:
                    for knight in state.knights:
                        knight.known_top = knight.known_bottom = 0
        self.tell(events.PilesReshuffled(len(state.white_pile), len(state.black_pile), rule="R17.1"))

    def draw_white(self, number: int) -> bytes:
        """Cards off the white pile; fewer where nothing is left (R17.1 to R17.3, R17.6)."""
        pile = self.state.white_pile
        drawn = bytearray()
        while len(drawn) < number:
            if not pile:
                self.reshuffle()
                if not pile:
                    break
            drawn.append(pile.pop())
            if not pile:
                self.reshuffle()
        return bytes(drawn)

    def draw_to_hand(self, knight: Knight, number: int, rule: str) -> None:
        cards = self.draw_white(number)
        if not cards:
            return
        self.take(knight, cards)
        seat = knight.seat
        self.tell_some(
            events.WhiteCardsDrawn(seat, len(cards), rule=rule),
            {seat: events.WhiteCardsDrawn(seat, len(cards), tuple(map(Card, cards)), rule=rule)},
        )

    def draw_black(self) -> tuple[int, int]:
        """The top black card and the seats that knew it, as bits; (0, 0) where nothing is left."""
        pile = self.state.black_pile
        if not pile:
            self.reshuffle()
            if not pile:
                return 0, 0
        seen = 0
        card = pile.pop()
        for knight in self.state.knights:
            if knight.known_top:
                knight.known_top -= 1
                seen |= 1 << knight.seat
            if knight.known_bottom > len(pile):
                knight.known_bottom = len(pile)
                seen |= 1 << knight.seat
        if not pile:
            self.reshuffle()
        return card, seen

    def roll(self) -> int:
        """The eight-sided die of engine fights."""
        rolls = self.state.rolls
        return rolls.pop(0) if rolls else self.chance.die(FIGURES.engine_die_sides)

    # Engines and swords

    def add_engines(self, number: int, rule: str) -> None:
        """Raises `GameEnds` with the twelfth (R16.1)."""
        state = self.state
        number = min(number, FIGURES.engines_total - state.engines)
        if not number:
            return
        state.engines += number
        self.tell(events.EnginesAdded(number, state.engines, rule=rule))
        if state.engines >= FIGURES.engines_defeat:
            raise GameEnds(Ending.SIEGE, "R16.1")

    def remove_engine(self, rule: str) -> None:
        self.state.engines -= 1
        self.tell(events.EngineRemoved(self.state.engines, rule=rule))

    def lay_swords(self, white: int, black: int, rule: str) -> None:
        """As many as the reserve holds; raises `GameEnds` with the seventh black one (R16.1)."""
        state = self.state
        white = min(white, FIGURES.swords_total - self.swords)
        state.white_swords += white
        black = min(black, FIGURES.swords_total - self.swords)
        state.black_swords += black
        self.tell(events.SwordsLaid(white, black, rule=rule))
        self.check_black_swords()

    def turn_swords(self, number: int, rule: str) -> None:
        """White swords turned to black, as many as there are."""
        state = self.state
        number = min(number, state.white_swords)
        if number:
            state.white_swords -= number
            state.black_swords += number
            self.tell(events.SwordsTurned(number, rule=rule))

    def check_black_swords(self) -> None:
        if self.state.black_swords >= FIGURES.black_swords_defeat:
            raise GameEnds(Ending.BLACK_SWORDS, "R16.1")

    # Relics

    def owner(self, relic: Relic) -> Knight | None:
        seat = self.state.relics[relic]
        return None if seat == NOBODY else self.state.knights[seat]

    def lose_relic(self, relic: Relic, rule: str) -> None:
        """The relic leaves the game, from its owner or from its quest."""
        seat = self.state.relics[relic]
        self.state.relics[relic] = NOBODY
        self.tell(events.RelicLost(relic, seat, rule=rule))

    # Quests

    def clear_combat(self, quest: Place) -> None:
        combat = self.state.combat(quest)
        for group in combat.white:
            self.state.white_discards += group
            group.clear()
        self.state.black_discards += bytes(laid.card for laid in combat.black)
        combat.black.clear()

    def combat_in_play(self, card: int) -> Place:
        """The combat quest a black card goes to, NOWHERE if it is over (R5.2 to R5.4)."""
        if card <= Card.BLACK_KNIGHT_7:
            return Place.BLACK_KNIGHT
        return next((quest for quest in COMBATS[1:] if self.in_play(quest)), Place.NOWHERE)
