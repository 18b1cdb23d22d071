// Keeps a page as new as the study: after each event, the parts and figures that show it are fetched again.
import { drawAll } from "./figures.js";

const PAUSE_MS = 1000;
// At most so often: a study may have many events in a second.

async function refreshPart(part) {
  const answer = await fetch(part.dataset.live, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const text = await answer.text();
  // Who is writing in a part, or has its menu open, is not disturbed.
  if (part.contains(document.activeElement) && document.activeElement.matches("input, select, textarea")) return;
  if (text !== part.dataset.shown) {
    part.dataset.shown = text;
    part.innerHTML = text;
  }
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
  };
  const events = new EventSource(address);
  const kinds = ["created", "changed", "active", "paused", "closed", "queued", "running", "resumed", "completed", "failed", "lost", "abandoned"];
  for (const kind of kinds) events.addEventListener(kind, happened);
  addEventListener("pagehide", () => events.close());
}

addEventListener("themechange", () => drawAll());
await drawAll();
if (document.body.dataset.events) follow(document.body.dataset.events);
