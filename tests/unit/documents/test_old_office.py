"""Office 97 to 2003 and Outlook messages: compound files made by hand."""

import datetime as dt
import random
import struct
import zlib

import pytest

from ingather.errors import ExtractError
from ingather.extract.conversion import convert
from ingather.extract.documents.cfb import CompoundFile
from ingather.extract.documents.excel97 import _Strings
from ingather.extract.documents.outlook import decompressed_rtf
from ingather.testing.documents import compound, docx, zipped


def wide(text: str) -> bytes:
    return text.encode("utf-16-le")


# --- containers -----------------------------------------------------------------------------------


def test_streams_small_and_large_in_storages() -> None:
    streams = {"small": b"s" * 100, "large": bytes(range(256)) * 40, "a/b/deep": b"deep", "a/other": b""}

    file = CompoundFile(compound(streams))

    assert {"/".join(e.path): file.read(e) for e in file.entries if e.is_stream} == streams
    assert file.stream("A", "B", "DEEP") == b"deep"
    assert {e.path[-1] for e in file.children("a")} == {"b", "other"}


def test_broken_containers_end() -> None:
    whole = compound({"WordDocument": b"x" * 5000, "1Table": b"y" * 50, "s/t": b"z"})
    dice = random.Random(11)  # noqa: S311 (reproducible damage)
    for _ in range(300):
        broken = bytearray(whole)
        for _ in range(8):
            position = dice.randrange(len(broken))
            broken[position : position + 4] = struct.pack(
                "<I", dice.choice([0, 1, 2, 3, 5, 0xFFFFFFFE, 0x7FFFFFFF])
            )
        assert outcome(bytes(broken)) in {"read", "damaged", "unsupported", "encrypted"}


def outcome(body: bytes) -> str:
    try:
        convert(body)
    except ExtractError as error:
        return error.reason
    return "read"


