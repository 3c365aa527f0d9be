"""The tree of a configuration file: what the parser found, with all that the writer needs."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from ingather.conf.text.lexer import Remark
from ingather.conf.text.parameters import Bare, Parameter, Parameters, quoted
from ingather.model.diagnostic import Place

__all__ = ["Block", "Document", "Entry", "Remark", "shown"]


def shown(parameters: Parameters) -> str:
    """Return parameters as one line of text, each as it was written."""
    words = [bare.word for bare in parameters.bare]
    words += [f"{p.written or p.name}={p.raw or quoted(p.name, p.value)}" for p in parameters.items]
    return " ".join(words)


@dataclass(slots=True)
class Entry:
    """A line with a keyword and parameters; robot.conf's parameter lines have keyword ``""``."""

    keyword: str
    parameters: Parameters
    place: Place
    comment: str = ""

    def get(self, name: str) -> Parameter | None:
        """Return parameter *name*."""
        return self.parameters.get(name)

    @property
    def items(self) -> list[Parameter]:
        """Parameters in order."""
        return self.parameters.items

    @property
    def bare(self) -> list[Bare]:
        """Words without ``=``."""
        return self.parameters.bare

    def __str__(self) -> str:
        return f"{self.keyword} {shown(self.parameters)}".strip()


@dataclass(slots=True)
class Block:
    """``<Tag name=...> ... </Tag>``; *tag* in canonical spelling, *end* ``None`` when it is never closed."""

    tag: str
    parameters: Parameters
    place: Place
    body: list["Entry | Remark"] = field(default_factory=list)
    comment: str = ""
    end: Place | None = None
    end_comment: str = ""

    def get(self, name: str) -> Parameter | None:
        """Return header parameter *name*."""
        return self.parameters.get(name)

    def entries(self) -> Iterator[Entry]:
        """Yield the directives in file order."""
        for node in self.body:
            if isinstance(node, Entry):
                yield node


@dataclass(slots=True)
class Document:
    """A whole file."""

    file: str
    nodes: list[Entry | Block | Remark] = field(default_factory=list)

    def blocks(self, tag: str) -> Iterator[Block]:
        """Yield the blocks of *tag* in file order."""
        for node in self.nodes:
            if isinstance(node, Block) and node.tag == tag:
                yield node

    def entries(self) -> Iterator[Entry]:
        """Yield the entries outside all blocks, in file order."""
        for node in self.nodes:
            if isinstance(node, Entry):
                yield node
