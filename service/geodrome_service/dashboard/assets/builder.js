// The form of a new study. The text is what is sent: the form reads it, and writes it.
import { controls, make } from "./controls.js";
import { member, root } from "./place.js";
import { space } from "./space.js";
import { show } from "./said.js";
import { write } from "./yaml.js";

const PAUSE_MS = 400;
const ORDER = ["name", "space", "constraints", "objective", "budget", "kernel", "seed", "lease_s"];

const data = JSON.parse(document.getElementById("data").textContent);
const builder = document.getElementById("builder");
const form = builder.querySelector("[data-builder]");
const waiting = document.getElementById("waiting");
const text = document.getElementById("text");
let latest = 0;
let timer = null;

const isStudy = (value) => value !== null && typeof value === "object" && !Array.isArray(value);

function wait(isWaiting) {
  form.inert = isWaiting;
  waiting.hidden = !isWaiting;
}

function draw(value) {
  const study = root(value, () => {
    text.value = write(study.get() ?? {});
    check({ draws: false });
  });
  const at = member(study, "space", ORDER);
  const [name, ...others] = data.study;
  form.replaceChildren(
    ...controls([name], study, data.spaces, ORDER),
    make("fieldset", {}, make("legend", { textContent: "Space" }), space(at, data.spaces)),
    ...controls(others, study, data.spaces, ORDER),
  );
}

function check({ draws }) {
  clearTimeout(timer);
  const mine = (latest += 1);
  if (draws) wait(true);
  timer = setTimeout(async () => {
    let answer;
    try {
      const response = await fetch("/new/check", { method: "POST", body: new URLSearchParams({ text: text.value }) });
      answer = await response.json();
      if (!response.ok) answer = { value: null, problem: answer };
    } catch {
      answer = { value: null, problem: { title: "No answer", detail: "The server does not answer.", errors: [] } };
    }
    if (mine !== latest) return;
    show(form, text, answer.problem);
    if (!draws) return;
    if (isStudy(answer.value)) draw(answer.value);
    wait(!isStudy(answer.value));
  }, PAUSE_MS);
}

text.addEventListener("input", () => check({ draws: true }));
if (isStudy(data.value)) draw(data.value);
wait(!isStudy(data.value));
builder.hidden = false;
if (data.errors.length) show(form, text, { errors: data.errors }, { listed: false });
