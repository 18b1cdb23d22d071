// Shows what is wrong with a study: as a list at the text, and at each field of the form that an error points to.
import { make } from "./controls.js";

const said = document.getElementById("said");

function clear(form) {
  for (const note of form.querySelectorAll("[data-said]")) note.remove();
  for (const input of form.querySelectorAll("[aria-invalid]")) {
    input.removeAttribute("aria-invalid");
    input.removeAttribute("aria-describedby");
  }
}

// The innermost field that an error points to, or into.
function fieldOf(form, pointer) {
  const fitting = [...form.querySelectorAll("*")].filter((element) => {
    const own = element.pointerOf?.();
    return own !== undefined && (pointer === own || pointer.startsWith(`${own}/`));
  });
  return fitting.at(-1);
}

function mark(form, error, index) {
  const field = fieldOf(form, error.pointer);
  if (!field) return;
  const note = make("p", { className: "wrong", id: `said-${index}`, textContent: error.detail });
  note.dataset.said = "";
  field.append(note);
  const input = field.querySelector("input, select");
  input?.setAttribute("aria-invalid", "true");
  input?.setAttribute("aria-describedby", note.id);
}

export function list(problem) {
  const errors = (problem.errors ?? []).map((error) => make("li", {}, make("code", { textContent: error.pointer || "/" }), ` ${error.detail}`));
  return [
    make("p", { className: "wrong", textContent: `${problem.title}: ${problem.detail}` }),
    ...(errors.length ? [make("ul", { className: "wrong" }, ...errors)] : []),
  ];
}

export function show(form, text, problem, { listed = true } = {}) {
  clear(form);
  (problem?.errors ?? []).forEach((error, index) => mark(form, error, index));
  if (!listed) return;
  said.setAttribute("role", "status"); // an alert at each letter would be too much
  said.replaceChildren(...(problem ? list(problem) : []));
  if (problem) text.setAttribute("aria-invalid", "true");
  else text.removeAttribute("aria-invalid");
}
