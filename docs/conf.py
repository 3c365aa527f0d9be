"""How the documents are built: Markdown through MyST, dressed by Furo, without any network.

No intersphinx: a build must not depend on somebody else's site. So names of other people's
packages cannot be resolved, and ``nitpick_ignore_regex`` lets exactly those pass; a dangling
name of our own fails the build.
"""

import ingather

project = "Ingather"
author = "The Ingather developers"
project_copyright = "The Ingather developers"
version = release = ingather.__version__
language = "en"

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.napoleon"]
source_suffix = {".md": "markdown"}
root_doc = "index"
exclude_patterns = ["_build", "**/README.md"]

# Labels of headings down to the third level, so that pages can point into one another.
myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence", "deflist", "fieldlist", "smartquotes"]

nitpicky = True
nitpick_ignore_regex = [(r"py:.*", r"(?!ingather\b).*")]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented_params"
autodoc_default_options = {"members": True, "show-inheritance": True}
napoleon_google_docstring = True
napoleon_numpy_docstring = False
napoleon_use_ivar = True

html_theme = "furo"
html_title = f"Ingather {release}"
html_static_path: list[str] = []
html_copy_source = False
html_show_sphinx = False
# Furo asks for no web font and no script from outside; nothing here may change that.
html_theme_options = {"navigation_with_keys": True}
