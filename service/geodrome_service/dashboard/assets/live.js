// Keeps a page as new as the study: after each event, the parts and figures that show it are fetched again.
import { drawAll } from "./figures.js";

const PAUSE_MS = 1000;
// At most so often: a study may have many events in a second.

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

export async function refresh() {
  const parts = [...document.querySelectorAll("[data-live]")].map(refreshPart);
  await Promise.allSettled([...parts, drawAll()]);
}

function follow(address) {
  let waiting = false;
  const happened = async () => {
    if (waiting) return;
    waiting = true;
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    waiting = false;
    await refresh();
    dispatchEvent(new Event("studychange"));
  };
  const events = new EventSource(address);
  const kinds = ["created", "changed", "active", "paused", "closed", "queued", "running", "resumed", "completed", "failed", "lost", "abandoned"];
  for (const kind of kinds) events.addEventListener(kind, happened);
  addEventListener("pagehide", () => events.close());
}

for (const part of document.querySelectorAll("[data-live]")) shown.set(part, part.innerHTML.trim());
addEventListener("themechange", () => drawAll());
await drawAll();
if (document.body.dataset.events) follow(document.body.dataset.events);
