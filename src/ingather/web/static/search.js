// What the search page does beyond links and forms. Without this file everything still works.
"use strict";

// "/" goes to the query box, as in most tools that search; not while somebody is writing.
document.addEventListener("keydown", (event) => {
  const at = document.activeElement;
  const writing = at && (at.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(at.tagName));
  if (event.key !== "/" || writing || event.ctrlKey || event.metaKey || event.altKey) return;
  const box = document.getElementById("q");
  if (!box) return;
  event.preventDefault();
  box.focus();
  box.select();
});

// A new answer in place of the old one: start at its top, and say how much was found.
document.addEventListener("htmx:after:swap", () => {
  const count = document.getElementById("count");
  const said = document.getElementById("said");
  window.scrollTo(0, 0);
  if (said && count) said.textContent = count.textContent;
  const at = document.activeElement;
  if ((!at || at === document.body) && count) count.focus({ preventScroll: true });
});

// What could not be fetched in place is opened the plain way, so that the browser says what is wrong.
document.addEventListener("htmx:error", (event) => {
  const action = event.detail?.ctx?.request?.action;
  if (action) window.location.assign(action);
});
