// Starts the list, opens what the address names (`#dataset/problem/sample`, `#show=wrong&find=apples`), reads keys.
const start = async () => {
  const packed = document.getElementById("index");
  if (!packed || !globalThis.DecompressionStream) return;
  const [index] = JSON.parse(await unpackText(packed));
  const list = problemList(index, (row) => {
    if (row.chunk >= 0) panel.open(row);
    else if (index.elsewhere) location.assign(`${index.elsewhere}#${[row.dataset, row.name, 0].map(encodeURIComponent).join("/")}`);
  });
  const panel = problemPanel(list, () => remember(`#${list.view()}`));

  const fromAddress = () => {
    const hash = location.hash.slice(1);
    const [dataset, id, sample] = hash.split("/").map((part) => { try { return decodeURIComponent(part); } catch { return part; } });
    const named = id === undefined ? [] : list.all.filter((one) => one.dataset === dataset);
    const row = named.find((one) => one.name === id) || named.find((one) => String(one.id) === id);
    if (row && row.chunk >= 0) return panel.open(row, Number(sample) || 0, { push: false });
    panel.leave();
    if (!hash.includes("=") && hash !== "") return undefined;
    const view = new URLSearchParams(hash);
    if (view.has("part")) document.getElementById("problems").scrollIntoView();
    return list.setView(view);
  };

  const KEYS = {
    j: () => (panel.isOpen() ? panel.move(1) : list.mark(list.marked + 1)),
    k: () => (panel.isOpen() ? panel.move(-1) : list.mark(list.marked - 1)),
    ArrowRight: () => panel.isOpen() && panel.choose(panel.state.sample + 1),
    ArrowLeft: () => panel.isOpen() && panel.choose(panel.state.sample - 1),
    m: () => panel.isOpen() && panel.turn(),
    "/": () => { if (panel.isOpen()) panel.close(); list.field.focus(); list.field.select(); },
  };
  addEventListener("keydown", (event) => {
    const typing = event.target.matches?.("input, select, textarea");
    if (event.key === "Escape" && typing) event.target.blur();
    if (typing || event.ctrlKey || event.metaKey || event.altKey || !Object.hasOwn(KEYS, event.key)) return;
    if (event.key.startsWith("Arrow") && !panel.isOpen()) return;
    event.preventDefault();
    KEYS[event.key]();
  });

  await list.setView(new URLSearchParams());
  document.getElementById("first").hidden = true;
  document.getElementById("explorer").hidden = false;
  for (const cell of document.querySelectorAll("#parts [data-part]")) {
    const address = new URLSearchParams({ in: cell.dataset.dataset, part: cell.dataset.part });
    cell.replaceChildren(make("a", { href: `#${address}`, title: say("Show its problems") }, [...cell.childNodes]));
  }
  addEventListener("hashchange", fromAddress);
  addEventListener("popstate", fromAddress);
  await fromAddress();
};

// On a phone all but the verdict, the figures and the problems is folded, until somebody taps its heading.
const foldSections = () => {
  if (!matchMedia("(max-width: 44rem)").matches) return;
  const unfold = (section, open) => {
    section.classList.toggle("folded", !open);
    section.querySelector(".fold").setAttribute("aria-expanded", String(open));
  };
  for (const section of document.querySelectorAll("main > .card:not(#verdict, #figures, #problems)")) {
    const heading = section.querySelector("h2");
    if (!heading) continue; // what a page begins with is never folded
    heading.replaceChildren(make("button", {
      type: "button", class: "fold", onclick: () => unfold(section, section.classList.contains("folded")),
    }, [...heading.childNodes]));
    unfold(section, false);
  }
  const showTarget = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target?.classList.contains("folded")) unfold(target, true);
  };
  addEventListener("hashchange", showTarget);
  showTarget();
};

foldSections();
start();
