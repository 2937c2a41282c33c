// One problem with all its replies, in a panel over the page.
const ROLES = { SYSTEM: say("System"), HUMAN: say("Question"), BOT: say("Answer") };
const FINISHES = { length: say("cut by length"), stop: "stop" };

const folded = (title, open, ...children) => make("details", { open }, make("summary", {}, title), children);
const spoken = (words, kind = "") => block(words, `prose ${kind}`);
const labelled = (title, ...children) => make("section", {}, make("h4", {}, title), children);
const size = (text) => say("{count} characters", { count: whole(text.length) });

const picturesOf = (pictures = {}, prompt = "") =>
  Object.entries(pictures).filter(([name]) => prompt.includes(name)).map(([name, address]) =>
    make("figure", {}, make("img", { src: address, alt: say("Picture {name} of the question", { name }) }), make("figcaption", { class: "small" }, name)));

// Sounds and pictures of a reply; large ones are named.
const mediaOf = (media = [], shown = {}) =>
  media.map(([kind, name, file]) => {
    if (!shown[name]) return make("p", { class: "small" }, kind === "image" ? say("Picture, kept as {file}", { file }) : say("Sound, kept as {file}", { file }));
    return kind === "image" ? make("figure", {}, make("img", { src: shown[name], alt: say("Picture of the reply") }))
      : make("audio", { controls: true, src: shown[name] });
  });

const promptOf = (prompt, pictures) => {
  const last = prompt[prompt.length - 1];
  if (!last) return labelled(say("Question"), make("p", { class: "small" }, say("This page does not have it.")));
  const before = prompt.slice(0, -1);
  const messages = before.map((turn) => [make("h5", {}, ROLES[turn.role] || turn.role), spoken(turn.prompt)]);
  return labelled(say("Question"),
    before.length ? folded(before.length > 1 ? say("{count} messages before it", { count: before.length }) : say("1 message before it"), false, messages) : "",
    spoken(last.prompt, "question"), picturesOf(pictures, last.prompt));
};

const stepOf = (step, place) => [
  make("h5", {}, say("Step {number}", { number: place + 1 })),
  step.reasoning ? folded(say("Reasoning, {size}", { size: size(step.reasoning) }), false, spoken(step.reasoning)) : "",
  step.text ? spoken(step.text) : "",
  (step.calls || []).map(([name, given, result]) => [
    make("p", { class: "small" }, sayWith("calls {tool}", { tool: make("code", {}, name) })), block(given), block(`→ ${result}`)]),
  step.next ? [make("h5", {}, say("Asked next")), spoken(step.next)] : "",
];

const fact = (name, value) =>
  (value === undefined || value === null || value === "" ? "" : make("div", {}, make("dt", {}, name), make("dd", {}, said(String(value)))));

const findingOf = (finding) => {
  if (finding.judge !== undefined && finding.judge !== null) {
    return labelled(say("The judge"), spoken(finding.text || say("(said nothing)")));
  }
  const [passed, cases] = finding.cases || [];
  return labelled(say("The program"),
    make("dl", { class: "chips" }, fact(say("ended"), finding.verdict), fact(say("cases passed"), cases && `${passed} / ${cases}`),
      fact(say("took"), finding.seconds && seconds(finding.seconds))),
    finding.text ? [make("h5", {}, say("Error")), block(finding.text)] : "",
    finding.output ? folded(say("What it printed"), false, block(finding.output)) : "");
};

const WHY = {
  right: say("Right"), wrong: say("Wrong"), "not found": say("No answer was found in the reply"), unjudged: say("Not judged"),
  empty: say("The reply is empty"), rejected: say("The service rejected the request"), failed: say("The request failed"),
  missing: say("This sample was never asked for, or its answer was lost"),
};
const isShort = (text) => typeof text === "string" && text.length <= 120 && !text.includes("\n");
const verdictOf = (sample, gold) => {
  const letter = letterOf(sample.why);
  const [read, right] = [sample.read, gold[0]].map((words) => make("code", {}, said(words ?? "")));
  const isCompared = sample.why === "wrong" && isShort(gold[0]);
  const line = make("p", { class: `verdict-line ${toneOf(letter)}` },
    make("b", {}, `${NAMES[letter][0]} ${WHY[sample.why]}`),
    sample.value === undefined ? "" : ` (${(100 * sample.value).toFixed(0)} %)`,
    !isShort(sample.read) ? say(".") : isCompared ? sayWith(". Read from the reply: {read}, where {right} is right.", { read, right })
      : sayWith(". Read from the reply: {read}.", { read }));
  const long = typeof sample.read === "string" && !isShort(sample.read) && sample.read !== sample.text;
  return [line, long ? folded(say("What was read from the reply, {size}", { size: size(sample.read) }), false, block(sample.read)) : ""];
};

