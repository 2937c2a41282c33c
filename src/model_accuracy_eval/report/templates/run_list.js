// The list of runs of a folder, filtered by words in any order.
const startRunList = () => {
  const filter = document.getElementById("run-filter");
  if (!filter) return;
  const [field, status] = [filter.querySelector("input"), filter.querySelector("[role=status]")];
  const rows = [...document.querySelectorAll("#runs tbody tr")];
  field.hidden = false;
  field.addEventListener("keydown", (event) => { if (event.key === "Enter") event.preventDefault(); });
  field.addEventListener("input", () => {
    const words = flat(field.value).split(" ").filter(Boolean);
    for (const row of rows) row.hidden = !words.every((word) => flat(row.textContent).includes(word));
    status.textContent = say("{shown} of {count} runs", { shown: rows.filter((row) => !row.hidden).length, count: rows.length });
  });
};
startRunList();
