// The list of all problems: filters, search, and as many rows as somebody asks for, so that what follows stays near.
const STEP = 50;

// The name of a problem in addresses is its own id, where it has one that no other has.
const rowsOf = (index) =>
  index.datasets.flatMap((dataset, place) => {
    const times = new Map();
    for (const [id, key] of dataset.rows)
      for (const name of new Set([String(id), key])) times.set(name, (times.get(name) || 0) + 1);
    return dataset.rows.map(([id, key, state, score, why, teaser, gold, answers, part, chunk]) => ({
      dataset: dataset.name, place, share: dataset.share, name: key && times.get(key) === 1 ? key : String(id),
      id, key, state, score, why, teaser, gold, answers, part, chunk,
    }));
  });

const FITS = {
  all: () => true,
  lost: (row) => /[jfm]/.test(row.why),
  unread: (row) => /[ne]/.test(row.why),
  changed: (row) => row.state === "worse" || row.state === "better",
};
const fitsFilter = (row, show) => (FITS[show] ? FITS[show](row) : row.state === show);

const shortText = (row) =>
  flat([row.id, row.key, row.teaser, row.gold, row.part || "", ...row.answers.map(([text]) => text || "")].join("\n"));

const answerOf = ([text, letter, count]) =>
  make("li", { class: toneOf(letter) },
    make("b", {}, NAMES[letter][0]), " ",
    text === null ? NAMED[letter] : [make("span", { class: "vh" }, `${NAMED[letter]}: `), said(text)],
    count > 1 && make("small", {}, ` × ${count}`) || "");

const stripOf = (row) =>
  row.share && row.why.length <= 10
    ? make("span", { class: "strip", "aria-hidden": "true" },
      [...row.why].map((letter) => make("i", { class: toneOf(letter) }, NAMES[letter][0])))
    : "";

const TONES = { unstable: "some", better: "right", worse: "wrong" };
const toneOfRow = (row) => TONES[row.state] || row.state;

const lineOf = (row, several, address, open) =>
  make("tr", { "data-state": row.state, "data-id": row.id, onclick: (event) => {
    if (!event.target.closest("a") && !String(getSelection())) open(row);
  } },
  make("th", { scope: "row", class: "id" }, row.id, row.key && make("small", {}, said(row.key))),
  make("td", { class: "question" },
    make("a", { href: address(row), dir: "auto", onclick: (event) => {
      if (event.metaKey || event.ctrlKey || row.chunk < 0) return;
      event.preventDefault();
      open(row);
    } }, row.teaser || say("(no text)")),
    (several || row.part) && make("small", {}, [several && row.dataset, row.part].filter(Boolean).map(said)
      .flatMap((name, place) => (place ? [" · ", name] : [name])))),
  make("td", { class: "gold" }, said(row.gold)),
  make("td", { class: "answers" }, make("ul", {}, row.answers.map(answerOf))),
  make("td", { class: "score" },
    make("span", { class: `count ${toneOfRow(row)}` }, row.score), stripOf(row)));

