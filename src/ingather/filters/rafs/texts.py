"""Cutting texts: by characters with whole words, by bytes with whole characters (DEC-21)."""

__all__ = ["cut_bytes", "cut_characters"]


def cut_characters(text: str, length: int, *, clean: bool) -> str:
    """Return at most *length* characters; with *clean* go back to the last blank if a word was cut."""
    if len(text) <= length:
        return text
    cut = text[:length]
    if not clean:
        return cut
    if not text[length].isspace() and not cut[-1].isspace():
        words = cut.rstrip().rsplit(maxsplit=1)
        if len(words) > 1:
            cut = cut[: cut.rindex(words[1])]
    return cut.rstrip()


def cut_bytes(text: str, length: int) -> str:
    """Return as many characters as fit into *length* bytes of UTF-8."""
    cut = text[:length]
    if cut.isascii():
        return cut
    return cut.encode("utf-8", "replace")[:length].decode("utf-8", "ignore")
