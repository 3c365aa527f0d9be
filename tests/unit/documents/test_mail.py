"""Mail and mailboxes."""

import email.message
import email.policy

from ingather.extract.conversion import ConversionLimits, convert
from ingather.testing.documents import docx


def message(text: str = "the text\n") -> email.message.EmailMessage:
    made = email.message.EmailMessage(policy=email.policy.SMTP)
    made["From"] = "Ada Lövelace <ada@example.org>"
    made["To"] = "charles@example.org"
    made["Subject"] = "Grüße from the engine"
    made["Date"] = "Fri, 02 Jan 2026 03:04:05 +0100"
    made.set_content(text)
    return made


def test_headers_text_and_metadata() -> None:
    converted = convert(bytes(message("See http://a.example/x.\n")))

    assert converted.text.split("\n") == [
        "Subject: Grüße from the engine",
        "From: Ada Lövelace <ada@example.org>",
        "To: charles@example.org",
        "See http://a.example/x.",
    ]
    assert converted.links == (("http://a.example/x", ""),)
    assert converted.metadata["title"] == "Grüße from the engine"
    assert converted.metadata["created"] == "2026-01-02T02:04:05Z"


def test_of_alternatives_the_plain_text_is_read_and_the_html_gives_its_links() -> None:
    made = message("plain words\n")
    made.add_alternative("<p>rich words <a href='http://a.example/'>here</a></p>", subtype="html")

    converted = convert(bytes(made))

    assert "plain words" in converted.text
    assert "rich words" not in converted.text
    assert converted.links == (("http://a.example/", "here"),)


def test_html_alone_is_read_as_a_page_is() -> None:
    made = message()
    made.set_content(
        "<h1>Rich</h1><script>no</script><p>wörds <a href='http://a.example/'>here</a></p>", subtype="html"
    )

    converted = convert(bytes(made))

    assert converted.text.split("\n")[-2:] == ["Rich", "wörds here"]
    assert converted.links == (("http://a.example/", "here"),)


def test_attachments_are_read_and_handed_on() -> None:
    inner = docx("<w:p><w:r><w:t>attached words</w:t></w:r></w:p>")
    made = message()
    made.add_attachment(inner, maintype="application", subtype="octet-stream", filename="Größe.docx")
    made.add_attachment(b"\x89PNG\r\n\x1a\n", maintype="image", subtype="png", filename="i.png")

    converted = convert(bytes(made))

    assert converted.text.split("\n")[-3:] == ["Größe.docx", "attached words", "i.png"]
    assert [name for name, _ in converted.parts] == ["Größe.docx", "i.png"]


def test_a_message_in_a_message_is_read() -> None:
    made = message("outer\n")
    made.add_attachment(message("inner\n"))

    converted = convert(bytes(made))

    assert "inner" in converted.text.split("\n")
    assert converted.text.count("Grüße from the engine") == 2


def test_a_mailbox_is_all_of_its_messages() -> None:
    body = b"".join(
        b"From ada@example.org Fri Jan  2 03:04:05 2026\n" + bytes(message(f"text {n}\n")) + b"\n"
        for n in range(3)
    )

    assert [line for line in convert(body).text.split("\n") if line.startswith("text")] == [
        "text 0",
        "text 1",
        "text 2",
    ]


def test_thousands_of_nested_parts_are_cut_not_fatal() -> None:
    head = "Subject: deep\nFrom: a@example.org\n"
    parts = "".join(f'Content-Type: multipart/mixed; boundary="b{n}"\n\n--b{n}\n' for n in range(3_000))

    converted = convert(f"{head}{parts}\ninnermost".encode())

    assert "cut" in converted.flags
    assert "Subject: deep" in converted.text


def test_more_parts_than_allowed_are_cut() -> None:
    made = message()
    for number in range(20):
        made.add_attachment(f"part {number}", filename=f"{number}.txt")

    converted = convert(bytes(made), limits=ConversionLimits(members=10))

    assert "cut" in converted.flags
    assert "part 5" in converted.text
    assert "part 19" not in converted.text


def test_broken_headers_and_charsets_do_not_stop_reading() -> None:
    body = (
        b"Subject: =?utf-8?b?!!!?= =?nonsense?q?x?=\nFrom: \xff\xfe\nDate: never\nContent-Type: text/plain; charset=nonsense\n"
        b"Content-Transfer-Encoding: base64\n\n!!!not base64"
    )

    assert "Subject" in convert(body).text