def summary(**properties: object) -> bytes:
    tags = {"title": 2, "author": 4, "created": 12, "pages": 14}
    pairs, values = [(1, 8 + 8 * (len(properties) + 1))], struct.pack("<IHH", 2, 1252, 0)
    for name, value in properties.items():
        pairs.append((tags[name], 8 + 8 * (len(properties) + 1) + len(values)))
        if isinstance(value, str):
            raw = value.encode("cp1252") + b"\0"
            values += struct.pack("<II", 30, len(raw)) + raw.ljust(-(-len(raw) // 4) * 4, b"\0")
        elif isinstance(value, dt.datetime):
            ticks = int((value - dt.datetime(1601, 1, 1, tzinfo=dt.UTC)).total_seconds()) * 10_000_000
            values += struct.pack("<IQ", 64, ticks)
        else:
            values += struct.pack("<Ii", 3, value)
    section = struct.pack("<II", 8 + 8 * len(pairs) + len(values), len(pairs))
    section += b"".join(struct.pack("<II", *pair) for pair in pairs) + values
    return struct.pack("<HHI16sI16sI", 0xFFFE, 0, 0, bytes(16), 1, bytes(16), 48) + section


# --- Word -----------------------------------------------------------------------------------------


def word(
    text: str,
    *,
    deleted: tuple[int, int] | None = None,
    flags: int = 0x0200,
    extra: dict[str, bytes] | None = None,
) -> bytes:
    """One piece of UTF-16 text at 2048; *deleted* is a range of characters."""
    main = bytearray(2048)
    struct.pack_into("<HH", main, 0, 0xA5EC, 0x00C1)
    struct.pack_into("<H", main, 10, flags)
    clx = b"\x02" + struct.pack("<I", 16) + struct.pack("<II", 0, len(text)) + struct.pack("<HIH", 0, 2048, 0)
    table = clx
    struct.pack_into("<II", main, 0x01A2, 0, len(clx))
    if deleted:
        page = bytearray(512)
        bounds = (2048, 2048 + 2 * deleted[0], 2048 + 2 * deleted[1], 2048 + 2 * len(text))
        struct.pack_into("<4I", page, 0, *bounds)
        page[16:19] = bytes([0, 100, 0])
        page[200:204] = bytes([3]) + struct.pack("<H", 0x0800) + b"\x81"
        page[511] = 3
        main[1024:1536] = page
        bte = struct.pack("<II", 2048, 4096) + struct.pack("<I", 2)
        struct.pack_into("<II", main, 0x00FA, len(table), len(bte))
        table += bte
    return compound({"WordDocument": bytes(main) + wide(text), "1Table": table, **(extra or {})})


def test_a_word_document_with_cells_breaks_and_metadata() -> None:
    info = summary(
        title="Grüße", author="Ada", pages=3, created=dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC)
    )

    converted = convert(
        word("Größe 日本\ra\x07b\x07\x07two\x0blines\x1eend\r", extra={"\x05SummaryInformation": info})
    )

    assert converted.text.split("\n") == ["Größe 日本", "a b", "two", "lines-end"]
    assert converted.metadata == {
        "title": "Grüße",
        "author": "Ada",
        "pages": "3",
        "created": "2026-01-02T03:04:05Z",
    }


def test_deleted_runs_of_a_word_document_are_left_out() -> None:
    assert convert(word("kept deleted here", deleted=(5, 13))).text == "kept here"


def test_fields_of_a_word_document_are_links() -> None:
    converted = convert(
        word('see \x13 HYPERLINK "http://a.example/" \\l "p" \x01\x14the manual\x15 and \x13PAGE\x147\x15\r')
    )

    assert converted.text == "see the manual and 7"
    assert converted.links == (("http://a.example/#p", "the manual"),)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (r'EQ \* jc2 \* "Font:MS Mincho" \* hps10 \o\ad(\s\up 9(kanji),BASE)', "a BASE kanji b"),
        (r"EQ \f(one,two)", "a one two b"),
        (r"eq \o(X,Y)", "a X Y b"),
        ("PAGE", "a b"),
        ("EQUAL (x)", "a b"),
    ],
)
def test_a_phonetic_guide_of_a_word_document_keeps_its_base_text(code: str, words: str) -> None:
    assert convert(word(f"a \x13 {code} \x15 b\r")).text == words


def test_documents_embedded_in_a_word_document_are_read() -> None:
    inner = docx("<w:p><w:r><w:t>inner words</w:t></w:r></w:p>")

    assert convert(word("outer\r", extra={"ObjectPool/_1/Package": inner})).text.split("\n") == [
        "outer",
        "inner words",
    ]


def test_an_encrypted_word_document_says_so() -> None:
    with pytest.raises(ExtractError) as caught:
        convert(word("x", flags=0x0300))

    assert caught.value.reason == "encrypted"


def test_an_encrypted_new_document_says_so() -> None:
    with pytest.raises(ExtractError) as caught:
        convert(compound({"EncryptionInfo": b"x", "EncryptedPackage": b"y"}))

    assert caught.value.reason == "encrypted"


# --- Excel ----------------------------------------------------------------------------------------


