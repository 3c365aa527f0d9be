"""Validate files, and make one of many (specification, section 10). Nothing is read or written here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Final

from ingather.errors import UsageError
from ingather.model.diagnostic import Diagnostic, Place
from ingather.overlay.findings import KEPT, Counts, log_line
from ingather.overlay.laid import Overlay
from ingather.overlay.options import Options
from ingather.overlay.reading import overlay_of

__all__ = ["Concatenated", "File", "Validation", "concatenate", "log_text", "threshold_of", "validate"]

_DIGITS: Final = 4

File = tuple[str, bytes] | tuple[str, bytes, int]
"""Name and bytes of a file; with its size when it is beyond the limit, and the bytes are not all of it."""


@dataclass(frozen=True, slots=True)
class Validation:
    """What files are worth.

    Attributes:
        overlays: each file, read with bad lines left out.
        diagnostics: what was found, file by file; the first thousand errors and warnings of each.
        records, bad: of all files together; blank lines and comments are neither.
        threshold: the share of bad records that is tolerated.
        remarks: what else is to be said, as sentences.
        strictly: no bad record is tolerated, because lines narrow access.
    """

    overlays: tuple[Overlay, ...]
    diagnostics: tuple[Diagnostic, ...]
    records: int
    bad: int
    threshold: Decimal
    remarks: tuple[str, ...] = ()
    strictly: bool = False

    @property
    def accepted(self) -> bool:
        """Whether the share of bad records is at most the threshold; exact: 7 of 10 pass with 0.7."""
        if any(each.counts.errors and not each.counts.records for each in self.overlays):
            return False  # a file that was not read at all
        if self.strictly and self.bad:
            return False
        return Fraction(self.bad) <= Fraction(self.threshold) * self.records

    @property
    def verdict(self) -> str:
        """One line."""
        ratio = Decimal(self.bad) / self.records if self.records else Decimal(0)
        word = "accepted" if self.accepted else "refused"
        return (
            f"{word}: {self.bad} bad of {self.records} records, ratio {_short(ratio)}, "
            f"threshold {_short(self.threshold)}"
        )


@dataclass(frozen=True, slots=True)
class Concatenated:
    """One file made of many; *body* is to be written only if *validation* accepts.

    Attributes:
        body: the good lines of all files in their order, without those whose prefix an earlier line has.
        lines: how many.
    """

    validation: Validation
    body: bytes
    lines: int


def threshold_of(text: str) -> Decimal:
    """Return a threshold as it was written.

    Raises:
        UsageError: it is no number from 0 to 1.
    """
    try:
        value = Decimal(text.strip())
    except InvalidOperation:
        value = Decimal("NaN")
    if not value.is_finite() or not 0 <= value <= 1:
        raise UsageError(f"errorThreshold={text} is no number from 0 to 1")
    return value


def validate(
    files: Sequence[File], threshold: Decimal = Decimal(0), options: Options | None = None
) -> Validation:
    """Read *files* and count; *options* are those of the source, whatever its ``on_error``."""
    wanted = options or Options()
    strictly = wanted.acl_overlay == "restrict"
    lenient = replace(wanted, on_error="keep_last_good" if strictly else "skip_line")
    overlays = tuple(_read(file, lenient) for file in files)
    records = sum(each.counts.records for each in overlays)
    bad = sum(each.counts.bad for each in overlays)
    remarks = [
        f"{each.name}: has {each.counts.bad} bad lines and on-error is {wanted.on_error}: the indexer will still "
        f"reject this file, whatever the threshold"
        for each in overlays
        if each.counts.bad and wanted.on_error != "skip_line"
    ]
    found = tuple(found for each in overlays for found in each.diagnostics)
    if strictly and bad:
        remarks.append(
            "acl-overlay is restrict: a line that is left out would widen access, so none is tolerated"
        )
    return Validation(overlays, found, records, bad, threshold, tuple(remarks), strictly)


def concatenate(
    files: Sequence[File], threshold: Decimal = Decimal(0), options: Options | None = None
) -> Concatenated:
    """Make one file of *files* (their order decides which of identical prefixes is first)."""
    wanted = options or Options()
    if wanted.acl_overlay != "restrict":  # what is written has no bad line, so on_error does not matter
        wanted = replace(wanted, on_error="skip_line")
    validation = validate(files, threshold, wanted)
    seen: dict[bytes, Place] = {}
    lines: list[bytes] = []
    across: list[Diagnostic] = []
    for overlay in validation.overlays:
        keys = _keys_by_line(overlay)
        for number in overlay.in_file_order():
            line = overlay.line(number)
            place = Place(overlay.name, line, 1)
            fresh = [key for key in keys[line] if key not in seen]
            if not fresh:
                first = seen[keys[line][0]]
                if len(across) < KEPT:
                    across.append(_duplicate(place, first))
                continue
            for key in fresh:
                seen[key] = place
            lines.append(overlay.written(number))
    body = b"".join([line + b"\n" for line in lines])
    kept = replace(validation, diagnostics=validation.diagnostics + tuple(across))
    return Concatenated(kept, body, len(lines))


def _read(file: File, options: Options) -> Overlay:
    return overlay_of(file[1], file[0], options, size=file[2] if len(file) > 2 else None)  # noqa: PLR2004 - see File


def log_text(validation: Validation) -> str:
    """Return the validation log: ``file:line:col severity code text``, totals of each file, the verdict."""
    return "".join([f"{line}\n" for line in _log(validation)])


def _log(validation: Validation) -> Iterator[str]:
    yield from map(log_line, validation.diagnostics)
    for overlay in validation.overlays:
        yield _totals(overlay.name, overlay.counts, overlay.diagnostics)
    yield from validation.remarks
    yield validation.verdict


def _totals(name: str, counts: Counts, kept: Sequence[Diagnostic]) -> str:
    line = f"{name}: {counts.records} records, {counts.bad} bad, {counts.errors} errors, {counts.warnings} warnings"
    more = counts.errors + counts.warnings - len(kept)
    return f"{line} ({more} of them not listed)" if more > 0 else line


def _keys_by_line(overlay: Overlay) -> dict[int, list[bytes]]:
    keys: dict[int, list[bytes]] = {}
    for number in range(len(overlay)):
        keys.setdefault(overlay.line(number), []).append(overlay.raw_key(number))
    return keys


def _duplicate(place: Place, first: Place) -> Diagnostic:
    return Diagnostic(
        f"duplicate-of-line-{first.line}",
        place,
        f"{first.file}:{first.line} has the same prefix, {place.file}:{place.line} is left out",
        severity="warning",
    )


def _short(value: Decimal) -> str:
    rounded = round(value, _DIGITS).normalize()
    return f"{rounded:f}"
