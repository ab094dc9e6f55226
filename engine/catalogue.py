"""The games there are."""

from engine.camelot.game import CAMELOT
from engine.core.games import Registry

GAMES = Registry([CAMELOT])
