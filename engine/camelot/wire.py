"""The messages of Shadows over Camelot."""

from engine.camelot import events
from engine.camelot.choices import Choice
from engine.camelot.talk import Remark
from engine.camelot.view import CamelotView
from engine.core.events import Event
from engine.core.wire import Wire
from roundtable.camelot.v1 import camelot_pb2

EVENTS = [event for event in vars(events).values() if isinstance(event, type) and issubclass(event, Event)]
EVENTS.remove(Event)

WIRE = Wire(
    view=(CamelotView, camelot_pb2.View),
    events=(EVENTS, camelot_pb2.Event),
    options=(Choice, camelot_pb2.OptionReferences),
    declarations=(Remark, camelot_pb2.DeclarationReference),
)
