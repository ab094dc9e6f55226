"""Responses put together from messages that are already encoded, so that what the engine made is never made anew.

A message is its fields one after the other, and a field that is a message is its number, its length and its content.
"""

from __future__ import annotations

from google.protobuf.message import Message

_LENGTH_DELIMITED = 2
_VARINT_BITS = 7


def field(message: type[Message], name: str, content: bytes) -> bytes:
    """The field of this name of a message of this type, with an encoded message as its content."""
    number = message.DESCRIPTOR.fields_by_name[name].number
    return _varint(number << 3 | _LENGTH_DELIMITED) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    encoded = bytearray()
    while number >> _VARINT_BITS:
        encoded.append(number & 0x7F | 0x80)
        number >>= _VARINT_BITS
    encoded.append(number)
    return bytes(encoded)
