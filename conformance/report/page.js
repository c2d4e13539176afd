
"use strict";
// The page as it is written shows everything; from here on it can filter and open. What is shown is in the address
// behind the #: a case or a clause, and behind a ? the filters, so that every view can be linked to.
(() => {
  const $ = (id) => document.getElementById(id);
  const form = $("filters"), table = $("matrix"), columns = table.tHead.rows[0].cells.length;
  const several = !table.classList.contains("single");
  const groups = [...table.tBodies].map((body) => ({
    body, head: body.rows[0], button: body.rows[0].querySelector(".unfold"),
    cases: [...body.rows].slice(1).map((row) => ({ row, verdicts: row.dataset.verdicts.split("|"), text: null })),
    text: null, unfolded: !several,
  }));
  const cases = groups.flatMap((group) => group.cases.map((one) => Object.assign(one, { group })));
  cases.forEach((one, number) => { one.number = number; });
  const byId = new Map(cases.map((one) => [one.row.id, one]));
  const clauses = new Map(groups.map((group) => [group.head.id, group]));
  let data = null, folded = several, opened = null;

  const make = (tag, text, kind) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };

  // ------------------------------------------------------------------ details, made when a case is opened

  function table_of(entry) {
    const made = make("details"), inner = make("table", undefined, "clauses");
    const counts = Object.entries(entry.n).map(([letter, count]) => `${count} ${data.letters[letter]}`);
    made.append(make("summary", `Every clause in this run: ${counts.join(", ")}`));
    made.addEventListener("toggle", () => {
      if (inner.rows.length) return;
      const head = inner.createTHead().insertRow();
      for (const name of ["clause", "name", "verdict", "held", "broken", "why"]) {
        const cell = make("th", name);
        cell.scope = "col";
        head.append(cell);
      }
      const body = inner.createTBody();
      [...entry.v].forEach((letter, at) => {
        const [id, name] = data.clauses[entry.c === null ? at : entry.c[at]];
        const row = body.insertRow(), verdict = data.letters[letter], link = make("a", id);
        link.href = `#${id}`;
        row.insertCell().append(link);
        row.insertCell().textContent = name;
        row.append(make("td", verdict, `verdict ${verdict.replaceAll(" ", "-")}`));
        row.insertCell().textContent = entry.h[at];
        row.insertCell().textContent = entry.b[at] || 0;
        row.insertCell().textContent = data.reasons[entry.r[at]];
      });
      made.append(inner);
    }, { once: true });
    return made;
  }

  function detail(one) {
    data ??= JSON.parse($("data").textContent);
    const row = make("tr", undefined, "detail"), cell = row.insertCell(), sides = make("div", undefined, "sides");
    cell.colSpan = columns;
    data.cases[one.number].forEach((entry, run) => {
      if (entry === null) return;
      const section = make("section"), template = $(`case-${one.number}-${run}`);
      if (several) section.append(make("h4", data.names[run]));
      section.append(template.content.cloneNode(true));
      for (const picture of section.querySelectorAll(".picture")) pinLanes(picture);
      if (entry.n.f) section.className = "broken";
      if (entry.v) section.append(table_of(entry));
      sides.append(section);
    });
    if (several) cell.append(make("p", data.duties[one.number]));
    cell.append(sides);
    return row;
  }

  function open(one) {
    if (opened === one) return;
    close();
    opened = one;
    one.detail = detail(one);
    one.row.after(one.detail);
    one.row.querySelector("a").setAttribute("aria-expanded", "true");
  }

  function close() {
    if (opened === null) return;
    opened.detail.remove();
    opened.row.querySelector("a").setAttribute("aria-expanded", "false");
    opened = null;
  }

  // ------------------------------------------------------------------ filters

  const chosen = () => ({
    verdicts: [...form.querySelectorAll("[name=verdict]:checked")].map((box) => box.value),
    level: form.level.value, clause: form.clause.value.trim().toLowerCase(), text: form.text.value.trim().toLowerCase(),
    differ: several && form.differ.checked,
  });

  function apply() {
    const { verdicts, level, clause, text, differ } = chosen();
    const filtered = verdicts.length || text || differ;
    let shown = 0, rows = 0;
    for (const group of groups) {
      if (group.text === null && (text || clause)) group.text = group.head.textContent.toLowerCase();
      const here = (!level || group.body.dataset.level === level) && (!clause || group.text.includes(clause));
      let found = 0;
      for (const one of group.cases) {
        if (one.text === null && text) one.text = one.row.textContent.toLowerCase();
        const fits = here && (!verdicts.length || one.verdicts.some((verdict) => verdicts.includes(verdict)))
          && (!text || one.text.includes(text) || group.text.includes(text)) && (!differ || "differ" in one.row.dataset);
        found += fits;
        // Whoever asks for something sees it, folded or not.
        one.row.hidden = !(fits && (group.unfolded || filtered || one === opened));
        if (one === opened) one.detail.hidden = one.row.hidden;
      }
      const of_itself = here && !verdicts.length && (!text || group.text.includes(text))
        && (!differ || "differ" in group.body.dataset);
      group.body.hidden = !(found || of_itself);
      group.button.setAttribute("aria-expanded", String(group.unfolded || Boolean(filtered)));
      const must = group.head.querySelector("p.must");
      if (must) must.hidden = !group.unfolded;
      shown += found;
      rows += !group.body.hidden;
    }
    $("shown").textContent = `${shown} of ${cases.length} cases, ${rows} of ${groups.length} clauses`;
    $("nothing").hidden = rows > 0;
    $("fold").textContent = folded ? "Show the cases" : "Hide the cases";
  }

  // ------------------------------------------------------------------ the address

  function query() {
    const { verdicts, level, clause, text, differ } = chosen(), parts = new URLSearchParams();
    if (verdicts.length) parts.set("verdict", verdicts.join(","));
    if (level) parts.set("level", level);
    if (clause) parts.set("clause", form.clause.value.trim());
    if (text) parts.set("text", form.text.value.trim());
    if (differ) parts.set("differ", "1");
    const said = parts.toString();
    return said && `?${said}`;
  }

  function place() {
    let said = location.hash.slice(1);
    try { said = decodeURIComponent(said.split("?")[0]) + (said.includes("?") ? said.slice(said.indexOf("?")) : ""); }
    catch { return ["", null]; }
    const mark = said.indexOf("?");
    return mark < 0 ? [said, null] : [said.slice(0, mark), new URLSearchParams(said.slice(mark + 1))];
  }

  function keep(id) {
    history.replaceState(null, "", `#${id ?? (opened ? opened.row.id : "")}${query()}`);
  }

  function follow() {
    const [id, parts] = place();
    if (parts !== null) {
      const verdicts = (parts.get("verdict") || "").split(",");
      for (const box of form.querySelectorAll("[name=verdict]")) box.checked = verdicts.includes(box.value);
      form.level.value = parts.get("level") || "";
      form.clause.value = parts.get("clause") || "";
      form.text.value = parts.get("text") || "";
      if (several) form.differ.checked = parts.has("differ");
    }
    const one = byId.get(id), group = one ? one.group : clauses.get(id);
    if (one) open(one);
    if (!one && !group && id !== "") close();
    if (group) group.unfolded = true;
    apply();
    // Who follows a link to something wants to see it, whatever the filters were.
    if (one && one.row.hidden || group && group.body.hidden) clear();
    const target = one ? one.row : group && group.head;
    if (target) {
      target.scrollIntoView({ block: "start" });
      (one ? one.row.querySelector("a") : group.button).focus({ preventScroll: true });
    }
    if (parts === null && target) keep(id);
  }

  function clear() {
    for (const box of form.querySelectorAll("[type=checkbox]")) box.checked = false;
    for (const name of ["level", "clause", "text"]) form[name].value = "";
    apply();
  }

  // ------------------------------------------------------------------ what people do

  function step(by) {
    const failing = cases.filter((one) => one.verdicts.includes("fail"));
    if (!failing.length) return;
    const at = opened ? failing.findIndex((one) => by > 0 ? one.number > opened.number : one.number >= opened.number) : 0;
    const next = by > 0 ? (at < 0 ? 0 : at) : (opened && at > 0 ? at - 1 : failing.length - 1);
    go(failing[next].row.id);
  }

  function go(id) {
    const before = location.hash, to = `#${id}${query()}`;
    if (before === to) follow(); else location.hash = to;
  }

  table.addEventListener("click", (event) => {
    const link = event.target.closest("a[href^='#']"), button = event.target.closest("button");
    if (link) {
      event.preventDefault();
      const id = decodeURIComponent(link.getAttribute("href").slice(1));
      if (opened && opened.row.contains(link)) { close(); apply(); keep(""); } else go(id);
    } else if (button && button.classList.contains("unfold")) {
      const group = clauses.get(button.closest("tr").id);
      group.unfolded = !group.unfolded;
      apply();
    } else if (button && button.dataset.row) {
      const command = button.closest("section").querySelector(".explore code");
      command.textContent = command.textContent.replace(/--row \d+$/, `--row ${button.dataset.row}`);
      command.parentElement.scrollIntoView({ block: "nearest" });
      getSelection().selectAllChildren(command);
    } else if (button && button.classList.contains("copy")) {
      copy(button);
    }
  });
  form.addEventListener("input", () => { apply(); keep(); });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", (event) => { event.preventDefault(); clear(); keep(); });
  $("fold").addEventListener("click", () => {
    folded = !folded;
    for (const group of groups) group.unfolded = !folded;
    apply();
  });
  addEventListener("hashchange", follow);
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const writes = event.target.matches("input:not([type=checkbox]), select");
    if (event.key === "Escape") {
      if (writes) event.target.blur(); else if (opened) { const row = opened.row; close(); apply(); keep(""); row.querySelector("a").focus(); }
    } else if (!writes && event.key === "/") { event.preventDefault(); form.text.focus(); form.text.select(); }
    else if (!writes && event.key === "n") step(1);
    else if (!writes && event.key === "p") step(-1);
  });

  for (const group of groups) group.button.disabled = !group.cases.length && !several;
  form.hidden = false;
  follow();
})();
