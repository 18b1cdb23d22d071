// Writes JSON values as YAML that people read: what is short on one line, names before their parts.

const WIDTH = 76;
const PLAIN = /^[A-Za-z_](?:[A-Za-z0-9_ ./-]*[A-Za-z0-9_./-])?$/;
const MEANS_MORE = /^(?:~|null|true|false|yes|no|on|off|y|n)$/i;
// Readers of older versions of YAML take some of these for more than text.
const UNPRINTABLE = /[\u007f-\u009f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]/g;

function text(value) {
  if (PLAIN.test(value) && !MEANS_MORE.test(value)) return value;
  const escaped = (letter) => `\\u${letter.charCodeAt(0).toString(16).padStart(4, "0")}`;
  // What lies beyond 16 bits is written as it is: two escapes would be two letters.
  return JSON.stringify(value)
    .split(/([\u{10000}-\u{10ffff}])/u)
    .map((part, index) => (index % 2 ? part : part.replace(UNPRINTABLE, escaped)))
    .join("");
}

function inLine(value) {
  if (Array.isArray(value)) return `[${value.map(inLine).join(", ")}]`;
  if (value !== null && typeof value === "object") {
    return `{${Object.entries(value).map(([name, part]) => `${text(name)}: ${inLine(part)}`).join(", ")}}`;
  }
  return typeof value === "string" ? text(value) : String(value);
}

const hasParts = (value) => value !== null && typeof value === "object" && Object.keys(value).length > 0;
const isDeep = (value) => !Array.isArray(value) && hasParts(value) && Object.values(value).some(isObject);
const isObject = (value) => hasParts(value) && !Array.isArray(value);

function lines(value, indent) {
  const entries = Array.isArray(value) ? value.map((part) => ["-", part]) : Object.entries(value).map(([name, part]) => [`${text(name)}:`, part]);
  return entries.flatMap(([head, part]) => {
    const short = `${indent}${head} ${inLine(part)}`;
    if (!hasParts(part) || (short.length <= WIDTH && !isDeep(part))) return [short];
    return [`${indent}${head}`, ...lines(part, `${indent}  `)];
  });
}

export function write(value) {
  return `${(hasParts(value) ? lines(value, "") : [inLine(value)]).join("\n")}\n`;
}
