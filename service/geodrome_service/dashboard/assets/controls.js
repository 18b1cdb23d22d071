// Controls of fields: each shows what stands at its place, and writes there.
import { factors } from "./factors.js";
import { member } from "./place.js";

let count = 0;
const newId = () => `field-${(count += 1)}`;

export function make(tag, properties = {}, ...parts) {
  const element = Object.assign(document.createElement(tag), properties);
  element.append(...parts);
  return element;
}

// What somebody has written as a number, else as it is: the service says what is wrong with it.
function number(text) {
  const value = text.trim() === "" ? undefined : Number(text);
  return Number.isFinite(value) || value === undefined ? value : text.trim();
}

function json(text) {
  try {
    return text.trim() === "" ? undefined : JSON.parse(text);
  } catch {
    return text.trim();
  }
}

const shown = (value) => (value === undefined || value === null ? "" : String(value));
const shownJson = (value) => (value === undefined ? "" : JSON.stringify(value));

function input(place, read, write, label) {
  const element = make("input", { value: write(place.get()), autocomplete: "off", spellcheck: false });
  if (label) element.setAttribute("aria-label", label);
  element.addEventListener("input", () => place.set(read(element.value)));
  return element;
}

function labelled(field, element) {
  element.id = newId();
  return [make("label", { htmlFor: element.id, textContent: field.label }), element];
}

function numberInput(field, place, label) {
  const element = input(place, number, shown, label);
  element.inputMode = "decimal";
  if (field?.suggested) {
    const list = make("datalist", { id: newId() }, ...field.suggested.map((value) => make("option", { value: shown(value) })));
    element.setAttribute("list", list.id);
    return [element, list];
  }
  return [element];
}

function choice(field, place) {
  const options = field.optional || field.usual == null ? ["", ...field.options] : field.options;
  const element = make("select", {}, ...options.map((value) => make("option", { value, textContent: value || "as usual" })));
  element.value = place.get() ?? field.usual ?? "";
  element.addEventListener("change", () => place.set(element.value || undefined));
  return labelled(field, element);
}

// The lower and the upper end of bounds.
function ends(place, label) {
  const end = (index) => ({
    get: () => place.get()?.[index],
    set: (value) => {
      const both = [0, 1].map((one) => (one === index ? value : place.get()?.[one]));
      place.set(both.every((one) => one === undefined) ? undefined : both.map((one) => one ?? null));
    },
  });
  const [lower] = numberInput(null, end(0), `${label}, lower`);
  const [upper] = numberInput(null, end(1), `${label}, upper`);
  return make("div", { className: "ends" }, lower, make("span", { textContent: "to" }), upper);
}

function legend(field, ...parts) {
  return make("fieldset", {}, make("legend", { textContent: field.label }), ...parts);
}

function pairs(field, place) {
  const rows = make("div", { className: "rows" });
  const fieldset = legend(field, rows);
  const draw = () => {
    const many = Array.isArray(place.get()) ? place.get() : [];
    rows.replaceChildren(...many.map((_, index) => {
      const one = {
        get: () => place.get()?.[index],
        set: (value) => place.set(place.get().map((other, at) => (at === index ? value ?? [] : other))),
      };
      return make("div", { className: "row" }, make("span", { className: "faint", textContent: index + 1 }), ends(one, `${field.label} ${index + 1}`));
    }));
  };
  draw();
  if (field.can_grow) {
    const more = make("button", { type: "button", className: "quiet", textContent: "One more" });
    const less = make("button", { type: "button", className: "quiet", textContent: "One less" });
    more.addEventListener("click", () => { place.set([...(place.get() ?? []), place.get()?.at(-1) ?? [-1, 1]]); draw(); });
    less.addEventListener("click", () => { if (place.get()?.length > 1) place.set(place.get().slice(0, -1)); draw(); });
    fieldset.append(make("div", { className: "buttons" }, more, less));
  }
  fieldset.addEventListener("resized", draw);
  return fieldset;
}

function group(field, place, forms) {
  const inner = make("div", { className: "fields" });
  const draw = () => inner.replaceChildren(...(field.optional && place.get() == null ? [] : controls(field.fields, place, forms)));
  draw();
  if (!field.optional) return legend(field, inner);
  const box = make("input", { type: "checkbox", checked: place.get() != null, id: newId() });
  box.addEventListener("change", () => { place.set(box.checked ? structuredClone(field.beginning) : undefined); draw(); });
  return make("div", { className: "optional" }, make("label", { htmlFor: box.id }, box, ` ${field.label}`), inner);
}

function control(field, place, forms) {
  switch (field.kind) {
    case "choice": return choice(field, place);
    case "pair": return [legend(field, ends(place, field.label))];
    case "pairs": return [pairs(field, place)];
    case "group": return [group(field, place, forms)];
    case "factors": return [factors(field, place, forms)];
    case "anything": return labelled(field, input(place, json, shownJson));
    case "number": {
      const [element, ...list] = numberInput(field, place);
      if (element.value === "" && field.usual != null) element.placeholder = `${field.usual}`;
      return [...labelled(field, element), ...list];
    }
    default: return labelled(field, input(place, (text) => text || undefined, shown));
  }
}

// Makes a list of bounds as long as the vector.
function follow(fields, place, order) {
  const [dim, bounds] = ["dim", "bounds"].map((name) => member(place, name, order));
  return () => {
    const wanted = dim.get(), now = bounds.get();
    if (!Array.isArray(now) || !Number.isInteger(wanted) || wanted < 1 || wanted > 64 || now.length === wanted) return false;
    bounds.set(Array.from({ length: wanted }, (_, index) => now[index] ?? now.at(-1) ?? [-1, 1]));
    return true;
  };
}

export function controls(fields, place, forms, order = ["type", ...fields.map((field) => field.name)]) {
  const resize = follow(fields, place, order);
  const drawn = fields.map((field) => {
    const at = member(place, field.name, order);
    const element = make("div", { className: "field" }, ...control(field, at, forms));
    element.pointerOf = at.pointer;
    return element;
  });
  const named = Object.fromEntries(fields.map((field, index) => [field.name, drawn[index]]));
  named.dim?.addEventListener("input", () => { if (resize()) named.bounds?.querySelector("fieldset").dispatchEvent(new Event("resized")); });
  const rare = drawn.filter((_, index) => fields[index].rare);
  if (!rare.length) return drawn;
  const details = make("details", {}, make("summary", { textContent: "More" }), make("div", { className: "fields" }, ...rare));
  details.open = rare.some((element) => element.querySelector("input")?.value);
  return [...drawn.filter((element) => !rare.includes(element)), details];
}
