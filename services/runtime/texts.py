"""Texts from outside, cut to what a log or an error may carry of them."""


def bounded(text: str, most: int) -> str:
    """The text; if it has more than `most` characters, its beginning and its length, within so many characters."""
    if len(text) <= most:
        return text
    told = f"... ({len(text)} characters)"
    return text[: most - len(told)] + told
