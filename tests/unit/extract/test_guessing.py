"""Undeclared bytes: the encoding is guessed from what they would say."""

# ruff: noqa: RUF001 - the letters are what is tested

import pytest

from ingather.extract.guessing import guess
from ingather.extract.labels import decode_as

SENTENCES = {
    "windows-1251": "Поисковый робот собирает документы, читает их и складывает в один каталог для поиска.",
    "koi8-u": "Поисковый робот собирает документы, читает их и складывает в один каталог для поиска.",
    "ibm866": "Поисковый робот собирает документы, читает их и складывает в один каталог для поиска.",
    "iso-8859-5": "Поисковый робот собирает документы, читает их и складывает в один каталог для поиска.",
    "windows-1252": "Die Übersicht enthält alle geänderten Aufträge, für die noch Prüfungen möglich wären.",
    "windows-1250": "Vyhledávací robot sbírá dokumenty, čte je a ukládá do jediného katalogu, který může být prohledáván.",
    "iso-8859-2": "Szczegółowe zażalenia można składać w ciągu trzydziestu dni, później będą już nieważne; łatwo też źle.",
    "windows-1253": "Το ρομπότ αναζήτησης συλλέγει έγγραφα, τα διαβάζει και τα αποθηκεύει σε έναν κατάλογο.",
    "windows-1254": "Arama robotu belgeleri toplar, okur ve hepsini aramak için değişik şekillerde kataloğa yazdığı gibi saklıyor.",
    "windows-1255": "הרובוט אוסף מסמכים, קורא אותם ושומר אותם בקטלוג אחד כדי שאפשר יהיה לחפש בהם.",
    "windows-1256": "يجمع الروبوت المستندات ويقرؤها ويحفظها في فهرس واحد حتى يمكن البحث فيها بسهولة.",
    "windows-874": "หุ่นยนต์ค้นหาจะรวบรวมเอกสาร อ่านเอกสาร และเก็บไว้ในรายการเดียวเพื่อการค้นหา",
    "shift_jis": "検索ロボットは文書を集めて読み取り、ひとつの目録に保存します。",
    "euc-jp": "検索ロボットは文書を集めて読み取り、ひとつの目録に保存します。",
    "iso-2022-jp": "検索ロボットは文書を集めて読み取り、ひとつの目録に保存します。",
    "euc-kr": "검색 로봇은 문서를 모으고 읽어서 하나의 목록에 저장합니다.",
    "gbk": "搜索机器人收集文档，阅读它们，并把它们保存在一个目录中供人们查找。",
    "big5": "搜尋機器人收集文件，閱讀它們，並把它們保存在一個目錄中供人們查找。",
    "utf-8": "Die Übersicht enthält alle geänderten Aufträge.",
    "utf-16le": "The robot gathers documents.",
    "utf-16be": "The robot gathers documents.",
}
CODECS = {"koi8-u": "koi8-u", "ibm866": "cp866", "windows-874": "cp874", "shift_jis": "cp932", "euc-kr": "cp949", "gbk": "gbk",
          "big5": "big5", "iso-2022-jp": "iso2022_jp", "utf-16le": "utf-16-le", "utf-16be": "utf-16-be"}  # fmt: skip


@pytest.mark.parametrize("name", sorted(SENTENCES))
def test_a_sentence_is_read_as_it_was_written(name: str) -> None:
    text = SENTENCES[name]
    body = text.encode(CODECS.get(name, name))
    assert decode_as(body, guess(body)) == text


def test_markup_around_the_words_does_not_hide_them() -> None:
    text = SENTENCES["windows-1251"]
    body = f"<html><body><p class='a b'>Chapter 1 <a href='x'>{text}</a></p></body>".encode("cp1251")
    assert guess(b"<p>" * 500 + body) == "windows-1251"


@pytest.mark.parametrize("body", [b"", b"\x00", b"\xff", b"\x80\x81", b"\xff" * 5000, bytes(range(256))])
def test_nonsense_gets_some_encoding(body: bytes) -> None:
    assert decode_as(body, guess(body)) is not None
