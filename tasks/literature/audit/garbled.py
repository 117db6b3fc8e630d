"""Text whose UTF-8 was read as Windows-1252 on its way: `MÃ¼ller`, `itâ€™s`."""

_LAYERS = 2
"""Some texts took the wrong way twice."""


def mended(text: str | None) -> str | None:
    """The text as it was written; None where nothing in it looks garbled. Linear in the text."""
    if text is None or text.isascii():
        return None
    best = text
    for _ in range(_LAYERS):
        again = _once(best)
        if again == best:
            break
        best = again
    return best if best != text else None


def _once(text: str) -> str:
    parts: list[str] = []
    place = 0
    while place < len(text):
        length = _sequence_length(_byte(text[place]))
        encoded = bytes(_byte(sign) or 0 for sign in text[place : place + length])
        try:
            parts.append(encoded.decode() if length else text[place])
            place += length or 1
        except UnicodeDecodeError:
            parts.append(text[place])
            place += 1
    return "".join(parts)


def _sequence_length(lead: int | None) -> int:
    """Bytes of a sequence of UTF-8 that begins with `lead`; 0 for a byte that begins none of two or
    more.
    """
    if lead is None or not 0xC2 <= lead <= 0xF4:
        return 0
    return 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4


def _byte(sign: str) -> int | None:
    """The byte that Windows-1252 reads as this sign; Latin-1's where it reads none."""
    if ord(sign) < 0x80:
        return ord(sign)
    try:
        return sign.encode("cp1252")[0]
    except UnicodeEncodeError:
        return ord(sign) if ord(sign) < 0x100 else None
