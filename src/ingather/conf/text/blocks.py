"""Logical lines to blocks and directives, for filter.conf and filterrules.conf (rules L8, L9, L15)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from ingather.conf.report import Report
from ingather.conf.text.lexer import Logical, Remark, lex
from ingather.conf.text.parameters import Parameters, read_parameters, refuse_second
from ingather.conf.text.tree import Block, Document, Entry

__all__ = ["Grammar", "parse_blocks"]

_TAG = re.compile(r"<\s*(/?)\s*([A-Za-z][\w-]*)")
_PARAMETER = re.compile(r"[^\s=\"<>#]+\s*=")
_WORD = re.compile(r"[^\s=\"]+")
_HEADER = re.compile(r'(?:[^">\\]++|\\.|"(?:[^"\\]++|\\.)*")*>', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Grammar:
    """What may stand where: *blocks* maps tags to the keywords of their bodies; *outside* lists the others."""

    blocks: Mapping[str, tuple[str, ...]]
    outside: tuple[str, ...] = ()
    _keywords: dict[str, dict[str, str]] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        known = {tag: {k.lower(): k for k in keywords} for tag, keywords in self.blocks.items()}
        object.__setattr__(self, "_keywords", {**known, "": {k.lower(): k for k in self.outside}})

    def tag(self, written: str) -> str | None:
        """Return the canonical spelling of a tag."""
        return next((tag for tag in self.blocks if tag.lower() == written.lower()), None)

    def keyword(self, written: str, tag: str) -> str | None:
        """Return the canonical spelling of a keyword that may stand in *tag*, ``""`` = outside."""
        return self._keywords[tag].get(written.lower())

    def homes(self, written: str) -> list[str]:
        """Return the tags, ``<TAG>``, in which keyword *written* may stand."""
        return [f"<{tag}>" for tag in self.blocks if self.keyword(written, tag) is not None]


def parse_blocks(text: str, file: str, grammar: Grammar, report: Report) -> Document:
    """Parse *text*; all findings go to *report*, what could be read is returned."""
    return _Parser(file, grammar, report).run(lex(text, file, report))


class _Parser:
    """Holds the open block, the open header and the last directive (which takes wrapped lines)."""

    def __init__(self, file: str, grammar: Grammar, report: Report) -> None:
        self.document = Document(file)
        self.grammar = grammar
        self.report = report
        self.block: Block | None = None
        self.header_open = False
        self.last: Entry | None = None

    def run(self, lines: list[Logical | Remark]) -> Document:
        last: Logical | Remark | None = None
        for line in lines:
            last = line
            if isinstance(line, Remark):
                (self.block.body if self.block else self.document.nodes).append(line)
                continue
            if line.text.startswith("<"):
                self._tag(line)
            elif _PARAMETER.match(line.text):
                self._wrapped(line)
            else:
                self._directive(line)
        if self.block is not None and last is not None:
            end = last.place if isinstance(last, Remark) else last.place(max(0, len(last.text) - 1))
            self._close_header()
            self.report.add(
                "E-TRUNC",
                end,
                f"the file ends inside <{self.block.tag}>",
                hint=f"close it with </{self.block.tag}>",
                notes=((self.block.place, "opened here"),),
            )
        return self.document

    # --- tags ---

    def _tag(self, line: Logical) -> None:
        self._close_header()
        self.last = None
        match = _TAG.match(line.text)
        written = match[2] if match else line.text
        tag = self.grammar.tag(written)
        if match is None or tag is None:
            self.report.add(
                "E-TAG",
                line.place(0),
                f"unknown tag <{written.lstrip('<')[:60]}>",
                hint=self.report.suggest(written, self.grammar.blocks),
            )
            return
        if match[1]:
            self._end(line, tag, match.end())
        else:
            self._begin(line, tag, match.end())

    def _begin(self, line: Logical, tag: str, after: int) -> None:
        if self.block is not None:
            self.report.add(
                f"E-{tag.upper()}-NESTED",
                line.place(0),
                f"<{tag}> before </{self.block.tag}>",
                notes=((self.block.place, f"<{self.block.tag}> was opened here"),),
            )
        end = self._header_end(line, after)
        self.block = Block(tag, Parameters([], []), line.place(0), comment=line.comment)
        self.document.nodes.append(self.block)
        self.header_open = end < 0
        self._header_parameters(line, after, end if end >= 0 else len(line.text))

    def _header_parameters(self, line: Logical, start: int, end: int) -> None:
        block = self.block
        if block is None:
            return
        if line.open_quote >= 0 and line.open_quote < end < len(line.text):
            # The vendor's <Filter name="enumeration1>: the value ends before ">" (L15).
            self.report.tolerate(
                "W-QUOTE", line.place(line.open_quote), f"the quote is not closed in <{block.tag} ...>"
            )
            text = line.text[:end] + '"' + line.text[end + 1 :]
            line = Logical(line.file, text, line.spots)
            end += 1
        found = read_parameters(line, start, end, self.report)
        for bare in found.bare:
            self.report.add("E-PARAM", bare.place, f"{bare.word!r} is not of the form name=value")
        for item in found.items:
            first = block.parameters.get(item.name)
            if first is None:
                block.parameters.items.append(item)
            else:
                refuse_second(item, first, self.report)
        block.parameters.broken |= found.broken

    def _header_end(self, line: Logical, start: int) -> int:
        """Return the offset of the ``>`` that ends the header, -1 if there is none on the line."""
        if line.open_quote >= 0:
            end = line.text.rfind(">")
            return end if end > line.open_quote else -1
        match = _HEADER.match(line.text, start)
        if match is None:
            return -1
        self._after_header(line, match.end())
        return match.end() - 1

    def _after_header(self, line: Logical, at: int) -> None:
        rest = line.text[at:].strip()
        if rest:
            self.report.add("E-STRAY", line.place(line.text.index(rest, at)), "text after the end of a tag")

    def _end(self, line: Logical, tag: str, after: int) -> None:
        block = self.block
        if block is None or block.tag != tag:
            self.report.add(
                f"E-{tag.upper()}-CLOSE",
                line.place(0),
                f"</{tag}> without <{tag}>",
                notes=((block.place, f"<{block.tag}> is open"),) if block else (),
            )
            if block is None:
                return
        else:
            block.end = line.place(0)
            block.end_comment = line.comment
            self.block = None
        close = line.text.find(">", after)
        if close < 0 or line.text[after:close].strip():
            self.report.add("E-TAG", line.place(0), f"write </{tag}>")
        else:
            self._after_header(line, close + 1)

    def _close_header(self) -> None:
        if self.header_open and self.block is not None:
            self.report.add("E-TAG", self.block.place, f"<{self.block.tag} ...> is not closed by >")
        self.header_open = False

    # --- directives ---

    def _wrapped(self, line: Logical) -> None:
        """Join a line that starts with ``name=`` to what it continues (L8)."""
        if self.header_open:
            end = self._header_end(line, 0)
            self.header_open = end < 0
            self._header_parameters(line, 0, end if end >= 0 else len(line.text))
            return
        entry = self.last
        if entry is None:
            self._stray(line)
            return
        if not line.indented:
            self.report.tolerate(
                "W-WRAP",
                line.place(0),
                f"taken as continuation of {entry.keyword} in line {entry.place.line}",
                hint="end the line before with a backslash, or indent this one",
            )
        found = read_parameters(line, 0, len(line.text), self.report)
        for item in found.items:
            first = entry.get(item.name)
            if first is None:
                entry.items.append(item)
            else:
                refuse_second(item, first, self.report)
        entry.bare.extend(found.bare)
        entry.parameters.broken |= found.broken
        entry.comment = f"{entry.comment} {line.comment}".strip()

    def _directive(self, line: Logical) -> None:
        self._close_header()
        word = _WORD.match(line.text)
        written = word[0] if word else ""
        keyword = self.grammar.keyword(written, self.block.tag if self.block else "")
        if keyword is None:
            self._stray(line)
            return
        found = read_parameters(line, len(written), len(line.text), self.report)
        entry = Entry(keyword, found, line.place(0), comment=line.comment)
        (self.block.body if self.block else self.document.nodes).append(entry)
        self.last = entry

    def _stray(self, line: Logical) -> None:
        """Refuse text that belongs nowhere; what wraps around from it is not reported again."""
        self.last = None
        if self.report.only_counts():
            return
        word = _WORD.match(line.text)
        written = word[0] if word else line.text[:1]
        if self.block is not None:
            text = f"{written!r} is not a directive of <{self.block.tag}>"
            hint = self.report.suggest(written, self.grammar.blocks[self.block.tag])
        elif homes := self.grammar.homes(written):
            text = f"{written} outside of {' and '.join(homes)}"
            hint = "move it between the opening and the closing tag"
        else:
            text, hint = (
                f"{written!r} stands outside of any block",
                self.report.suggest(written, self.grammar.blocks),
            )
        self.report.add("E-STRAY", line.place(0), text, hint=hint)
