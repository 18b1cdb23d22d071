// Keeps a page as new as the study: after each event, the parts and figures that show it are fetched again.
import { follow, paced } from "./events.js";
import { drawAll } from "./figures.js";

const REST_MS = 1000;
// A study may have many events in a second.

const AGE_MS = 30_000;
// While nothing happens, "3 min ago" becomes 4.

// Who is writing in a part, moves through its rows, or has its dialog open, is not disturbed.
const BUSY = "input, select, textarea, tbody *";

// What each part was before scripts and people changed anything in it.
const shown = new WeakMap();

function normalized(text) {
  const made = document.createElement("template");
  made.innerHTML = text;
  return made.innerHTML.trim();
}

export function replace(part, text) {
  const focused = part.contains(document.activeElement) ? document.activeElement.id : "";
  part.innerHTML = text;
  shown.set(part, normalized(text));
  if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
}

function isBusy(part) {
  return part.querySelector("dialog[open]") || (part.contains(document.activeElement) && document.activeElement.matches(BUSY));
}

async function refreshPart(part) {
  const address = part.dataset.live;
  const answer = await fetch(address, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const text = await answer.text();
  // The person may have turned to another page of it meanwhile.
  if (isBusy(part) || part.dataset.live !== address) return;
  if (normalized(text) !== shown.get(part)) replace(part, text);
}

const refreshParts = () => Promise.allSettled([...document.querySelectorAll("[data-live]")].map(refreshPart));

export const refresh = () => Promise.allSettled([refreshParts(), drawAll()]);

for (const part of document.querySelectorAll("[data-live]")) shown.set(part, part.innerHTML.trim());
addEventListener("themechange", () => drawAll());
drawAll();
follow(document.body.dataset.events, paced(async () => {
  await refresh();
  dispatchEvent(new Event("studychange"));
}, REST_MS));
setInterval(() => { if (!document.hidden) refreshParts(); }, AGE_MS);
