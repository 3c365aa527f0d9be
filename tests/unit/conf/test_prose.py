"""Filters told in sentences."""

from collections.abc import Callable

import pytest

from ingather.conf import BUILTIN, Loaded, load_bodies, shipped
from ingather.conf.filters.prose import SENTENCES, prose_of, sentence

Configure = Callable[..., Loaded]

TOLD = {
    "Data fn=filter-by-prefix src=type deny=image": "drop resources whose type starts with image",
    "Data fn=filter-by-exact src=type allow=text/html": "keep only resources whose type is text/html",
    "Data fn=filter-by-exact src=type deny=all": "drop every resource",
    "MetaData fn=filter-by-regex src=host deny=\\\\*.gov": "drop resources whose host matches \\\\*.gov (shexp)",
    "MetaData fn=filter-by-max src=depth value=5": "drop resources more than 5 links from their starting point",
    "MetaData fn=filter-by-max src=hosts value=2": "drop other hosts than the first 2 in a run",
    "Data fn=filter-by-max src=content-length value=64": "drop resources larger than 64 kilobytes",
    "Data fn=assign-source dst=type src=content-type": "set type to what content-type says",
    "Data fn=assign-source dst=type value=x": "set type to 'x'",
    "Data fn=clear-source src=path": "forget path",
    "Data fn=generate-md5": "compute the digest of the bytes (md5)",
    'Generate fn=generate-by-exact match=a.example src=host value="A" dst=owner': "if host is a.example, set owner to 'A'",
    "Generate fn=copy-attribute src=a dst=b truncate=9 clean=true": (
        "copy attribute a into b, at most 9 characters and no partial word"
    ),
    'Generate fn=rename-attribute src="author->writer"': "rename attributes: author as writer",
    'Generate fn=extract-source src="md5,type->content-type"': "put sources into attributes: md5, type as content-type",
    "Generate fn=extract-html-toc level=2 truncate=99 type=text/html": (
        "put headings down to level 2 of text/html resources into attribute toc, at most 99 bytes"
    ),
    "Generate fn=extract-html-text skip-headings=true": "put the first text without headings into attribute partial-text",
    "Generate fn=generate-last-modified": "set rd-last-modified to the time of the description",
    "Data fn=convert-to-html type=unknown": "convert documents that came without a type to HTML",
    "Enumerate fn=enumerate-urls type=text/html": "follow the links of text/html resources, at most 1024 a page",
}


def filters(*lines: str) -> Loaded:
    body = "\n".join(lines)
    text = f"<Filter name=enumeration-default>\n{body}\n</Filter>\n<Filter name=generation-default>\n{body}\n</Filter>\n"
    return load_bodies({"filter.conf": text.encode()})


@pytest.mark.parametrize(("line", "told"), TOLD.items(), ids=lambda text: text[:40])
def test_a_line_is_a_sentence(line: str, told: str) -> None:
    loaded = filters(line)
    assert loaded.enumeration is not None
    (directive,) = loaded.enumeration.directives
    assert sentence(directive) == told


def test_every_function_has_a_sentence_of_its_own() -> None:
    assert set(SENTENCES) == {f.name for f in BUILTIN.functions.values() if f.phases}


def test_a_filter_is_told_in_the_order_in_which_it_runs() -> None:
    loaded = filters(
        "Data fn=generate-md5",
        "MetaData fn=filter-by-prefix src=path deny=/x",
        "Data enable=false fn=filter-by-md5",
    )
    assert loaded.enumeration is not None
    assert prose_of(loaded.enumeration) == [
        "enumeration-default (filter.conf:1)",
        "",
        "Before the fetch (MetaData):",
        "  1. at MetaData: drop resources whose path starts with /x (filter.conf:3)",
        "",
        "After the fetch (Data):",
        "  2. at Data: compute the digest of the bytes (md5) (filter.conf:2)",
    ]
    loaded = filters()
    assert loaded.enumeration is not None
    assert prose_of(loaded.enumeration)[-1] == "Every resource passes, and nothing is done with it."


def test_the_shipped_filters_are_told_without_objects_in_them() -> None:
    loaded = load_bodies({name: text.encode() for name, text in shipped().items()})
    assert loaded.enumeration
    assert loaded.generation
    lines = [*prose_of(loaded.enumeration), *prose_of(loaded.generation)]
    assert max(map(len, lines)) < 250
    assert not [line for line in lines if "object at" in line or "Match(" in line]
