"""What is wrong with one pattern: the names of the findings, and what to do about each."""

from dataclasses import dataclass
from typing import Final

from ingather.model.diagnostic import Diagnostic, Place

__all__ = ["HINTS", "Finding", "PatternError"]

HINTS: Final = {
    "approximate": r"\< and \> are taken as the border of a word, whichever side it is on",
    "ambiguous-policy": "each of the rules must permit; join them, or make one more exact",
    "backreference": r"only /([^/]*)/\\1/\\1/ (three equal segments) is known; write the alternatives out",
    "bad-port": "a port is a number from 1 to 65535, or *",
    "bad-right": "the only right is right=none, behind the user or group whom it denies",
    "collating": "write the characters themselves into the brackets",
    "empty-pattern": "write what URLs are to match, or take the line out; / matches every URL",
    "exception-here": "a policy rule has no exceptions; write a more exact rule",
    "keyword-case": "keywords are contains:, regexp:, regexpCase: and regexpIgnoreCase:",
    "leading-star": "a pattern needs no star in front: .pdf$ takes all that ends so, contains: takes it literally",
    "matched-nothing": "is it misspelt, or has what it is for not been found yet?",
    "never-matches": "canonical URLs do not hold it",
    "no-principal": "write user:NAME or group:NAME behind the pattern, otherwise nobody is permitted",
    "no-scheme": "write the scheme: ^http://www.example.com/",
    "no-slash": "write host/ for a host, /text for a path, text$ for the end of a URL, or contains:text",
    "open-host": "a host text takes every host that ends so (google.com/ takes notgoogle.com); write .host/, or http://host/",
    "perl-class": r"in a GNU expression it is the letter; write [0-9] for \d",
    "plus-minus": "it is read as -; write - alone",
    "policy-on-public": "without the rule everybody may see them; that is well if they are to be closed",
    "regex": "mend the expression; it is a GNU extended one",
    "too-long": "a pattern has at most 4096 bytes",
    "too-many": "a list has at most 100,000 lines",
    "unsupported-form": "nobody knows what it meant; write it in another form",
    "upper-case-host": "hosts are in lower case in canonical URLs",
    "userinfo": "URLs are kept without user names; take away what stands before @",
}
"""Name of a finding to what to do; its code is ``E-`` or ``W-`` and the name in capitals."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One finding about a line; *offset* is in characters inside the line."""

    name: str
    text: str
    offset: int = 0
    error: bool = True

    def diagnostic(self, file: str, line: int) -> Diagnostic:
        """Return it as everybody shows it."""
        code = f"{'E' if self.error else 'W'}-{self.name.upper()}"
        return Diagnostic(code, Place(file, line, self.offset + 1), self.text, hint=HINTS.get(self.name))


class PatternError(ValueError):
    """A line that is no pattern: the list is refused."""

    def __init__(self, name: str, text: str, offset: int = 0) -> None:
        super().__init__(text)
        self.finding = Finding(name, text, offset)
