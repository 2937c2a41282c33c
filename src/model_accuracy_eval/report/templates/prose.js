// Markdown as models write it → elements. Nothing in it is a link or loads anything: addresses are shown as text.
const INLINE = new RegExp([
  "(?<ticks>`+)(?!`)(?<code>[^]{1,2000}?)(?<!`)\\k<ticks>(?!`)",
  "\\$\\$(?<dollars>[^]{1,5000}?)\\$\\$|\\\\\\[(?<brackets>[^]{1,5000}?)\\\\\\]",
  "(?<environment>\\\\begin\\{(?<name>[a-zA-Z]+\\*?)\\}[^]{1,5000}?\\\\end\\{\\k<name>\\})",
  "\\\\\\((?<round>[^]{1,2000}?)\\\\\\)|\\$(?![\\s$])(?<dollar>(?:[^$\\\\\\n]|\\\\[^\\n]){1,1000}?)(?<!\\s)\\$(?![\\d$])",
  "\\*\\*(?=\\S)(?<strong>[^]{0,2000}?\\S)\\*\\*|(?<!\\w)__(?=\\S)(?<underlined>[^]{0,1000}?\\S)__(?!\\w)",
  "(?<![\\d*])\\*(?=[^\\s*])(?<em>[^*]{0,500}?[^\\s*])\\*(?!\\*)|(?<!\\w)_(?=[^\\s_])(?<slanted>[^_]{0,500}?[^\\s_])_(?!\\w)",
  "~~(?=\\S)(?<gone>[^]{0,500}?\\S)~~",
  "!?\\[(?<linked>[^\\]\\n]{0,500})\\]\\(\\s*(?<address>[^\\s)]{1,1000})[^)\\n]{0,300}\\)",
  "\\\\(?<escaped>[\\\\`*_{}[\\]()#+.!|~>$-])",
  "(?<line>(?:\\\\|<br\\s*/?>)?\\n|<br\\s*/?>)",
].join("|"), "giu");

const drawnFormula = (source, isBlock) => {
  try { return formula(source, isBlock); } catch { return make("code", {}, source); }
};

const inline = (text, depth = 0) => {
  const made = [];
  let at = 0;
  for (const found of depth > 8 ? [] : text.matchAll(INLINE)) {
    made.push(text.slice(at, found.index), marked(found.groups, depth + 1));
    at = found.index + found[0].length;
  }
  return [...made, text.slice(at)];
};
const marked = (is, depth) => {
  const display = is.dollars ?? is.brackets ?? is.environment;
  if (display !== undefined) return drawnFormula(display, true);
  if (is.round !== undefined || is.dollar !== undefined) return drawnFormula(is.round ?? is.dollar, false);
  if (is.code !== undefined) return make("code", {}, is.code);
  if (is.strong ?? is.underlined) return make("strong", {}, inline(is.strong ?? is.underlined, depth));
  if (is.em ?? is.slanted) return make("em", {}, inline(is.em ?? is.slanted, depth));
  if (is.gone) return make("s", {}, inline(is.gone, depth));
  if (is.address) return [inline(is.linked, depth), " (", make("code", {}, is.address), ")"];
  return is.escaped ?? make("br");
};

