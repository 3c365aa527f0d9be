"""Zip containers: what lies inside says whether it is Office Open XML, OpenDocument, EPUB, iWork, HWPX, or an archive."""

from ingather.errors import ExtractError
from ingather.extract.documents.draft import Draft
from ingather.extract.documents.iwork import is_iwork
from ingather.extract.documents.ooxml import ZipParts, read_parts
from ingather.extract.documents.package import Member, Package

__all__ = ["read"]


def read(body: bytes, draft: Draft, _name: str, _content_type: str | None) -> None:
    """Read a zip container into *draft*.

    Raises:
        ExtractError: ``damaged``, ``encrypted``, ``refused``.
        LimitReachedError: a limit of the draft's budget.
    """
    package = Package(body, draft.budget)
    if package.truncated:
        draft.flag("partial")
    if package.cut:
        draft.flag("cut")
    if "[content_types].xml" in package or "_rels/.rels" in package:
        if read_parts(ZipParts(package), draft):
            return
    elif "contents/section0.xml" in package or _mimetype(package).startswith("application/hwp"):
        from ingather.extract.documents.hwp import read_package

        read_package(package, draft)
        return
    elif _mimetype(package).startswith("application/epub") or "meta-inf/container.xml" in package:
        from ingather.extract.documents.epub import read_package

        read_package(package, draft)
        return
    elif _mimetype(package).startswith("application/vnd.") or "content.xml" in package:
        from ingather.extract.documents.opendocument import read_package

        read_package(package, draft)
        return
    elif is_iwork(package):
        from ingather.extract.documents.iwork import read_package

        read_package(package, draft)
        return
    _read_archive(package, draft)


def _mimetype(package: Package) -> str:
    member = package.find("mimetype")
    if member is None:
        return ""
    try:
        return package.read(member)[:200].decode("ascii", "replace").strip()
    except ExtractError:
        return ""


def _read_archive(package: Package, draft: Draft) -> None:
    readable = encrypted = 0
    for member in package:
        if member.name.endswith("/"):
            continue
        try:
            data = package.read(member)
        except ExtractError as error:
            encrypted += error.reason == "encrypted"
            draft.block(member.name)
            draft.flag("part-encrypted" if error.reason == "encrypted" else "partial")
            continue
        readable += 1
        draft.embed(_plain(member), data, keep=False)
    if encrypted and not readable:
        raise ExtractError("every member of the archive is encrypted", reason="encrypted")


def _plain(member: Member) -> str:
    return member.name.replace("\\", "/")
