"""One format a file; the journey of a document's bytes through them.

``kinds`` says what the bytes are. ``limits`` holds what reading them may cost, ``draft`` is what
every reader writes into (text, links, parts, metadata, flags) and what reads documents inside
documents.

Containers: ``package`` (zip) and ``container`` (which kind of zip), ``archive`` (tar, gzip,
bzip2, xz), ``cfb`` and ``compound`` (OLE), ``flatxml`` (XML without a container).

Office Open XML: ``ooxml`` (parts and relationships) gives the main part to
``wordprocessing``, ``spreadsheet``, ``xlsb`` or ``presentation``; ``drawnpages`` reads Visio and XPS, ``drawing`` reads shapes, charts and diagrams
for all of them, ``numberformat`` shows numbers and dates, ``numbering`` those of paragraphs. ``xmlevents`` is the only door to the XML parser, ``prolog`` says what the root is.

Old Office: ``word97``, ``excel97``, ``powerpoint97`` with ``diagram``, ``outlook``; ``wellknown`` opens what Excel protects.

Others: ``opendocument`` with ``odf_lists``, ``iwork`` with ``iwa``, ``hwp``, ``dbase``, ``epub``, ``pdf`` with ``xfa`` and ``pdf_heading``, ``rtf`` with ``objdata``, ``mail``, ``mif``,
``markup`` (HTML), ``plain``; ``foreign`` gives the rest to a general library. ``summary`` reads what OLE files
say about themselves. Every reader is a function ``read(body, draft, name, content_type)`` that raises
``ExtractError`` or the internal ``LimitReachedError``, which ends in the flag ``cut``.
"""