const problemList = (index, open) => {
  const explorer = document.getElementById("explorer");
  const [choices, field] = [explorer.querySelector(".choices"), explorer.querySelector("input")];
  const [status, body, more] = ["[role=status]", "tbody", ".more"].map((what) => explorer.querySelector(what));
  const datasets = explorer.querySelector("select");
  const partButton = explorer.querySelector(".part");
  const all = rowsOf(index);
  const several = index.datasets.length > 1;
  const list = { all, shown: all, marked: -1, words: "" };
  const usual = index.filters[0][0];
  let show = usual;
  let part = ""; // the one part of a dataset that is looked at, such as a subject
  let drawn = 0;
  let search = 0;

  const address = (row) =>
    `${row.chunk < 0 ? index.elsewhere : ""}#${[row.dataset, row.name, 0].map(encodeURIComponent).join("/")}`;
  const inScope = (row) => (datasets.value === "" || row.dataset === datasets.value) && (part === "" || row.part === part);

  const draw = () => {
    const rows = list.shown.slice(drawn, drawn + STEP);
    body.append(...rows.map((row) => lineOf(row, several, address, open)));
    drawn += rows.length;
    more.hidden = drawn >= list.shown.length;
    more.firstChild.textContent = say("Show more ({count} left)", { count: whole(list.shown.length - drawn) });
  };

  const tell = (searching = "") => {
    const name = index.filters.find(([value]) => value === show)[1];
    partButton.hidden = part === "";
    partButton.replaceChildren(said(part), " ✕");
    partButton.setAttribute("aria-label", say("Only {part}: show all parts", { part }));
    const total = all.filter(inScope).length;
    const [shown, count] = [whole(list.shown.length), whole(total)];
    const words = list.words ? say("{name}: {shown} of {count} found", { name, shown, count }) : say("{name}: {shown} of {count}", { name, shown, count });
    status.textContent = words + searching;
    for (const button of choices.children) {
      const count = all.filter((row) => inScope(row) && fitsFilter(row, button.value)).length;
      button.lastChild.textContent = ` ${whole(count)}`;
      button.hidden = !count && button.value !== show && button.value !== usual;
      button.setAttribute("aria-pressed", String(button.value === show));
    }
  };

  const put = (rows, searching) => {
    list.shown = rows;
    drawn = 0;
    list.marked = -1;
    body.replaceChildren();
    draw();
    tell(searching);
  };

  // The rows answer at once, the texts of the chunks as they are opened; a newer search ends this one.
  const apply = async () => {
    const mine = (search += 1);
    const rows = all.filter((row) => inScope(row) && fitsFilter(row, show));
    list.words = flat(field.value.trim());
    if (!list.words) {
      put(rows);
      return;
    }
    const hits = new Set(rows.filter((row) => shortText(row).includes(list.words)));
    const chunks = new Map();
    for (const row of rows) {
      if (row.chunk < 0 || hits.has(row)) continue;
      const name = `${row.place}/${row.chunk}`;
      if (!chunks.has(name)) chunks.set(name, new Map());
      chunks.get(name).set(row.id, row);
    }
    put(rows.filter((row) => hits.has(row)), chunks.size ? ` · ${say("searching the replies …")}` : "");
    await arrived;
    let looked = 0;
    for (const [name, waiting] of chunks) {
      const [place, chunk] = name.split("/");
      const found = await findInChunk(place, chunk, list.words);
      if (mine !== search) return;
      for (const id of found) if (waiting.has(id)) hits.add(waiting.get(id));
      looked += 1;
      if (looked % 10 === 0) tell(` · ${say("searching the replies, {share} %", { share: Math.floor((100 * looked) / chunks.size) })}`);
    }
    if (chunks.size) put(rows.filter((row) => hits.has(row)));
    if (index.elsewhere) status.textContent += ` ${say("(the texts of the replies are in the page beside this one)")}`;
  };

  const setView = (view) => {
    show = index.filters.some(([value]) => value === view.get("show")) ? view.get("show") : usual;
    field.value = view.get("find") || "";
    datasets.value = index.datasets.some(({ name }) => name === view.get("in")) ? view.get("in") : "";
    const wanted = view.get("part");
    part = "";
    if (wanted && all.some((row) => inScope(row) && row.part === wanted)) part = wanted;
    return apply();
  };
  const view = () => {
    const wanted = { show: show === usual ? "" : show, in: datasets.value, part, find: field.value };
    return new URLSearchParams(Object.entries(wanted).filter(([, value]) => value)).toString();
  };
  const mark = (place) => {
    list.marked = Math.max(0, Math.min(place, list.shown.length - 1));
    while (drawn <= list.marked && drawn < list.shown.length) draw();
    for (const row of body.querySelectorAll(".marked")) row.classList.remove("marked");
    const row = body.children[list.marked];
    if (!row) return;
    row.classList.add("marked");
    row.querySelector("a").focus({ preventScroll: true });
    row.scrollIntoView({ block: "nearest" });
  };

  let typed = 0;
  const changed = () => { remember(`#${view()}`); return apply(); };
  choices.append(...index.filters.map(([value, name]) =>
    make("button", { type: "button", value, onclick: () => { show = value; changed(); } }, name, make("span", {}, " "))));
  datasets.append(make("option", { value: "" }, say("All datasets")),
    ...index.datasets.map(({ name }) => make("option", { value: name }, name)));
  datasets.hidden = !several;
  datasets.addEventListener("change", () => { part = ""; changed(); });
  partButton.addEventListener("click", () => { part = ""; changed(); });
  field.addEventListener("input", () => { clearTimeout(typed); typed = setTimeout(changed, 150); });
  more.append("");
  more.addEventListener("click", draw);
  return Object.assign(list, { setView, view, mark, field });
};

// A viewer that shows the page inside a frame may forbid this; the page works all the same.
const remember = (address, push = false) => {
  try { history[push ? "pushState" : "replaceState"](null, "", address); } catch { /* nothing is remembered then */ }
};
