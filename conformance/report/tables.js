
"use strict";
// Rows that say their verdicts can be filtered. Whoever asks for something sees it: tables that are folded open, and
// those of which nothing is left fold.
(() => {
  const form = document.getElementById("filters"), shown = document.getElementById("shown");
  const rows = [...document.querySelectorAll("tr[data-verdicts]")].map((row) => (
    { row, verdicts: row.dataset.verdicts.split("|"), text: null }));
  const folded = [...document.querySelectorAll("details")].map((box) => (
    { box, open: box.open, rows: box.querySelectorAll("tr[data-verdicts]") })).filter((one) => one.rows.length);

  function apply() {
    const chosen = [...form.querySelectorAll("[name=verdict]:checked")].map((box) => box.value);
    const text = form.text.value.trim().toLowerCase();
    let count = 0;
    for (const one of rows) {
      if (one.text === null && text) one.text = one.row.textContent.toLowerCase();
      const fits = (!chosen.length || one.verdicts.some((verdict) => chosen.includes(verdict)))
        && (!text || one.text.includes(text));
      one.row.hidden = !fits;
      count += fits;
    }
    for (const one of folded) {
      one.box.open = chosen.length || text ? [...one.rows].some((row) => !row.hidden) : one.open;
    }
    shown.textContent = `${count} of ${rows.length} rows`;
    document.getElementById("nothing").hidden = count > 0 || rows.length === 0;
  }

  form.addEventListener("input", apply);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply));
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input:not([type=checkbox])")) return;
    if (event.key === "/") { event.preventDefault(); form.text.focus(); form.text.select(); }
  });
  document.addEventListener("click", (event) => {
    const button = event.target.closest("button.copy");
    if (button) copy(button);
  });
  form.hidden = false;
  apply();
})();
