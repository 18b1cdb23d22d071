// The form of a space: which type it is, and the fields of this type.
import { controls, make } from "./controls.js";

let count = 0;

export function space(place, forms) {
  const id = `space-${(count += 1)}`;
  const inner = make("div", { className: "fields" });
  const select = make("select", { id }, ...forms.map((form) => make("option", { value: form.type, textContent: form.label })));
  const draw = () => {
    const form = forms.find((one) => one.type === place.get()?.type);
    inner.replaceChildren(...(form ? controls(form.fields, place, forms) : []));
  };
  select.value = place.get()?.type ?? "";
  select.addEventListener("change", () => {
    place.set(structuredClone(forms.find((one) => one.type === select.value).beginning));
    draw();
  });
  draw();
  const element = make("div", { className: "space" }, make("label", { htmlFor: id, textContent: "Kind of space" }), select, inner);
  element.pointerOf = () => `${place.pointer()}/type`;
  return element;
}
