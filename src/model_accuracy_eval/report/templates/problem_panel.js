// One problem with all its replies, in a panel over the page.
const ROLES = { SYSTEM: "System", HUMAN: "Question", BOT: "Answer" };
const FINISHES = { length: "cut by length", stop: "stop" };

const folded = (title, open, ...children) => make("details", { open }, make("summary", {}, title), children);
const labelled = (title, ...children) => make("section", {}, make("h4", {}, title), children);
const size = (text) => `${whole(text.length)} characters`;

const picturesOf = (pictures = {}) =>
  Object.entries(pictures).map(([name, address]) =>
    make("figure", {}, make("img", { src: address, alt: `Picture ${name} of the question` }), make("figcaption", { class: "small" }, name)));

const promptOf = (prompt, pictures) => {
  const last = prompt[prompt.length - 1];
  if (!last) return labelled("Question", make("p", { class: "small" }, "This page does not have it."));
  const before = prompt.slice(0, -1);
  const messages = before.map((turn) => [make("h5", {}, ROLES[turn.role] || turn.role), block(turn.prompt)]);
  return labelled("Question",
    before.length ? folded(`${before.length} message${before.length > 1 ? "s" : ""} before it`, false, messages) : "",
    block(last.prompt, "question"), picturesOf(pictures));
};

const stepOf = (step, place) => [
  make("h5", {}, `Step ${place + 1}`),
  step.reasoning ? folded(`Reasoning, ${size(step.reasoning)}`, false, block(step.reasoning)) : "",
  step.text ? block(step.text) : "",
  (step.calls || []).map(([name, given, result]) => [
    make("p", { class: "small" }, "calls ", make("code", {}, name)), block(given), block(`→ ${result}`)]),
  step.next ? [make("h5", {}, "Asked next"), block(step.next)] : "",
];

const fact = (name, value) =>
  (value === undefined || value === null || value === "" ? "" : make("div", {}, make("dt", {}, name), make("dd", {}, said(String(value)))));

const findingOf = (finding) => {
  if (finding.judge !== undefined && finding.judge !== null) {
    return labelled("The judge", block(finding.text || "(said nothing)"));
  }
  const [passed, cases] = finding.cases || [];
  return labelled("The program",
    make("dl", { class: "chips" }, fact("ended", finding.verdict), fact("cases passed", cases && `${passed} of ${cases}`),
      fact("took", finding.seconds && seconds(finding.seconds))),
    finding.text ? [make("h5", {}, "Error"), block(finding.text)] : "",
    finding.output ? folded("What it printed", false, block(finding.output)) : "");
};

const WHY = {
  right: "Right", wrong: "Wrong", "not found": "No answer was found in the reply", unjudged: "Not judged",
  empty: "The reply is empty", rejected: "The service rejected the request", failed: "The request failed",
  missing: "This sample was never asked for, or its answer was lost",
};
const isShort = (text) => typeof text === "string" && text.length <= 120 && !text.includes("\n");
const verdictOf = (sample, gold) => {
  const letter = letterOf(sample.why);
  const compared = sample.why === "wrong" && isShort(gold[0]) ? [", where ", make("code", {}, said(gold[0])), " is right"] : "";
  const line = make("p", { class: `verdict-line ${toneOf(letter)}` },
    make("b", {}, `${NAMES[letter][0]} ${WHY[sample.why]}`),
    sample.value === undefined ? "" : ` (${(100 * sample.value).toFixed(0)} %)`,
    isShort(sample.read) ? [". Read from the reply: ", make("code", {}, said(sample.read)), compared] : "", ".");
  const long = typeof sample.read === "string" && !isShort(sample.read) && sample.read !== sample.text;
  return [line, long ? folded(`What was read from the reply, ${size(sample.read)}`, false, block(sample.read)) : ""];
};

const factsOf = (sample) => {
  const [asked, answered, thought] = sample.tokens || [];
  const note = sample.shared ? " (all samples together)" : "";
  return make("dl", { class: "chips" },
    fact("first text after", sample.ttft === undefined ? "" : seconds(sample.ttft)),
    fact("whole reply after", sample.e2e === undefined ? "" : seconds(sample.e2e)),
    fact("between chunks", sample.gap === undefined ? "" : seconds(sample.gap)),
    fact("prompt tokens", asked && whole(asked)),
    fact(`completion tokens${note}`, answered && whole(answered)),
    fact("reasoning tokens", thought && whole(thought)),
    fact("ended by", FINISHES[sample.finish] || sample.finish), fact("seed", sample.seed), fact("tries", sample.tries));
};

const likelihoodsOf = (sample) =>
  labelled("Log-likelihoods of the options", make("ol", {}, sample.likelihoods.map((one) =>
    make("li", {}, one ? `${one[0].toFixed(4)}${one[1] ? `, ${one[1]} tokens` : ""}${one[2] ? ", greedy" : ""}` : "the service said nothing"))));

