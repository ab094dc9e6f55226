"""The numbered rules of the game: number, title and page."""

from __future__ import annotations

from engine.core.data import load_rules

RULES = load_rules("engine.camelot", "data/rules.toml")
