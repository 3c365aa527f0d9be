"""A tree back to text: what is printed parses to the same tree, comments and order kept."""

from ingather.conf.text.tree import Block, Document, Entry, Remark, shown

__all__ = ["print_document"]


def print_document(document: Document) -> str:
    """Return the text of *document*: one line a directive, parameters as they were written.

    For a document that was parsed without errors, parsing the text gives the same tree again,
    places aside. Wrapped and continued lines become one.
    """
    lines: list[str] = []
    for node in document.nodes:
        if isinstance(node, Block):
            lines.extend(_block(node))
        else:
            lines.append(_line(node))
    return "".join(f"{line}\n" for line in lines)


def _line(node: Entry | Remark) -> str:
    if isinstance(node, Remark):
        return node.text
    return _with_comment(str(node), node.comment)


def _block(block: Block) -> list[str]:
    head = f"{block.tag} {shown(block.parameters)}".strip()
    lines = [_with_comment(f"<{head}>", block.comment)]
    lines += [_line(node) for node in block.body]
    if block.end is not None:
        lines.append(_with_comment(f"</{block.tag}>", block.end_comment))
    return lines


def _with_comment(text: str, comment: str) -> str:
    return f"{text} {comment}" if comment else text