// A long text stands in a box of some lines until a button opens it.
const LONG = { characters: 1200, lines: 16 };
const clipped = (text, kind) => {
  const body = block(text, kind);
  if (text.length <= LONG.characters && text.split("\n").length <= LONG.lines) return body;
  body.classList.add("clipped");
  return [body, make("button", { type: "button", class: "unclip", onclick: (event) => {
    body.classList.remove("clipped");
    event.currentTarget.remove();
  } }, `Show all ${size(text)}`)];
};

const sampleOf = (sample, gold) => {
  if (!sample) return make("p", {}, "Nothing is known of this sample.");
  const isProgram = (sample.findings || []).some((finding) => finding.verdict);
  const reply = sample.text === undefined || sample.text === null ? "" : clipped(sample.text || "(empty)", isProgram ? "" : "reply");
  const isAlone = !(sample.error || sample.findings || sample.steps || sample.reasoning);
  return [
    verdictOf(sample, gold),
    sample.error ? labelled(`Error${sample.status ? `, HTTP ${sample.status}` : ""}`, block(sample.error)) : "",
    (sample.findings || []).map(findingOf),
    sample.steps ? labelled("Before the reply", sample.steps.map(stepOf)) : "",
    sample.reasoning ? labelled("Reasoning", folded(size(sample.reasoning), sample.reasoning.length < 1500, block(sample.reasoning))) : "",
    reply && (isAlone ? make("section", { "aria-label": "Reply" }, reply) : labelled("Reply", reply)),
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
  const state = { row: null, document: null, sample: 0, opening: null, isShown: false };
  const addressOf = (place) => `#${[state.row.dataset, state.row.id, place].map(encodeURIComponent).join("/")}`;
  const letterAt = (place) => letterOf(samplesOf(state.document)[place]?.why || "missing");
  const onChoose = (place) => (event) => {
    if (event.metaKey || event.ctrlKey) return;
    event.preventDefault();
    choose(place);
  };

  const tabs = (samples) => make("div", { class: "choices", role: "group", "aria-label": "Samples" },
    samples.map((_, place) => {
      const letter = letterAt(place);
      return make("button", { type: "button", class: toneOf(letter), "aria-label": `Sample ${place + 1}, ${NAMES[letter][1]}`,
        onclick: onChoose(place) }, make("b", {}, NAMES[letter][0]), ` ${place + 1}`);
    }));

  const articleOf = (place) => {
    const { gold = [], samples = [], old } = state.document;
    const heading = make("h4", {}, make("a", { href: addressOf(place), onclick: onChoose(place) }, `Sample ${place + 1}`));
    const sides = old ? [["Old run", old], ["New run", samples]].map(([title, those]) =>
      make("div", {}, make("h5", {}, title), sampleOf(those[place], gold))) : [];
    return make("article", { class: "sample", "aria-label": `Sample ${place + 1}` },
      heading, old ? make("div", { class: "sides" }, sides) : sampleOf(samples[place], gold));
  };

  // As many samples as the chosen one needs; the others are a click away.
  const drawSamples = (atLeast) => {
    const body = dialog.querySelector(".samples");
    const count = samplesOf(state.document).length;
    const until = Math.min(count, Math.max(DRAWN_AT_ONCE, atLeast));
    while (body.children.length < until) body.append(articleOf(body.children.length));
    const more = dialog.querySelector(".more");
    more.hidden = until >= count;
    more.textContent = `Show ${whole(count - until)} more samples`;
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
            place < 0 ? "not in the list as it is filtered now" : `${whole(place + 1)} of ${whole(list.shown.length)} in the list`)),
        make("div", { class: "moves" },
          make("button", { type: "button", onclick: () => move(-1), "aria-label": "Problem before (k)", disabled: place <= 0 }, "←"),
          make("button", { type: "button", onclick: () => move(1), "aria-label": "Next problem (j)", disabled: place < 0 || place >= list.shown.length - 1 }, "→"),
          make("button", { type: "button", onclick: () => dialog.close(), "aria-label": "Close (Esc)" }, "✕"))),
      make("div", { class: "columns" },
        make("div", { class: "asked" }, promptOf(problem.prompt || [], problem.pictures),
          gold.length ? labelled(gold.length > 1 ? "Right answers" : "Right answer", gold.slice(0, 20).map((one) => block(one)),
            gold.length > 20 ? make("p", { class: "small" }, `and ${whole(gold.length - 20)} more`) : "") : ""),
        make("div", {},
          make("h4", {}, "Samples ", make("span", { class: `count ${toneOfRow(row)}` }, row.score)),
          tabs(samplesOf(problem)),
          make("div", { class: "samples" }),
          make("button", { type: "button", class: "more", onclick: () => { drawSamples(Infinity); markWords(dialog, list.words); } }))));
    drawSamples(state.sample + 1);
  };

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
    markWords(dialog, list.words);
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
  return { open, move, choose, state, close: () => dialog.close(), leave, isOpen: () => dialog.open };
};