const LIST = /^(\s*)([-*+•]|\d{1,9}[.)])\s+(.*)$/;
const RULE = /^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/;
const HEADING = /^ {0,3}#{1,6}\s+(.*)$/;
const QUOTED = /^ {0,3}> ?/;
const FENCE = /^\s{0,3}(`{3,}|~{3,})/;
const RULES_OF_TABLE = /^\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?$/;
const OPENED = { "$$": "$$", "\\[": "\\]", "\\b": "\\end{" };
const indentOf = (line) => line.length - line.trimStart().length;
const cellsOf = (line) => line.trim().replace(/^\||(?<!\\)\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim());

const prose = (lines, depth = 0) => {
  const made = [];
  let at = 0;
  const while_ = (fits, from = at) => {
    while (at < lines.length && fits(lines[at])) at += 1;
    return lines.slice(from, at);
  };
  const isTable = (place) => lines[place]?.includes("|") && lines[place + 1]?.includes("|") && RULES_OF_TABLE.test(lines[place + 1].trim());
  const starts = (line) => !line.trim() || [LIST, RULE, HEADING, QUOTED, FENCE].some((mark) => mark.test(line));

  const listOf = ([, { length: indent }, mark]) => {
    const items = [];
    for (let item; (item = LIST.exec(lines[at] ?? "")) && item[1].length === indent && /\d/.test(item[2]) === /\d/.test(mark);) {
      const from = (at += 1);
      while_((line) => indentOf(line) > indent || (!line.trim() && (lines[at + 1]?.trim() ? indentOf(lines[at + 1]) > indent || LIST.test(lines[at + 1]) : false)));
      const inner = lines.slice(from, at);
      const own = Math.min(...inner.filter((line) => line.trim()).map(indentOf));
      items.push(make("li", {}, prose([item[3], ...inner.map((line) => line.slice(own))], depth + 1)));
    }
    return make(/\d/.test(mark) ? "ol" : "ul", { start: /\d/.test(mark) && parseInt(mark, 10) }, items);
  };

  while (at < lines.length) {
    const line = lines[at];
    const [fence, heading, item] = [FENCE.exec(line), HEADING.exec(line), LIST.exec(line)];
    const closing = OPENED[line.trim().slice(0, 2)];
    if (depth > 8) {
      made.push(make("p", {}, while_(() => true).join("\n")));
    } else if (!line.trim()) {
      at += 1;
    } else if (fence) {
      const inner = while_((other) => !other.trim().startsWith(fence[1]), (at += 1));
      at += 1;
      made.push(make("pre", {}, make("code", {}, inner.join("\n"))));
    } else if (RULE.test(line)) {
      at += 1;
      made.push(make("hr"));
    } else if (heading) {
      at += 1;
      made.push(make("p", { class: "heading" }, inline(heading[1])));
    } else if (QUOTED.test(line)) {
      made.push(make("blockquote", {}, prose(while_((other) => QUOTED.test(other)).map((other) => other.replace(QUOTED, "")), depth + 1)));
    } else if (item) {
      made.push(listOf(item));
    } else if (isTable(at)) {
      const head = cellsOf(line);
      const rows = while_((other) => other.includes("|") && other.trim(), at).slice(2);
      made.push(make("div", { class: "scroll" }, make("table", {},
        make("thead", {}, make("tr", {}, head.map((cell) => make("th", {}, inline(cell))))),
        make("tbody", {}, rows.map((row) => make("tr", {}, cellsOf(row).map((cell) => make("td", {}, inline(cell)))))))));
    } else if (closing && !line.trim().slice(2).includes(closing) && lines.slice(at + 1, at + 100).some((other) => other.includes(closing))) {
      const inner = while_((other) => !other.includes(closing), at++);
      made.push(make("p", {}, inline([...inner, lines[at++]].join("\n"))));
    } else {
      const from = at;
      at += 1;
      while_((other) => !starts(other) && !isTable(at) && !OPENED[other.trim().slice(0, 2)]);
      made.push(make("p", {}, inline(lines.slice(from, at).map((other) => other.trim()).join("\n"))));
    }
  }
  return made;
};

// Texts of people and models, as they are written; `dress` shows their Markdown and formulas, and takes that back.
const written = new WeakMap();
const dress = (texts, isDrawn) => {
  for (const text of texts) {
    if (written.has(text) === isDrawn) continue;
    text.classList.toggle("drawn", isDrawn);
    if (isDrawn) {
      const drawn = prose(text.textContent.split("\n"));
      written.set(text, [...text.childNodes]);
      text.replaceChildren(...drawn);
    } else {
      text.replaceChildren(...written.get(text));
      written.delete(text);
    }
  }
};
