"""Excel's well-known password opens what "protect" encrypted; any other one is refused."""

import struct
from collections.abc import Callable

import pytest

from ingather.errors import ExtractError
from ingather.extract.conversion import convert
from ingather.testing.documents import docx, xlsx
from ingather.testing.locked import FILEPASS_SIZES, locked_agile, locked_standard, locked_workbook

SHEET = "<sheetData><row r='1'><c r='A1' t='inlineStr'><is><t>kept secret</t></is></c></row></sheetData>"


@pytest.mark.parametrize("lock", [locked_agile, locked_standard])
def test_a_protected_package_is_opened(lock: Callable[..., bytes]) -> None:
    converted = convert(lock(xlsx(SHEET)))

    assert converted.text.split("\n") == ["Sheet one", "kept secret"]
    assert converted.flags == ("encrypted",)
    assert convert(lock(docx("<w:p><w:r><w:t>words</w:t></w:r></w:p>"))).text == "words"


def record(kind: int, content: bytes = b"") -> bytes:
    return struct.pack("<HH", kind, len(content)) + content


def workbook(filepass: int) -> tuple[bytes, int]:
    """Return a stream with one sheet of labels beyond one block, and where the content of FilePass begins."""
    bof = record(0x0809, struct.pack("<HH", 0x0600, 5) + bytes(12))
    name = b"\x06\x00Budget"
    start = len(bof) + 4 + filepass + 4 + 6 + len(name) + 4
    sheet = record(0x0085, struct.pack("<IBB", start, 0, 0) + name)
    cells = b"".join(
        record(0x0204, struct.pack("<HHH", row, 0, 0) + struct.pack("<HB", 9, 0) + f"label {row:03}".encode())
        for row in range(100)
    )
    return bof + record(0x002F, bytes(filepass)) + sheet + record(0x000A) + bof + cells + record(0x000A), len(
        bof
    ) + 4


@pytest.mark.parametrize("method", FILEPASS_SIZES)
def test_a_protected_workbook_is_opened(method: str) -> None:
    converted = convert(locked_workbook(*workbook(FILEPASS_SIZES[method]), method))

    assert converted.text.split("\n") == ["Budget", *(f"label {row:03}" for row in range(100))]
    assert converted.flags == ("encrypted",)


@pytest.mark.parametrize(
    "body",
    [
        locked_agile(xlsx(SHEET), "another"),
        locked_standard(xlsx(SHEET), "another"),
        locked_workbook(*workbook(FILEPASS_SIZES["rc4"]), "rc4", "another"),
        locked_workbook(*workbook(FILEPASS_SIZES["cryptoapi"]), "cryptoapi", "another"),
        locked_agile(xlsx(SHEET)).replace(b'spinCount="1000"', b'spinCount="9e99"'),
        locked_agile(xlsx(SHEET)).replace(b"ChainingModeCBC", b"ChainingModeCFB"),
    ],
    ids=["agile", "standard", "rc4", "cryptoapi", "odd-count", "odd-chaining"],
)
def test_another_password_is_refused(body: bytes) -> None:
    with pytest.raises(ExtractError) as caught:
        convert(body)

    assert caught.value.reason == "encrypted"
