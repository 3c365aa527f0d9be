"""The encodings of the web: every label that a page may use, the standard's name, a decoder.

Encoding Standard (WHATWG), section 4.2. A label is the page's word (``latin1``), a name is
the standard's (``windows-1252``): pages that say ISO 8859-1 mean windows-1252.
"""

import codecs
from functools import lru_cache
from typing import Final

__all__ = ["codec_of", "decode_as", "encoding_of"]

# name, Python codec ("-": none), colon, labels.
_TABLE: Final = """
utf-8 utf-8: unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8
ibm866 cp866: 866 cp866 csibm866 ibm866
iso-8859-2 iso-8859-2: csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987
    l2 latin2
iso-8859-3 iso-8859-3: csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988
    l3 latin3
iso-8859-4 iso-8859-4: csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988
    l4 latin4
iso-8859-5 iso-8859-5: csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5
    iso_8859-5:1988
iso-8859-6 iso-8859-6: arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6
    iso-8859-6-e iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987
iso-8859-7 iso-8859-7: csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7
    iso88597 iso_8859-7 iso_8859-7:1987 sun_eu_greek
iso-8859-8 iso-8859-8: csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8
    iso88598 iso_8859-8 iso_8859-8:1988 visual
iso-8859-8-i iso8859-8: csiso88598i iso-8859-8-i logical
iso-8859-10 iso-8859-10: csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6
iso-8859-13 iso-8859-13: iso-8859-13 iso8859-13 iso885913
iso-8859-14 iso-8859-14: iso-8859-14 iso8859-14 iso885914
iso-8859-15 iso-8859-15: csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9
iso-8859-16 iso-8859-16: iso-8859-16
koi8-r koi8-r: cskoi8r koi koi8 koi8-r koi8_r
koi8-u koi8-u: koi8-ru koi8-u
macintosh mac-roman: csmacintosh mac macintosh x-mac-roman
windows-874 cp874: dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874
windows-1250 cp1250: cp1250 windows-1250 x-cp1250
windows-1251 cp1251: cp1251 windows-1251 x-cp1251
windows-1252 cp1252: ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100
    iso8859-1 iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252 x-cp1252
windows-1253 cp1253: cp1253 windows-1253 x-cp1253
windows-1254 cp1254: cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9
    iso_8859-9:1989 l5 latin5 windows-1254 x-cp1254
windows-1255 cp1255: cp1255 windows-1255 x-cp1255
windows-1256 cp1256: cp1256 windows-1256 x-cp1256
windows-1257 cp1257: cp1257 windows-1257 x-cp1257
windows-1258 cp1258: cp1258 windows-1258 x-cp1258
x-mac-cyrillic mac-cyrillic: x-mac-cyrillic x-mac-ukrainian
gbk gb18030: chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk
gb18030 gb18030: gb18030
big5 big5hkscs: big5 big5-hkscs cn-big5 csbig5 x-x-big5
euc-jp euc_jp: cseucpkdfmtjapanese euc-jp x-euc-jp
iso-2022-jp iso2022_jp: csiso2022jp iso-2022-jp
shift_jis cp932: csshiftjis ms_kanji shift-jis shift_jis sjis windows-31j x-sjis
euc-kr cp949: cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601
    ksc_5601 windows-949
replacement -: csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement
utf-16be utf-16-be: unicodefffe utf-16be
utf-16le utf-16-le: csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le
x-user-defined -: x-user-defined
"""

_CODECS: Final[dict[str, str]] = {}
_LABELS: Final[dict[str, str]] = {}
for _row in _TABLE.replace("\n    ", " ").strip().splitlines():
    _head, _, _labels = _row.partition(": ")
    _name, _codec = _head.split()
    _CODECS[_name] = _codec
    _LABELS.update(dict.fromkeys(_labels.split(), _name))

_SINGLE_BYTE_PREFIXES: Final = ("iso-8859-", "windows-", "koi8-", "ibm", "mac", "x-mac-")
_HIGH_BYTES: Final = range(0x80, 0x100)
_C1_END: Final = 0xA0


def encoding_of(label: str) -> str | None:
    """Return the name of the encoding that *label* means, ``None`` for an unknown label (section 4.2)."""
    return _LABELS.get(label.strip("\t\n\f\r ").lower())


def codec_of(label: str) -> str | None:
    """Return the Python codec of the encoding that *label* means, ``None`` for an unknown label."""
    name = encoding_of(label)
    codec = _CODECS[name] if name else "-"
    return None if codec == "-" else codec


def decode_as(body: bytes, name: str) -> str:
    """Decode *body* with the encoding *name* (as :func:`encoding_of` gives it); never fails.

    What cannot be decoded becomes U+FFFD. A byte order mark is not removed.
    """
    codec = _CODECS[name]
    if codec == "-":
        return "\ufffd" if name == "replacement" and body else _x_user_defined(body)
    if name.startswith(_SINGLE_BYTE_PREFIXES):
        return codecs.charmap_decode(body, "replace", _single_byte(codec))[0]
    if name == "euc-jp":
        # Python's codec lacks the vendor characters that the standard has; its successor has them.
        try:
            return body.decode(codec)
        except UnicodeDecodeError:
            return body.decode("euc_jis_2004", "replace")
    return body.decode(codec, "replace")


def _x_user_defined(body: bytes) -> str:
    return "".join([chr(byte if byte < _HIGH_BYTES[0] else 0xF700 + byte) for byte in body])


@lru_cache(maxsize=64)
def _single_byte(codec: str) -> str:
    """Return the 256 characters of a code page; undefined bytes below A0 are C1 controls, others undefined."""
    table = [chr(byte) for byte in range(_HIGH_BYTES[0])]
    for byte in _HIGH_BYTES:
        try:
            table.append(bytes([byte]).decode(codec))
        except UnicodeDecodeError:
            # U+FFFE is what charmap_decode takes for "undefined"
            table.append(chr(byte) if byte < _C1_END else "\ufffe")
    return "".join(table)