const factsOf = (sample) => {
  const [asked, answered, thought] = sample.tokens || [];
  const spent = sample.shared ? say("completion tokens (all samples together)") : say("completion tokens");
  return make("dl", { class: "chips" },
    fact(say("first text after"), sample.ttft === undefined ? "" : seconds(sample.ttft)),
    fact(say("whole reply after"), sample.e2e === undefined ? "" : seconds(sample.e2e)),
    fact(say("between chunks"), sample.gap === undefined ? "" : seconds(sample.gap)),
    fact(say("prompt tokens"), asked && whole(asked)),
    fact(spent, answered && whole(answered)),
    fact(say("reasoning tokens"), thought && whole(thought)),
    fact(say("ended by"), FINISHES[sample.finish] || sample.finish), fact(say("seed"), sample.seed), fact(say("tries"), sample.tries));
};

const likelihoodsOf = (sample) =>
  labelled(say("Log-likelihoods of the options"), make("ol", {}, sample.likelihoods.map((one) =>
    make("li", {}, one ? [one[0].toFixed(4), one[1] && say("{count} tokens", { count: one[1] }), one[2] && say("greedy")].filter(Boolean).join(", ") : say("the service said nothing")))));

// A long text stands in a box of some lines until a button opens it.
const LONG = { characters: 1200, lines: 16 };
const clipped = (text, kind) => {
  const body = block(text, kind);
  if (text.length <= LONG.characters && text.split("\n").length <= LONG.lines) return body;
  body.classList.add("clipped");
  return [body, make("button", { type: "button", class: "unclip", onclick: (event) => {
    body.classList.remove("clipped");
    event.currentTarget.remove();
  } }, say("Show all {size}", { size: size(text) }))];
};

// Where the answer was read: the last place in the reply that has it as words of their own.
const markRead = (body, read) => {
  if (!isShort(read) || !read) return;
  const bare = read.replace(/[.*+?^${}()|[\]\\/]/g, "\\$&");
  const place = [...body.textContent.matchAll(new RegExp(`(?<![\\w.])${bare}(?!\\w)`, "giu"))].at(-1)?.index ?? -1;
  if (place < 0) return;
  const found = body.firstChild.splitText(place);
  found.splitText(read.length);
  const mark = make("mark", { title: say("Read as the answer") });
  found.replaceWith(mark);
  mark.append(found);
};

const sampleOf = (sample, gold, shown) => {
  if (!sample) return make("p", {}, say("Nothing is known of this sample."));
  const isProgram = (sample.findings || []).some((finding) => finding.verdict);
  const reply = sample.text === undefined || sample.text === null ? "" : clipped(sample.text || say("(empty)"), isProgram ? "" : "prose reply");
  if (reply) markRead([reply].flat()[0], sample.read);
  const isAlone = !(sample.error || sample.findings || sample.steps || sample.reasoning);
  return [
    verdictOf(sample, gold),
    sample.error ? labelled(sample.status ? say("Error, HTTP {status}", { status: sample.status }) : say("Error"), block(sample.error)) : "",
    (sample.findings || []).map(findingOf),
    sample.steps ? labelled(say("Before the reply"), sample.steps.map(stepOf)) : "",
    sample.reasoning ? labelled(say("Reasoning"), folded(size(sample.reasoning), sample.reasoning.length < 1500, spoken(sample.reasoning))) : "",
    reply && (isAlone ? make("section", { "aria-label": say("Reply") }, reply) : labelled(say("Reply"), reply)),
    sample.media ? labelled(say("Beside the text"), mediaOf(sample.media, shown)) : "",
    sample.likelihoods ? likelihoodsOf(sample) : "",
    factsOf(sample)];
};

