"""Everything that can happen, as data. A field that a viewer may not see keeps its empty default in his form."""

from __future__ import annotations

from engine.camelot.pieces import Card, Coat, Ending, Place, Relic
from engine.core.events import Event

Cards = tuple[Card, ...]


class TurnBegan(Event, frozen=True):
    seat: int


class CardsOffered(Event, frozen=True):
    """Everybody laid one card on the Round Table."""

    cards: tuple[tuple[int, Card], ...]
    """Seat and card, in turn order."""


class CardsPooled(Event, frozen=True):
    """White cards to be shared were drawn."""

    number: int
    sharers: tuple[int, ...]
    cards: Cards = ()


class CardProposed(Event, frozen=True):
    """The proposer names who is to have one of the shared cards."""

    proposer: int
    seat: int
    card: Card = Card.UNKNOWN


class ProposalAnswered(Event, frozen=True):
    agreed: bool
    refused_by: tuple[int, ...] = ()


class CardsShared(Event, frozen=True):
    """Who got how many of the shared cards."""

    numbers: tuple[tuple[int, int], ...]
    """Seat and number."""
    cards: Cards = ()
    """The viewer's own share, where the cards were dealt at random."""


class WhiteCardsDrawn(Event, frozen=True):
    seat: int
    number: int
    cards: Cards = ()


class CardsDiscarded(Event, frozen=True):
    """White cards left a hand face down, or shown where `cards` is public."""

    seat: int
    number: int
    cards: Cards = ()


class WhiteCardPlayed(Event, frozen=True):
    """A white card was laid on a quest, or a special white card was played."""

    seat: int
    card: Card
    place: Place = Place.NOWHERE
    slot: int = -1
    """Group of a combat quest, or slot of the Grail row."""


class CardsGiven(Event, frozen=True):
    """Cards passed from hand to hand."""

    giver: int
    receiver: int
    number: int
    cards: Cards = ()


class PilesReshuffled(Event, frozen=True):
    white: int
    """Cards in the white pile now."""
    black: int


class BlackCardPeeked(Event, frozen=True):
    seat: int
    number: int
    cards: Cards = ()
    """Top first."""


class BlackCardsArranged(Event, frozen=True):
    seat: int
    number: int
    cards: Cards = ()


class BlackCardsDrawn(Event, frozen=True):
    """A knight drew black cards; what he drew he alone sees at first."""

    seat: int
    number: int
    cards: Cards = ()


class BlackCardBuried(Event, frozen=True):
    """The Armor put a card to the bottom of the black pile."""

    seat: int
    card: Card = Card.UNKNOWN


class BlackCardRead(Event, frozen=True):
    """A black card is announced; a combat card that stays face down is not named."""

    seat: int
    face_down: bool
    place: Place = Place.NOWHERE
    card: Card = Card.UNKNOWN


class MerlinsPledged(Event, frozen=True):
    seat: int
    number: int


class BlackCardCancelled(Event, frozen=True):
    """By three Merlins, or by giving up Excalibur."""

    card: Card = Card.UNKNOWN
    merlins: tuple[tuple[int, int], ...] = ()
    """Seat and number of Merlins used."""


class BlackCardPlaced(Event, frozen=True):
    place: Place
    face_down: bool
    slot: int = -1
    card: Card = Card.UNKNOWN


class BlackCardRemoved(Event, frozen=True):
    """From a quest, by a Merlin or by exchange on the Grail row."""

    place: Place
    slot: int = -1
    card: Card = Card.UNKNOWN


class GrailCardRemoved(Event, frozen=True):
    """A black card took a Grail card off the row."""

    slot: int


class LastingCardBegan(Event, frozen=True):
    card: Card
    place: Place = Place.NOWHERE


class LastingCardEnded(Event, frozen=True):
    card: Card
    place: Place = Place.NOWHERE


class ExcaliburMoved(Event, frozen=True):
    step: int
    """Where the sword is now, 0 at evil's end."""


class WarriorAdded(Event, frozen=True):
    place: Place
    warriors: int


class WarriorRemoved(Event, frozen=True):
    place: Place
    warriors: int


class EnginesAdded(Event, frozen=True):
    number: int
    engines: int
    """Engines around Camelot now."""


class EngineRemoved(Event, frozen=True):
    engines: int


class EngineFought(Event, frozen=True):
    seat: int
    cards: Cards
    roll: int


class KayHelped(Event, frozen=True):
    """Kay's extra card."""

    seat: int
    card: Card


class FightDecided(Event, frozen=True):
    """The totals of an engine fight or a combat quest."""

    white: int
    evil: int
    won: bool
    place: Place


class BlackCardsRevealed(Event, frozen=True):
    """All black cards of a combat quest, shuffled."""

    place: Place
    cards: Cards


class QuestEnded(Event, frozen=True):
    place: Place
    won: bool


class SwordsLaid(Event, frozen=True):
    white: int
    black: int
    """Swords laid now, by colour."""


class SwordsTurned(Event, frozen=True):
    """White swords turned to black."""

    number: int


class RelicWon(Event, frozen=True):
    relic: Relic
    seat: int


class RelicLost(Event, frozen=True):
    """The relic left the game."""

    relic: Relic
    seat: int = -1


class LifeChanged(Event, frozen=True):
    seat: int
    change: int
    life: int


class GrailDrunk(Event, frozen=True):
    owner: int
    seat: int
    life: int


class KnightMoved(Event, frozen=True):
    seat: int
    place: Place


class SoloQuestAbandoned(Event, frozen=True):
    """The white cards of a solo quest were discarded."""

    place: Place
    number: int


class KnightDied(Event, frozen=True):
    seat: int
    cards: int
    """White cards discarded with him."""


class KnightLeft(Event, frozen=True):
    """His player left the game."""

    seat: int
    cards: int
    """White cards discarded with him."""


class KnightJoined(Event, frozen=True):
    """A newcomer sat down, clockwise next to another."""

    seat: int
    coat: Coat
    life: int
    beside: int


class DrawerReplaced(Event, frozen=True):
    """Another makes the choices left for a drawer who has left; he alone sees a card not read aloud yet."""

    drawer: int
    seat: int
    cards: Cards = ()


class SquiresNamed(Event, frozen=True):
    """Who begins as a squire."""

    squires: tuple[int, ...]


class SquireProposed(Event, frozen=True):
    """The proposer names the squire to be knighted."""

    proposer: int
    seat: int


class Knighted(Event, frozen=True):
    """A squire got a Coat of Arms."""

    seat: int
    coat: Coat


class PowerUsed(Event, frozen=True):
    seat: int
    coat: Coat


class Sacrificed(Event, frozen=True):
    seat: int


class Volunteered(Event, frozen=True):
    seat: int
    willing: bool


class Accused(Event, frozen=True):
    accuser: int
    accused: int


class LoyaltyShown(Event, frozen=True):
    seat: int
    traitor: bool


class LoyaltySeen(Event, frozen=True):
    """A knight looked at his own loyalty card for the first time."""

    seat: int
    traitor: bool | None = None


class TraitorUnmasked(Event, frozen=True):
    seat: int
    cards: int


class GameEnded(Event, frozen=True):
    ending: Ending
    winners: tuple[int, ...]
    white: int
    black: int
    traitor: int
    """The traitor's seat, -1 if nobody was."""
