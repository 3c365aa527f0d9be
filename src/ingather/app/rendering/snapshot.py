"""Taking the document out of the page: a function that runs in a world of its own beside the page's scripts."""

__all__ = ["SNAPSHOT"]

SNAPSHOT = """
(most) => {
  const absolute = (root) => {
    for (const [selector, name] of [['a[href]', 'href'], ['area[href]', 'href'], ['link[href]', 'href'], ['frame[src]', 'src'], ['iframe[src]', 'src']]) {
      for (const element of root.querySelectorAll(selector)) {
        const value = element[name];
        if (typeof value === 'string' && value) element.setAttribute(name, value);
      }
    }
  };
  const open = (root, depth) => {
    for (const element of root.querySelectorAll('*')) {
      const shadow = element.shadowRoot;
      if (!shadow || depth > 20) continue;
      open(shadow, depth + 1);
      absolute(shadow);
      const inside = document.createElement('div');
      for (const child of [...shadow.childNodes]) inside.append(child.cloneNode(true));
      element.prepend(inside);
    }
  };
  const url = document.URL;
  open(document, 0);
  absolute(document);
  for (const element of document.querySelectorAll('script:not([type="application/ld+json"]), noscript, style, base')) element.remove();
  const html = document.documentElement ? document.documentElement.outerHTML : '';
  return { url, length: html.length, html: html.length > most ? '' : html };
}
"""
"""(most characters) -> where the page is, its length, its HTML (``""`` if it is longer): links absolute, open shadow trees laid open, without
scripts and without what stands there for browsers that have none."""