const markWords = (panel, words) => {
  if (!globalThis.Highlight) return;
  CSS.highlights.delete("found");
  if (!words) return;
  const ranges = [];
  const walker = document.createTreeWalker(panel, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.toLowerCase();
    for (let at = text.indexOf(words); at >= 0 && ranges.length < 500; at = text.indexOf(words, at + words.length)) {
      const range = new Range();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + words.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
};

// Of two runs with different numbers of samples, those that the longer one has.
const samplesOf = ({ samples = [], old = [] }) =>
  Array.from({ length: Math.max(samples.length, old.length) }, (_, place) => samples[place] || null);

// What is looked at first: the sample that has the words of the search, else of two runs the first with another verdict.
const firstOf = ({ samples = [], old = [] }, words) => {
  const has = (sample) => [...textsOf(sample)].some((text) => flat(text).includes(words));
  const found = words ? samplesOf({ samples, old }).findIndex((_, place) => has(samples[place]) || has(old[place])) : -1;
  if (found >= 0 || !old.length) return Math.max(0, found);
  return Math.max(0, samples.findIndex((sample, place) => sample?.why !== old[place]?.why));
};

const DRAWN_AT_ONCE = 30;

const problemPanel = (list, onClose) => {
  const dialog = document.getElementById("problem");
  const state = { row: null, document: null, sample: 0, opening: null, isShown: false, isDrawn: false };
  const addressOf = (place) => `#${[state.row.dataset, state.row.name, place].map(encodeURIComponent).join("/")}`;
  const letterAt = (place) => letterOf(samplesOf(state.document)[place]?.why || "missing");
  const onChoose = (place) => (event) => {
    if (event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    choose(place);
  };

  const tabs = (samples) => make("div", { class: "choices", role: "group", "aria-label": say("Samples") },
    samples.map((_, place) => {
      const letter = letterAt(place);
      return make("button", { type: "button", class: toneOf(letter), "aria-label": say("Sample {number}, {verdict}", { number: place + 1, verdict: NAMED[letter] }),
        onclick: onChoose(place) }, make("b", {}, NAMES[letter][0]), ` ${place + 1}`);
    }));

  const articleOf = (place) => {
    const { gold = [], samples = [], old, pictures } = state.document;
    const heading = make("h4", {}, make("a", { href: addressOf(place), onclick: onChoose(place) }, say("Sample {number}", { number: place + 1 })));
    const sides = old ? [[say("Old run"), old], [say("New run"), samples]].map(([title, those]) =>
      make("div", {}, make("h5", {}, title), sampleOf(those[place], gold, pictures))) : [];
    return make("article", { class: "sample", "aria-label": say("Sample {number}", { number: place + 1 }) },
      heading, old ? make("div", { class: "sides" }, sides) : sampleOf(samples[place], gold, pictures));
  };

  // As many samples as the chosen one needs; the others are a click away.
  const drawSamples = (atLeast) => {
    const body = dialog.querySelector(".samples");
    const count = samplesOf(state.document).length;
    const until = Math.min(count, Math.max(DRAWN_AT_ONCE, atLeast));
    while (body.children.length < until) body.append(articleOf(body.children.length));
    const more = dialog.querySelector(".more");
    more.hidden = until >= count;
    more.textContent = say("Show {count} more samples", { count: whole(count - until) });
  };

  const draw = () => {
    const { row, document: problem } = state;
    const place = list.shown.indexOf(row);
    const gold = problem.gold || [];
    dialog.replaceChildren(
      make("header", {},
        make("div", {},
          make("h3", { id: "problem-title" }, said(row.dataset), ` · ${row.id}`, row.key ? [" · ", said(row.key)] : ""),
          make("p", { class: "small" }, row.part ? [said(row.part), " · "] : "",
            place < 0 ? say("not in the list as it is filtered now")
              : say("{place} of {count} in the list", { place: whole(place + 1), count: whole(list.shown.length) }))),
        make("div", { class: "moves" },
          make("button", { type: "button", class: "dress", onclick: () => turn(), "aria-label": say("Show Markdown and formulas (m)") }, "Markdown"),
          make("button", { type: "button", onclick: () => move(-1), "aria-label": say("Problem before (k)"), disabled: place <= 0 }, "←"),
          make("button", { type: "button", onclick: () => move(1), "aria-label": say("Next problem (j)"), disabled: place < 0 || place >= list.shown.length - 1 }, "→"),
          make("button", { type: "button", onclick: () => dialog.close(), "aria-label": say("Close (Esc)") }, "✕"))),
      make("div", { class: "columns" },
        make("div", { class: "asked" }, promptOf(problem.prompt || [], problem.pictures),
          gold.length ? labelled(gold.length > 1 ? say("Right answers") : say("Right answer"), gold.slice(0, 20).map((one) => spoken(one)),
            gold.length > 20 ? make("p", { class: "small" }, say("and {count} more", { count: whole(gold.length - 20) })) : "") : ""),
        make("div", {},
          make("h4", {}, say("Samples"), " ", make("span", { class: `count ${toneOfRow(row)}` }, row.score)),
          tabs(samplesOf(problem)),
          make("div", { class: "samples" }),
          make("button", { type: "button", class: "more", onclick: () => { drawSamples(Infinity); clothe(); } }))));
    drawSamples(state.sample + 1);
  };

  // Texts as they are written, or with their Markdown and formulas drawn.
  const clothe = () => {
    dress(dialog.querySelectorAll("pre.prose"), state.isDrawn);
    dialog.querySelector(".dress").setAttribute("aria-pressed", String(state.isDrawn));
    markWords(dialog, list.words);
  };
  const turn = () => { state.isDrawn = !state.isDrawn; clothe(); };

  // Whole are a sample that somebody chose, and those in which the searched words stand.
  const show = ({ whole: isWhole, scroll }) => {
    drawSamples(state.sample + 1);
    for (const [place, button] of [...dialog.querySelectorAll(".choices button")].entries())
      button.setAttribute("aria-pressed", String(place === state.sample));
    const articles = [...dialog.querySelectorAll(".samples > article")];
    for (const [place, article] of articles.entries()) {
      article.classList.toggle("chosen", place === state.sample);
      if ((isWhole && place === state.sample) || (list.words && flat(article.textContent).includes(list.words)))
        for (const button of article.querySelectorAll(".unclip")) button.click();
    }
    if (list.words) for (const details of dialog.querySelectorAll("details"))
      details.open ||= flat(details.textContent).includes(list.words);
    clothe();
    const chosen = articles[state.sample]?.getBoundingClientRect();
    const top = dialog.querySelector("header").getBoundingClientRect().bottom;
    if (scroll && chosen && (chosen.top < top || chosen.bottom > innerHeight)) articles[state.sample].scrollIntoView({ block: "start" });
  };

  const choose = (place) => {
    state.sample = Math.max(0, Math.min(place, samplesOf(state.document).length - 1));
    remember(addressOf(state.sample));
    show({ whole: true, scroll: true });
  };

  // The browser tells late that a dialog is closed, perhaps after the next click in the list: whoever is first to see it
  // ends what was being opened in it, and gives the address back to the list.
  const settle = () => {
    if (!state.isShown || dialog.open) return;
    state.isShown = false;
    state.opening = null;
    onClose();
  };

  const open = async (row, sample, { push = true } = {}) => {
    settle();
    const opening = { row };
    state.opening = opening;
    const problem = row.chunk < 0 ? null : (await openChunk(row.place, row.chunk)).get(row.id);
    settle();
    if (state.opening !== opening) return; // Meanwhile somebody wanted another one, or none.
    state.opening = null;
    Object.assign(state, { row, document: problem || { gold: [row.gold], samples: [] } });
    const wanted = sample ?? firstOf(state.document, list.words);
    state.sample = Math.max(0, Math.min(wanted, samplesOf(state.document).length - 1));
    draw();
    remember(addressOf(state.sample), push && !dialog.open);
    if (!dialog.open) dialog.showModal();
    state.isShown = true;
    dialog.focus({ preventScroll: true });
    dialog.scrollTop = 0;
    show({ whole: sample !== undefined, scroll: state.sample > 0 });
  };
  const move = (step) => {
    const from = list.shown.indexOf(state.opening?.row || state.row);
    const next = list.shown[from + step];
    if (next && from >= 0) open(next);
  };

  dialog.addEventListener("close", () => {
    settle();
    const place = list.shown.indexOf(state.row);
    if (place >= 0 && !dialog.open) list.mark(place);
  });
  // Paper has no buttons, so all of an open problem is on it.
  addEventListener("beforeprint", () => {
    if (!dialog.open) return;
    drawSamples(Infinity);
    for (const details of dialog.querySelectorAll("details")) details.open = true;
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  // Closes it because the address is another one, which stays.
  const leave = () => {
    state.opening = null;
    state.isShown = false;
    dialog.close();
  };
  return { open, move, choose, turn, state, close: () => dialog.close(), leave, isOpen: () => dialog.open };
};
