// The model's recommendation takes a while to compute: it is asked for once the page is there, and drawn when it comes.
import { refresh } from "./live.js";

const PAUSE_MS = 10_000;
// At most so often: robots wait for the same model.

const figure = document.querySelector("[data-recommended]");
let known = "null";
let waiting = false;
let missed = false;

async function ask() {
  if (waiting) {
    missed = true;
    return;
  }
  waiting = true;
  missed = false;
  try {
    const answer = await fetch(figure.dataset.recommended, { headers: { Accept: "application/json" } });
    const found = answer.ok ? JSON.stringify((await answer.json()).recommended) : known;
    if (found !== known) {
      known = found;
      await refresh();
    }
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
  } finally {
    waiting = false;
    if (missed) ask();
  }
}

addEventListener("studychange", ask);
ask();
