// What the page holds compressed: the index of all problems, and the chunks with their replies.
const unpackText = async (element) => {
  const packed = atob(element.textContent.trim());
  const bytes = new Uint8Array(packed.length);
  for (let place = 0; place < packed.length; place += 1) bytes[place] = packed.charCodeAt(place);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return new Response(stream).text();
};

// The chunks stand behind the script, so that the list is there before the last of them has arrived.
const arrived = new Promise((done) => {
  if (document.readyState === "loading") addEventListener("DOMContentLoaded", () => done(), { once: true });
  else done();
});

const OPEN_CHUNKS = 8;
const opened = new Map();
const openChunk = async (dataset, chunk) => {
  const name = `chunk-${dataset}-${chunk}`;
  if (!opened.has(name)) {
    await arrived;
    const problems = JSON.parse(await unpackText(document.getElementById(name)));
    opened.set(name, new Map(problems.map((problem) => [problem.id, problem])));
    if (opened.size > OPEN_CHUNKS) opened.delete(opened.keys().next().value);
  }
  return opened.get(name);
};

// Lower case and single blanks, as people search.
const flat = (text) => text.toLowerCase().replace(/\s+/g, " ");

// Everything in a problem that somebody may look for, one text after the other.
const textsOf = function* (value) {
  if (typeof value === "string") yield value;
  else if (value && typeof value === "object") for (const part of Object.values(value)) yield* textsOf(part);
};

// Ids of the problems of one chunk that hold the words. Most chunks are dismissed before they are parsed.
const findInChunk = async (dataset, chunk, words) => {
  const json = await unpackText(document.getElementById(`chunk-${dataset}-${chunk}`));
  const plain = /^[^\s"\\/\u0000-\u001f\u007f-\u{10ffff}]+$/u.test(words);
  if (plain && !json.toLowerCase().includes(words)) return [];
  const found = [];
  for (const problem of JSON.parse(json)) {
    for (const text of textsOf(problem)) {
      if (flat(text).includes(words)) {
        found.push(problem.id);
        break;
      }
    }
  }
  return found;
};
