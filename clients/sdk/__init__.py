"""Roundtable for Python programs, over gRPC.

async with connect(session_address, matchmaking_address) as roundtable:
    ticket = await roundtable.queue("ada", "camelot", seats=5)
    seat = await ticket.seated()
    async for entry in seat.watch():
        if entry.update.HasField("decision"):
            await seat.choose(entry.update.decision, picks)
"""

from clients.sdk.calls import Measured
from clients.sdk.client import Roundtable, Ticket, TicketCancelled, connect
from clients.sdk.errors import (
    AlreadyApplied,
    CallFailed,
    CursorLost,
    DecisionClosed,
    GameClosed,
    Refused,
    ServiceFault,
    Unavailable,
)
from clients.sdk.seat import Entry, Seat

__all__ = [
    "AlreadyApplied",
    "CallFailed",
    "CursorLost",
    "DecisionClosed",
    "Entry",
    "GameClosed",
    "Measured",
    "Refused",
    "Roundtable",
    "Seat",
    "ServiceFault",
    "Ticket",
    "TicketCancelled",
    "Unavailable",
    "connect",
]
