"""The feeds' DTD of version 7.x as a table (GSA feeds specification, section 7.2; group feeds: section 12).

Attribute values are written as in the DTD; how generously they are read is the readers' business.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Final

__all__ = ["ELEMENTS", "GROUP_ELEMENTS", "Attribute", "Element"]


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute: the *values* it may have (none listed = any text), and whether it must be there."""

    values: frozenset[str] = frozenset()
    required: bool = False


@dataclass(frozen=True, slots=True)
class Element:
    """An element.

    Attributes:
        children: the content model: names of children, each followed by a blank, must match it.
        model: the same in the words of the DTD.
        text: text other than white space may stand in it.
        attributes: by name.
    """

    children: re.Pattern[str]
    model: str
    text: bool = False
    attributes: Mapping[str, Attribute] = field(default_factory=dict)


def _element(model: str, children: str = "", *, text: bool = False, **attributes: Attribute) -> Element:
    named = {name.replace("_", "-"): attribute for name, attribute in attributes.items()}
    return Element(re.compile(children), model, text, MappingProxyType(named))


def _one_of(*values: str, required: bool = False) -> Attribute:
    return Attribute(frozenset(values), required)


_ANY: Final = Attribute()
_NEEDED: Final = Attribute(required=True)
_FLAG: Final = _one_of("true", "false")
_ACTION: Final = _one_of("add", "delete")

ELEMENTS: Final[Mapping[str, Element]] = MappingProxyType(
    {
        "gsafeed": _element("(header, group+)", "header (?:group )+"),
        "header": _element("(datasource, feedtype)", "datasource feedtype "),
        "datasource": _element("(#PCDATA)", text=True),
        "feedtype": _element("(#PCDATA)", text=True),
        "group": _element(
            "((acl | record)*)", "(?:acl |record )*", action=_ACTION, pagerank=_ANY, feedrank=_ANY
        ),
        "record": _element(
            "(acl?, metadata*, content*)",
            "(?:acl )?(?:metadata )*(?:content )*",
            url=_NEEDED,
            displayurl=_ANY,
            action=_ACTION,
            mimetype=_NEEDED,
            last_modified=_ANY,
            lock=_FLAG,
            authmethod=_one_of("none", "httpbasic", "ntlm", "httpsso", "negotiate"),
            pagerank=_ANY,
            feedrank=_ANY,
            crawl_immediately=_FLAG,
            crawl_once=_FLAG,
            scoring=_one_of("content", "web"),
        ),
        "metadata": _element("(meta*)", "(?:meta )*", overwrite_acls=_FLAG),
        "acl": _element(
            "(principal*)",
            "(?:principal )*",
            url=_ANY,
            inheritance_type=_one_of("child-overrides", "parent-overrides", "and-both-permit", "leaf-node"),
            inherit_from=_ANY,
            action=_ACTION,
        ),
        "principal": _element(
            "(#PCDATA)",
            text=True,
            scope=_one_of("user", "group", required=True),
            access=_one_of("permit", "deny", required=True),
            namespace=_ANY,
            case_sensitivity_type=_one_of("everything-case-sensitive", "everything-case-insensitive"),
            principal_type=_one_of("unqualified"),
        ),
        "meta": _element("EMPTY", encoding=_one_of("base64binary"), name=_NEEDED, content=_NEEDED),
        "content": _element("(#PCDATA)", text=True, encoding=_one_of("base64binary", "base64compressed")),
    }
)
"""``acl@action`` is ours: nobody knows how an appliance deletes a free ACL (section 11.2)."""

GROUP_ELEMENTS: Final[Mapping[str, Element]] = MappingProxyType(
    {
        "xmlgroups": _element("(membership*)", "(?:membership )*"),
        "membership": _element("(principal, members?)", "principal (?:members )?", source=_ANY),
        "members": _element("(principal*)", "(?:principal )*"),
        "principal": _element(
            "(#PCDATA)",
            text=True,
            scope=_one_of("USER", "GROUP", required=True),
            namespace=_ANY,
            case_sensitivity_type=_one_of("EVERYTHING_CASE_SENSITIVE", "EVERYTHING_CASE_INSENSITIVE"),
            principal_type=_one_of("unqualified"),
        ),
    }
)
