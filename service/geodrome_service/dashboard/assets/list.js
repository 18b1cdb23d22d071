// Keeps the list of studies new while somebody looks at it.

const EVERY_MS = 5000;

const list = document.querySelector("[data-list]");
const stale = document.querySelector("[data-stale]");
let shown = null;

function isSelecting() {
  const selection = getSelection();
  return !selection.isCollapsed && list.contains(selection.anchorNode);
}

function replace(text) {
  const focused = list.contains(document.activeElement) ? document.activeElement : null;
  const isTable = focused?.matches(".scroll");
  const left = list.querySelector(".scroll")?.scrollLeft ?? 0;
  list.innerHTML = text;
  const table = list.querySelector(".scroll");
  if (table) table.scrollLeft = left;
  if (focused?.id) document.getElementById(focused.id)?.focus({ preventScroll: true });
  else if (isTable) table?.focus({ preventScroll: true });
}

async function refresh() {
  if (document.hidden || isSelecting()) return;
  try {
    const answer = await fetch(list.dataset.list, { headers: { Accept: "text/html" } });
    if (answer.redirected) return location.reload(); // the key is not valid any more
    stale.hidden = answer.ok;
    const text = answer.ok ? await answer.text() : shown;
    if (text !== shown) replace(text);
    shown = text;
  } catch {
    stale.hidden = false;
  }
}

setInterval(refresh, EVERY_MS);
document.addEventListener("visibilitychange", refresh);
