// Elements with their attributes and children. Every text becomes a text node, so no text of a model is ever markup.
const NAMES = {
  r: ["✓", "right"], w: ["✗", "wrong"], n: ["?", "not found"], u: ["~", "unjudged"],
  e: ["∅", "empty"], j: ["⊘", "rejected"], f: ["!", "failed"], m: ["–", "missing"],
};

// Fixed words in the language of the page; `{name}` in them stands for a value, or for a node.
const say = (english, values = {}) => (WORDS[english] ?? english).replace(/\{(\w+)\}/g, (_, name) => values[name]);
const sayWith = (english, nodes) =>
  (WORDS[english] ?? english).split(/\{(\w+)\}/).map((part, place) => (place % 2 ? nodes[part] : part));
const NAMED = {
  r: say("right"), w: say("wrong"), n: say("not found"), u: say("unjudged"),
  e: say("empty"), j: say("rejected"), f: say("failed"), m: say("missing"),
};
const letterOf = (why) => Object.keys(NAMES).find((letter) => NAMES[letter][1] === why) || "u";
const toneOf = (letter) => (letter === "r" || letter === "w" ? letter : "o");
const whole = (number) => number.toLocaleString("en");

const make = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children.flat(Infinity).filter((child) => child !== undefined && child !== null && child !== ""));
  return element;
};

// A text of somebody else, which may run from right to left.
const said = (text) => make("bdi", {}, text);
const block = (text, kind = "") => make("pre", { dir: "auto", class: kind }, text);

const seconds = (value) => {
  if (value === undefined || value === null) return "–";
  if (value < 0.01) return `${(1000 * value).toFixed(1)} ms`;
  if (value < 1) return `${(1000 * value).toFixed(0)} ms`;
  return value < 120 ? `${value.toFixed(2)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
};
