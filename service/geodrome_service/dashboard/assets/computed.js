// Pages of what takes computing: what is there at once comes first, the rest when it is computed. Afterwards they stay
// as new as the study, but change no more often than people can follow, and only while somebody looks.
import { follow, paced } from "./events.js";
import { draw } from "./figures.js";

const REST_MS = 5000;
const NEAR = "400px";
const TEACHING = ["completed", "failed", "abandoned"];
// Kinds of events that change what a model knows.

const parts = [...document.querySelectorAll("[data-part]")];
const figures = [...document.querySelectorAll("[data-figure]")];
const near = new Set();
const current = new Set();
// Figures in or near the window; those of them, and of the others, that show what is known.

async function refreshPart(part) {
  const answer = await fetch(part.dataset.part, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) return;
  const text = await answer.text();
  // Readers of the screen are told of changes alone.
  if (text !== part.dataset.shown) {
    part.dataset.shown = text;
    part.innerHTML = text;
  }
}

async function refreshFigure(element) {
  if (current.has(element)) return;
  current.add(element);
  if (element.dataset.first && !element.dataset.drawn) await draw(element, element.dataset.first);
  await draw(element, element.dataset.figure);
}

async function refresh() {
  await Promise.allSettled([...parts.map(refreshPart), ...[...near].map(refreshFigure)]);
}

const watching = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    if (isIntersecting) {
      near.add(target);
      refreshFigure(target).catch(() => current.delete(target));
    } else near.delete(target);
  }
}, { rootMargin: NEAR });

for (const figure of figures) watching.observe(figure);

async function renew() {
  current.clear();
  await refresh();
}

addEventListener("themechange", renew);
follow(document.body.dataset.events, paced(renew, REST_MS), TEACHING);
await Promise.allSettled(parts.map(refreshPart));
