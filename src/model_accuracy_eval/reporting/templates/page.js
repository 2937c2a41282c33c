"use strict";
// Filters the problems by state and text. "#show=wrong&find=apples" in the address does the same, to share a view.
(() => {
  const bar = document.getElementById("filter");
  if (!bar) return;
  const rows = [...document.querySelectorAll("tr[data-state]")];
  const buttons = [...bar.querySelectorAll("button")];
  const field = bar.querySelector("input");
  const status = bar.querySelector("p");
  let show = "all";
  let texts = null;

  const flat = (text) => text.toLowerCase().replace(/\s+/g, " ");
  const fits = (row, place, find) =>
    (show === "all" || row.dataset.state === show) && (!find || texts[place].includes(find));

  const apply = () => {
    const find = flat(field.value.trim());
    if (find && !texts) texts = rows.map((row) => flat(row.textContent));
    let shown = 0;
    rows.forEach((row, place) => {
      row.hidden = !fits(row, place, find);
      shown += !row.hidden;
    });
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.value === show));
    status.textContent = `${shown.toLocaleString("en")} of ${rows.length.toLocaleString("en")} shown`;
  };

  const remember = () => {
    const view = new URLSearchParams();
    if (show !== "all") view.set("show", show);
    if (field.value) view.set("find", field.value);
    // A viewer that shows the page inside a frame may forbid this; the filter works all the same.
    try { history.replaceState(null, "", `#${view}`); } catch { /* nothing to remember then */ }
  };

  const fromAddress = () => {
    const view = new URLSearchParams(location.hash.slice(1));
    if (!view.has("show") && !view.has("find")) return;
    show = buttons.some((button) => button.value === view.get("show")) ? view.get("show") : "all";
    field.value = view.get("find") || "";
    apply();
  };

  for (const button of buttons) {
    button.addEventListener("click", () => { show = button.value; apply(); remember(); });
  }
  field.addEventListener("input", () => { apply(); remember(); });
  addEventListener("hashchange", fromAddress);
  bar.hidden = false;
  apply();
  fromAddress();
})();
