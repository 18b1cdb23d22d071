// Where a value stands in a study: it is read and written through its place, which stays when what is around it changes.

export const escaped = (part) => String(part).replaceAll("~", "~0").replaceAll("/", "~1");

export function root(value, changed) {
  return { get: () => value, set: (other) => { value = other; changed(); }, pointer: () => "" };
}

// The member of an object: it comes where `order` has it, and goes with its last value, as the object does.
export function member(place, name, order) {
  const current = () => (typeof name === "function" ? name() : name);
  const holder = () => {
    const found = place.get();
    return found !== null && typeof found === "object" && !Array.isArray(found) ? found : {};
  };
  return {
    get: () => holder()[current()],
    set: (value) => {
      const members = new Map(Object.entries(holder()));
      if (value === undefined) members.delete(current());
      else members.set(current(), value);
      const rank = (key) => (order.includes(key) ? order.indexOf(key) : order.length);
      const sorted = [...members].sort(([one], [other]) => rank(one) - rank(other));
      place.set(sorted.length ? Object.fromEntries(sorted) : undefined);
    },
    pointer: () => `${place.pointer()}/${escaped(current())}`,
  };
}
