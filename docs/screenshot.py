"""Take the picture of the search page that README and how-to show, from the real page: ``./run screenshot``.

What the demo gathers, these documents, is gathered in a temporary home; Debian's chromium opens its search page and asks. The
host is an address with a port that differs each time: the picture says ``docs.example`` in its place, and nothing
else is changed. Needs chromium (apt-get install chromium).
"""

import shutil
import sys
import tempfile
from pathlib import Path
from urllib.parse import quote

from playwright.sync_api import ViewportSize, sync_playwright

from ingather.app.demo import StaticServer, documentation_folder, documentation_site
from ingather.testing.rig import Rig

PICTURE = Path(__file__).with_name("images") / "search-page.png"
QUERY = "politeness delay"
SIZE: ViewportSize = {"width": 1280, "height": 820}
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-sync",
    "--no-first-run",
]
_NAMED = """(name) => {
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) walker.currentNode.data = walker.currentNode.data.replace(/127\\.0\\.0\\.1(:\\d+)?/g, name);
}"""


def take(address: str, chromium: str, picture: Path) -> None:
    """Ask the search page at *address* and write what it then looks like to *picture*."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=chromium, args=FLAGS)
        try:
            page = browser.new_context(viewport=SIZE, color_scheme="light", locale="en-GB").new_page()
            page.goto(f"{address}?q={quote(QUERY)}")
            page.wait_for_selector("ol.results")
            page.evaluate(_NAMED, "docs.example")
            page.screenshot(path=picture)
        finally:
            browser.close()


def main() -> int:
    """Gather the documents that the demo gathers, take the picture."""
    chromium = shutil.which("chromium")
    if chromium is None:
        print(
            "screenshot: no chromium here: apt-get install --no-install-recommends chromium", file=sys.stderr
        )
        return 1
    documents = documentation_site(documentation_folder())
    with tempfile.TemporaryDirectory(prefix="i-") as folder, StaticServer(documents) as server:
        rig = Rig(Path(folder) / "home").init().site(server.url.rstrip("/"))
        with rig.serving() as served:
            served.rest(len(documents) // 2)
            take(f"{served.search_url}/", chromium, PICTURE)
    print(PICTURE)
    return 0


if __name__ == "__main__":
    sys.exit(main())
