// Sends forms to the API as any other client would, and says what it answered.
//
// <form data-call="POST /v1/studies/arm/trials/{number}/tell" data-done="Stored">
//   <input name="number" data-in-path>            fills the address
//   <input name="cost" data-kind="number">        a member of the body; "json" and "number" are read so
//   <input name="budget.trials" data-empty="null"> a member of a member; what is sent where nothing is written
import { rest } from "./events.js";
import { refresh } from "./live.js";
import { onceKey } from "./once.js";

const REPEATS = 60;

function read(field) {
  const text = field.value;
  if (text === "") return field.dataset.empty === "null" ? null : undefined;
  if (field.dataset.kind === "number") return Number(text);
  if (field.dataset.kind !== "json") return text;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw { detail: "This is no JSON.", errors: [{ pointer: `/${field.name}`, detail: error.message }] };
  }
}

function bodyOf(fields) {
  const body = {};
  for (const field of fields) {
    const value = read(field);
    if (value === undefined) continue;
    const names = field.name.split(".");
    const last = names.pop();
    names.reduce((inner, name) => (inner[name] ??= {}), body)[last] = value;
  }
  return body;
}

async function call(form) {
  let [method, address] = form.dataset.call.split(" ");
  const fields = [...form.elements].filter((field) => field.name && !field.disabled);
  for (const field of fields.filter((one) => "inPath" in one.dataset)) {
    address = address.replace(`{${field.name}}`, encodeURIComponent(field.value));
  }
  const body = JSON.stringify(bodyOf(fields.filter((one) => !("inPath" in one.dataset))));
  // The same key for a repeat: whatever became of the first request, it takes effect once.
  const headers = { "Content-Type": "application/json", "Idempotency-Key": onceKey() };
  for (let repeat = 0; ; repeat += 1) {
    const answer = await fetch(address, { method, headers, body });
    const said = await answer.json();
    if (answer.status !== 202 || repeat === REPEATS) {
      if (!answer.ok || answer.status === 202) throw said;
      return said;
    }
    await rest(1000 * Number(answer.headers.get("Retry-After") ?? 1));
  }
}

function element(name, text) {
  const made = document.createElement(name);
  made.textContent = text;
  return made;
}

function showProblem(form, problem) {
  const list = document.createElement("ul");
  for (const error of problem.errors ?? []) {
    const item = element("li", ` ${error.detail}`);
    item.prepend(element("code", error.pointer || "/"));
    list.append(item);
    const field = form.elements[error.pointer.split("/")[1]];
    if (field instanceof Element) field.setAttribute("aria-invalid", "true");
  }
  form.querySelector("[data-wrong]").replaceChildren(
    element("p", problem.detail ?? `No answer: ${problem.message}. Is the server running?`),
    ...(list.children.length ? [list] : []),
  );
}

function showDone(form, answer) {
  const said = form.querySelector("[data-said]");
  if (!said) return;
  const trial = answer.trials?.[0] ?? (answer.number ? answer : null);
  said.replaceChildren(element("p", `${form.dataset.done}${trial ? ": " : "."}`));
  if (!trial) return;
  const link = element("a", `trial ${trial.number}`);
  link.href = `/studies/${encodeURIComponent(trial.study)}/trials/${trial.number}`;
  said.firstChild.append(link);
  if (trial.state === "running" || trial.state === "queued") said.append(element("pre", JSON.stringify(trial.point)));
  const number = document.querySelector('input[name="number"][data-in-path]');
  if (number && trial.state === "running") number.value = trial.number;
}

async function send(form) {
  const buttons = [...form.querySelectorAll("button")].filter((button) => !button.disabled);
  for (const place of form.querySelectorAll("[data-wrong], [data-said]")) place.replaceChildren();
  for (const field of form.querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
  form.setAttribute("aria-busy", "true");
  for (const button of buttons) button.setAttribute("aria-disabled", "true");
  try {
    const answer = await call(form);
    showDone(form, answer);
    form.closest("dialog")?.close();
    await refresh();
  } catch (problem) {
    showProblem(form, problem);
  } finally {
    form.removeAttribute("aria-busy");
    for (const button of buttons) button.removeAttribute("aria-disabled");
  }
}

addEventListener("submit", (event) => {
  if (!event.target.dataset.call) return;
  event.preventDefault();
  if (!event.target.hasAttribute("aria-busy")) send(event.target);
});

addEventListener("click", (event) => {
  const opener = event.target.closest("[data-opens]");
  if (opener) document.getElementById(opener.dataset.opens).showModal();
  if (event.target.closest("[data-closes]")) event.target.closest("dialog").close();
});

// A cost belongs to a completed trial alone.
addEventListener("change", (event) => {
  if (!event.target.matches("[data-outcome]")) return;
  for (const part of event.target.form.querySelectorAll("[data-for]")) {
    part.hidden = part.dataset.for !== event.target.value;
    for (const field of part.querySelectorAll("input")) field.disabled = part.hidden;
  }
});