def record(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def counted(text: str, size: str = "<H") -> bytes:
    return struct.pack(size, len(text)) + b"\x01" + wide(text)


def workbook(cells: bytes, *, first: bytes = b"", strings: tuple[str, ...] = ()) -> bytes:
    bof = record(0x0809, struct.pack("<HH", 0x0600, 5) + bytes(12))
    table = record(0x00FC, struct.pack("<II", len(strings), len(strings)) + b"".join(map(counted, strings)))
    styles = record(0x00E0, struct.pack("<HH", 0, 0)) + record(0x00E0, struct.pack("<HH", 0, 14))
    name = counted("Budget", "<B")
    start = len(bof) + len(first) + len(table) + len(styles) + 4 + 6 + len(name) + 4
    sheet = record(0x0085, struct.pack("<IBB", start, 0, 0) + name)
    stream = bof + first + table + styles + sheet + record(0x000A) + bof + cells + record(0x000A)
    return compound({"Workbook": stream})


def test_a_workbook_with_every_kind_of_cell() -> None:
    cells = (
        record(0x00FD, struct.pack("<HHHI", 0, 0, 0, 0))
        + record(0x0203, struct.pack("<HHHd", 0, 1, 1, 39127.0))
        + record(0x027E, struct.pack("<HHHI", 0, 2, 0, 47 << 2 | 2))
        + record(0x00BD, struct.pack("<HHHIHIH", 1, 0, 0, 1 << 2 | 2, 0, 2 << 2 | 2, 1))
        + record(0x0204, struct.pack("<HHH", 1, 2, 0) + counted("label"))
        + record(0x0006, struct.pack("<HHHBBBBBBH", 2, 0, 0, 0, 0, 0, 0, 0, 0, 0xFFFF) + bytes(6))
        + record(0x0207, counted("computed"))
        + record(0x0006, struct.pack("<HHHd", 2, 1, 0, 2.5) + bytes(6))
        + record(0x0205, struct.pack("<HHHBB", 2, 2, 0, 1, 0))
        + record(0x0014, counted("&LTop &P"))
        + record(0x01B6, struct.pack("<HH6sHHI", 0, 0, bytes(6), 5, 0, 0))
        + record(0x003C, b"\x00boxed")
    )

    text = convert(workbook(cells, strings=("shared",))).text

    assert text.split("\n") == [
        "Budget",
        "shared 2/14/07 2007-02-14 47",
        "1 2 label",
        "computed 2.5 TRUE",
        "Top",
        "boxed",
    ]


def test_strings_that_go_on_in_the_next_record() -> None:
    first = struct.pack("<HB", 6, 0) + b"abc"
    second = b"\x01" + wide("d日f") + struct.pack("<HB", 2, 0)
    third = b"\x00gh" + struct.pack("<HBH", 1, 8, 1) + b"i" + bytes(4)
    strings = _Strings([first, second, third], 0)

    assert [strings.next(), strings.next(), strings.next()] == ["abcd日f", "gh", "i"]
    assert strings.ended


def test_links_of_cells() -> None:
    url = "http://a.example/".encode("utf-16-le") + b"\0\0"
    place = "top"
    link = (
        struct.pack("<HHHH", 0, 0, 0, 0)
        + bytes(16)
        + struct.pack("<II", 2, 0x1 | 0x8)
        + bytes.fromhex("e0c9ea79f9bace118c8200aa004ba90b")
        + struct.pack("<I", len(url))
        + url
        + struct.pack("<I", len(place) + 1)
        + wide(place + "\0")
    )
    cells = record(0x0204, struct.pack("<HHH", 0, 0, 0) + counted("manual")) + record(0x01B8, link)

    assert convert(workbook(cells)).links == (("http://a.example/#top", "manual"),)


def test_an_encrypted_workbook_says_so() -> None:
    with pytest.raises(ExtractError) as caught:
        convert(workbook(b"", first=record(0x002F, bytes(6))))

    assert caught.value.reason == "encrypted"


# --- PowerPoint -----------------------------------------------------------------------------------


def atom(kind: int, content: bytes, instance: int = 0, version: int = 0) -> bytes:
    return struct.pack("<HHI", instance << 4 | version, kind, len(content)) + content


def box(kind: int, *parts: bytes, instance: int = 0) -> bytes:
    return atom(kind, b"".join(parts), instance, 15)


def chars(text: str) -> bytes:
    return atom(0x0FA0, wide(text))


def show(drawn: bytes = b"") -> bytes:
    slide = box(0x03EE, box(0xF004, box(0xF00D, chars("drawn words"))), box(0xF004, drawn))
    stale = box(0x03EE, box(0xF004, box(0xF00D, chars("stale words"))))
    placeholder = box(0xF004, box(0xF011, atom(0x0BC3, bytes(8))), box(0xF00D, chars("Click to edit")))
    master = box(0x03F8, placeholder, box(0xF004, box(0xF00D, chars("ACME"))))
    link = box(0x0FD7, atom(0x0FBA, wide("shown"), 0), atom(0x0FBA, wide("http://a.example/"), 1))
    outline = box(
        0x0FF0, atom(0x03F3, struct.pack("<I", 2)), atom(0x0F9F, struct.pack("<I", 0)), chars("The title")
    )
    masters = box(0x0FF0, atom(0x03F3, struct.pack("<I", 3)), instance=1)
    document = box(0x03E8, outline, masters, box(0x0409, link))
    parts = [stale, document, slide, master]
    offsets, stream = [], b""
    for part in parts:
        offsets.append(len(stream))
        stream += part
    old_directory = len(stream)
    stream += atom(0x1772, struct.pack("<II", 1 << 20 | 2, offsets[0]))
    old_edit = len(stream)
    stream += atom(0x0FF5, struct.pack("<IIIII", 0, 0, 0, old_directory, 1))
    directory = len(stream)
    stream += atom(0x1772, struct.pack("<IIII", 3 << 20 | 1, *offsets[1:]))
    edit = len(stream)
    stream += atom(0x0FF5, struct.pack("<IIIII", 0, 0, old_edit, directory, 1))
    user = struct.pack("<HHIIII", 0, 0x0FF6, 20, 20, 0xE391C05F, edit)
    return compound({"PowerPoint Document": stream, "Current User": user})


def test_a_presentation_gives_its_current_slides_and_the_masters_own_text() -> None:
    converted = convert(show())

    assert converted.text.split("\n") == ["The title", "drawn words", "ACME"]
    assert converted.links == (("http://a.example/", "shown"),)
    assert "<h2>The title</h2>" in converted.html


@pytest.mark.parametrize("options", [0xF00B, 0xF122], ids=["options", "tertiary"])
def test_smart_art_beside_a_shape_is_read(options: int) -> None:
    data = '<dgm:dataModel xmlns:dgm="d" xmlns:a="a"><a:p><a:r><a:t>Plan</a:t></a:r><a:r><a:t>ning</a:t></a:r></a:p><a:p><a:r><a:t>Doing</a:t></a:r></a:p></dgm:dataModel>'
    blob = zipped(
        {
            "drs/diagrams/data1.xml": data,
            "drs/diagrams/layout1.xml": "<a><t>no</t></a>",
            "drs/shapexml.xml": "<a><t>no</t></a>",
        }
    )
    shape = atom(options, struct.pack("<HI", 0x83A9, len(blob)) + blob, instance=1, version=3)

    assert convert(show(shape)).text.split("\n")[:4] == ["The title", "drawn words", "Planning", "Doing"]
    assert (
        "partial"
        in convert(show(atom(options, struct.pack("<HI", 0x83A9, 3) + b"abc", instance=1, version=3))).flags
    )


def test_documents_embedded_in_a_presentation_are_read() -> None:
    inner = compound({"Package": docx("<w:p><w:r><w:t>inner words</w:t></w:r></w:p>")})
    storage = atom(0x1011, struct.pack("<I", len(inner)) + zlib.compress(inner), 1)
    document = box(0x03E8, chars("outer"))
    stream = storage + document
    directory = len(stream)
    stream += atom(0x1772, struct.pack("<III", 2 << 20 | 1, len(storage), 0))
    edit = len(stream)
    stream += atom(0x0FF5, struct.pack("<IIIII", 0, 0, 0, directory, 1))
    user = struct.pack("<HHIIII", 0, 0x0FF6, 20, 20, 0xE391C05F, edit)

    assert convert(compound({"PowerPoint Document": stream, "Current User": user})).text.split("\n") == [
        "outer",
        "inner words",
    ]


def test_an_encrypted_presentation_says_so() -> None:
    user = struct.pack("<HHIIII", 0, 0x0FF6, 20, 20, 0xF3D1C4DF, 0)

    with pytest.raises(ExtractError) as caught:
        convert(compound({"PowerPoint Document": b"x" * 20, "Current User": user}))

    assert caught.value.reason == "encrypted"


def test_a_publisher_document_gives_its_text() -> None:
    text = wide("first\rsecond")
    table = struct.pack("<H4sHHH4sII", 0x18, b"TEXT", 0, 0, 0, b"TEXT", 0x300, len(text))
    contents = (b"CHNKINK ".ljust(0x20, b"\0") + table).ljust(0x300, b"\0") + text

    assert convert(compound({"Quill/QuillSub/CONTENTS": contents})).text.split("\n") == ["first", "second"]


def test_a_compound_file_of_another_kind_is_unsupported() -> None:
    with pytest.raises(ExtractError) as caught:
        convert(compound({"VisioDocument": b"x" * 100, "CONTENTS": bytes(50)}))

    assert caught.value.reason == "unsupported"


# --- Outlook --------------------------------------------------------------------------------------


def properties(*pairs: tuple[int, int, int], header: int = 32) -> bytes:
    return bytes(header) + b"".join(struct.pack("<HHIQ", kind, tag, 0, value) for tag, kind, value in pairs)


def test_a_message_with_recipients_html_and_attachments() -> None:
    sent = (
        int(
            (
                dt.datetime(2026, 1, 2, 3, 4, 5, tzinfo=dt.UTC) - dt.datetime(1601, 1, 1, tzinfo=dt.UTC)
            ).total_seconds()
        )
        * 10**7
    )
    html = b"<p>W\xf6rter <a href='http://a.example/'>here</a></p>"

    converted = convert(
        compound(
            {
                "__properties_version1.0": properties((0x0039, 0x40, sent), (0x3FDE, 0x03, 1252)),
                "__substg1.0_0037001F": wide("Grüße"),
                "__substg1.0_0C1A001F": wide("Ada"),
                "__substg1.0_5D01001F": wide("ada@example.org"),
                "__substg1.0_0E04001E": b"Charles\0",
                "__substg1.0_10130102": html,
                "__recip_version1.0_#00000000/__substg1.0_39FE001F": wide("charles@example.org"),
                "__attach_version1.0_#00000000/__substg1.0_3707001F": wide("note.txt"),
                "__attach_version1.0_#00000000/__substg1.0_37010102": b"attached words",
                "__attach_version1.0_#00000001/__substg1.0_3701000D/__substg1.0_0037001F": wide(
                    "inner subject"
                ),
                "__attach_version1.0_#00000001/__substg1.0_3701000D/__substg1.0_1000001F": wide("inner text"),
            }
        )
    )

    assert converted.text.split("\n") == [
        "Subject: Grüße",
        "From: Ada <ada@example.org>",
        "To: Charles",
        "charles@example.org",
        "Wörter here",
        "note.txt",
        "attached words",
        "Subject: inner subject",
        "inner text",
    ]
    assert converted.links == (("http://a.example/", "here"),)
    assert converted.parts == (("note.txt", b"attached words"),)
    assert converted.metadata["title"] == "Grüße"
    assert converted.metadata["created"] == "2026-01-02T03:04:05Z"


def test_compressed_rtf_is_unpacked() -> None:
    packed = bytes.fromhex(
        "2d0000002b0000004c5a4675f1c5c7a703000a007263706731323542320af32068656c090020627705b06c647d0a800fa0"
    )

    assert decompressed_rtf(packed) == b"{\\rtf1\\ansi\\ansicpg1252\\pard hello world}\r\n"
    assert decompressed_rtf(packed[:20]) != b""
    assert decompressed_rtf(b"short") == b""
