// The parts of a product: each has a name and a space.
import { make } from "./controls.js";
import { member } from "./place.js";
import { space } from "./space.js";

let count = 0;

function free(names) {
  for (let index = names.length + 1; ; index += 1) {
    if (!names.includes(`part_${index}`)) return `part_${index}`;
  }
}

export function factors(field, place, forms) {
  const names = () => Object.keys(place.get() ?? {});
  const list = make("div", { className: "factors" });
  const add = make("button", { type: "button", textContent: "Add a part" });

  const draw = (first) => {
    let name = first;
    const id = `part-${(count += 1)}`;
    const input = make("input", { id, value: name, autocomplete: "off", spellcheck: false, maxLength: 64 });
    const said = make("p", { className: "wrong", id: `${id}-said`, hidden: true, textContent: "Another part has this name." });
    const title = make("legend", { textContent: name });
    const remove = make("button", { type: "button", className: "quiet", textContent: `Remove ${name}` });
    input.addEventListener("input", () => {
      const wanted = input.value.trim();
      said.hidden = !names().some((other) => other === wanted && other !== name);
      input.setAttribute("aria-invalid", String(!said.hidden));
      input.setAttribute("aria-describedby", said.hidden ? "" : said.id);
      if (!said.hidden || wanted === name || wanted === "") return;
      const renamed = Object.fromEntries(Object.entries(place.get()).map(([other, part]) => [other === name ? wanted : other, part]));
      name = wanted;
      place.set(renamed);
      title.textContent = name;
      remove.textContent = `Remove ${name}`;
    });
    const at = member(place, () => name, []);
    const fieldset = make("fieldset", { className: "factor" }, title,
      make("label", { htmlFor: id, textContent: "Name of the part" }), input, said, space(at, forms), remove);
    remove.addEventListener("click", () => {
      at.set(undefined);
      fieldset.remove();
      add.focus();
    });
    fieldset.pointerOf = at.pointer;
    list.append(fieldset);
    return input;
  };

  names().forEach(draw);
  add.addEventListener("click", () => {
    const name = free(names());
    place.set({ ...place.get(), [name]: structuredClone(forms.find((form) => form.type === "real").beginning) });
    const input = draw(name);
    input.focus();
    input.select();
  });
  return make("div", {}, list, add);
}
