// Imports a file that a study was exported to.
import { onceKey } from "./once.js";
import { list } from "./said.js";

const form = document.getElementById("import");
const imported = document.getElementById("imported");
const button = form.querySelector("button");

async function send() {
  const name = document.getElementById("other-name").value.trim();
  const address = `/v1/studies/import${name ? `?name=${encodeURIComponent(name)}` : ""}`;
  const headers = { "Content-Type": "application/json", "Idempotency-Key": onceKey() };
  const answer = await fetch(address, { method: "POST", headers, body: document.getElementById("file").files[0] });
  return [answer.ok, await answer.json()];
}

form.addEventListener("submit", async (event) => {
  event.preventDefault();
  button.disabled = true;
  imported.replaceChildren();
  try {
    const [isDone, body] = await send();
    if (isDone) location.assign(`/studies/${encodeURIComponent(body.name)}`);
    else imported.replaceChildren(...list(body));
  } catch {
    imported.replaceChildren(...list({ title: "No answer", detail: "The server does not answer; try again." }));
  }
  button.disabled = false;
});
form.hidden = false;
