r"""The control words of RTF that reading turns on (RTF Specification 1.9.1), by what becomes of them."""

__all__ = [
    "ASIDES",
    "BLOCK_ENDS",
    "CAPTURED",
    "CHARACTERS",
    "CHARSETS",
    "SKIPPED",
    "SYMBOLS",
    "TIMES",
    "TIME_PARTS",
]

CHARSETS = {
    0: "cp1252", 2: "cp1252", 77: "mac_roman", 78: "cp932", 79: "cp949", 80: "gbk", 81: "cp950", 83: "mac_cyrillic",
    84: "cp1255", 85: "mac_greek", 86: "mac_turkish", 88: "mac_latin2", 128: "cp932", 129: "cp949", 130: "johab",
    134: "gbk", 136: "cp950", 161: "cp1253", 162: "cp1254", 163: "cp1258", 177: "cp1255", 178: "cp1256",
    186: "cp1257", 204: "cp1251", 222: "cp874", 238: "cp1250", 254: "cp437", 255: "cp850",
}  # fmt: skip
r"""Numbers of ``\fcharset`` to code pages."""
CHARACTERS = {
    "tab": "\t", "cell": "\t", "nestcell": "\t", "emdash": "—", "endash": "\u2013", "bullet": "•", "lquote": "\u2018",
    "rquote": "\u2019", "ldblquote": "“", "rdblquote": "”", "emspace": " ", "enspace": " ", "qmspace": " ",
    "zwj": "\u200d", "zwnj": "\u200c", "ltrmark": "\u200e", "rtlmark": "\u200f",
}  # fmt: skip
"""Control words that stand for a character."""
SYMBOLS = {b"~": " ", b"_": "-", b"{": "{", b"}": "}", b"\\": "\\", b"\t": "\t"}
"""Control symbols that stand for a character."""
BLOCK_ENDS = frozenset({"sect", "page", "row", "nestrow", "column"})
"""Control words that end a block of text."""
SKIPPED = frozenset(
    [
        "colortbl",
        "stylesheet",
        "listtable",
        "listoverridetable",
        "rsidtbl",
        "themedata",
        "colorschememapping",
        "latentstyles",
        "datastore",
        "nonshppict",
        "xe",
        "tc",
        "pgptbl",
        "revtbl",
        "filetbl",
        "generator",
        "template",
        "private",
        "ftnsep",
        "ftnsepc",
        "ftncn",
        "aftnsep",
        "aftnsepc",
        "aftncn",
        "bkmkstart",
        "bkmkend",
        "fchars",
        "lchars",
        "xmlnstbl",
        "mmathPr",
        "fldtype",
        "datafield",
        "formfield",
        "blipuid",
        "nesttableprops",
        "nonesttables",
        "wgrffmtfilter",
        "levelnumbers",
        "leveltext",
        "listname",
        "liststylename",
        "panose",
        "falt",
        "pnseclvl",
        "background",
        "passwordhash",
        "userprops",
        "atnid",
        "atnref",
        "atndate",
        "atntime",
        "atnparent",
        "objclass",
        "objname",
        "objalias",
        "objsect",
        "oleclsid",
        "atrfstart",
        "atrfend",
    ]
)
"""Destinations whose text nobody reads."""
ASIDES = frozenset(
    [
        "header",
        "headerl",
        "headerr",
        "headerf",
        "footer",
        "footerl",
        "footerr",
        "footerf",
        "footnote",
        "annotation",
        "shptxt",
    ],
)
"""Destinations beside the text that are read as blocks of their own."""
CAPTURED = {
    "title": "title",
    "subject": "subject",
    "author": "author",
    "operator": "last-author",
    "keywords": "keywords",
    "doccomm": "description",
    "comment": "description",
    "company": "company",
    "category": "category",
    "manager": "manager",
    "hlinkbase": "link-base",
}
"""Destinations of the document information, and the metadata that they become."""
TIMES = {"creatim": "created", "revtim": "modified", "printim": "printed"}
"""The same for its dates."""
TIME_PARTS = ("yr", "mo", "dy", "hr", "min", "sec")
"""Control words of a date, in order."""
