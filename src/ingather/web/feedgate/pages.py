"""Texts that the gate serves as they are: the DTD, the version that clients look for, the form for people with a browser."""

from typing import Final

__all__ = ["DTD", "FORM", "VERSION"]

VERSION: Final = "7.4.0-1"
"""The appliance whose protocol this is. Adaptors take group feeds and combined headers from 7.2 on, HTTP 204 from 7.4 on."""

DTD: Final = """\
<?xml version="1.0" encoding="UTF-8"?>
<!-- Feeds as version 7.4 of the appliance took them. -->
<!ELEMENT gsafeed (header, group+)>
<!ELEMENT header (datasource, feedtype)>
<!ELEMENT datasource (#PCDATA)>
<!ELEMENT feedtype (#PCDATA)>
<!ELEMENT group ((acl | record)*)>
<!ATTLIST group
   action (add|delete) "add"
   pagerank CDATA #IMPLIED
   feedrank CDATA #IMPLIED>
<!ELEMENT record (acl?, metadata*, content*)>
<!ATTLIST record
   url CDATA #REQUIRED
   displayurl CDATA #IMPLIED
   action (add|delete) #IMPLIED
   mimetype CDATA #REQUIRED
   last-modified CDATA #IMPLIED
   lock (true|false) "false"
   authmethod (none|httpbasic|ntlm|httpsso|negotiate) #IMPLIED
   pagerank CDATA #IMPLIED
   feedrank CDATA #IMPLIED
   crawl-immediately (true|false) "false"
   crawl-once (true|false) "false"
   scoring (content|web) #IMPLIED>
<!ELEMENT metadata (meta*)>
<!ATTLIST metadata
   overwrite-acls (true|false) "true">
<!ELEMENT meta EMPTY>
<!ATTLIST meta
   encoding (base64binary) #IMPLIED
   name CDATA #REQUIRED
   content CDATA #REQUIRED>
<!ELEMENT content (#PCDATA)>
<!ATTLIST content
   encoding (base64binary|base64compressed) #IMPLIED>
<!ELEMENT acl (principal*)>
<!ATTLIST acl
   url CDATA #IMPLIED
   inheritance-type (child-overrides|parent-overrides|and-both-permit|leaf-node) "leaf-node"
   inherit-from CDATA #IMPLIED>
<!ELEMENT principal (#PCDATA)>
<!ATTLIST principal
   scope (user|group) #REQUIRED
   access (permit|deny) #REQUIRED
   namespace CDATA "Default"
   case-sensitivity-type (everything-case-sensitive|everything-case-insensitive) "everything-case-sensitive"
   principal-type (unqualified) #IMPLIED>
"""

FORM: Final = """\
<!DOCTYPE html>
<html lang="en">
<head><meta charset="utf-8"><title>Push a feed</title></head>
<body>
<h1>Push a feed</h1>
<p>Programs send these three fields by POST to this address.</p>
<form enctype="multipart/form-data" method="POST" action="/xmlfeed">
<p><label>Data source <input type="text" name="datasource" required pattern="[a-zA-Z_][a-zA-Z0-9_-]*"></label></p>
<p>Feed type
<label><input type="radio" name="feedtype" value="full"> full</label>
<label><input type="radio" name="feedtype" value="incremental" checked> incremental</label>
<label><input type="radio" name="feedtype" value="metadata-and-url"> metadata-and-url</label></p>
<p><label>XML file <input type="file" name="data" required></label></p>
<p><input type="submit" value="Push"></p>
</form>
</body>
</html>
"""
