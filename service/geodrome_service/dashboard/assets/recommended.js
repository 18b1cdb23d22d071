// The model's recommendation takes a while to compute: it is asked for once the page is there, and drawn when it comes.
import { paced } from "./events.js";
import { refresh } from "./live.js";

const REST_MS = 10_000;
// Robots wait for the same model.

const figure = document.querySelector("[data-recommended]");
let known = "null";

const ask = paced(async () => {
  const answer = await fetch(figure.dataset.recommended, { headers: { Accept: "application/json" } });
  const found = answer.ok ? JSON.stringify((await answer.json()).recommended) : known;
  if (found === known) return;
  known = found;
  await refresh();
}, REST_MS);

addEventListener("studychange", ask);
ask();
