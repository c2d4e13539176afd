
"use strict";
(() => {
  const $ = (id) => document.getElementById(id);
  const WINDOW = 40;
  let run = null, shown = null, wanted = 0, asking = false, before = null;

  const make = (tag, text, kind) => {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (kind) element.className = kind;
    return element;
  };
  const number = (value) => value.toLocaleString("en");

  async function ask(name, query = {}) {
    const answer = await fetch(`${name}?${new URLSearchParams(query)}`);
    const found = await answer.json();
    if (!answer.ok) throw new Error(found.error);
    return found;
  }
  const say = (text) => { $("told").textContent = text; };

  // ------------------------------------------------------------------ what is shown

  function show(found) {
    const rows = $("rows");
    rows.replaceChildren(...found.rows.map((one) => {
      const row = make("tr", undefined, [one.kind, one.broken.length && "broken", one.row > found.row && "later"].filter(Boolean).join(" "));
      for (const text of [one.row, number(BigInt(one.time)), one.node, one.kind, one.label, one.link]) row.append(make("td", text));
      row.dataset.row = one.row;
      if (one.row === found.row) row.setAttribute("aria-current", "true");
      return row;
    }));
    rows.querySelector("[aria-current]").scrollIntoView({ block: "center" });
    const here = found.rows[found.row - found.first];
    $("broken").replaceChildren(...here.broken.map(([, sentence]) => make("p", sentence)));
    const drawn = new DOMParser().parseFromString(found.picture, "image/svg+xml").documentElement;
    $("picture").replaceChildren(document.importNode(drawn, true));
    pinLanes($("picture"));
    const loud = $("picture").querySelector(".loud");
    if (loud) {
      const place = loud.getBoundingClientRect(), box = $("picture").getBoundingClientRect();
      $("picture").scrollTop += place.bottom - box.top - box.height / 2;
      $("picture").scrollLeft += (place.left + place.right) / 2 - box.left - box.width / 2;
    }
    $("columns").replaceChildren(...Object.entries(here.columns).map(([name, value]) => {
      const pair = make("div");
      pair.append(make("dt", name), make("dd", name === "kind" ? here.kind : value));
      return pair;
    }));
    nodes(found);
    if (document.activeElement !== $("row")) $("row").value = found.row;
    if (document.activeElement !== $("time")) $("time").value = here.time;
    history.replaceState(null, "", `#${found.row}`);
    before = found.states;
    shown = found;
  }

  function nodes(found) {
    if (!found.states) {
      $("nodes").replaceChildren(make("p", "The run is being read up to here; the nodes follow.", "node faint"));
      return;
    }
    $("nodes").replaceChildren(...found.states.map((state, at) => {
      const [name, role] = run.nodes[at], old = before && shown && before[at];
      const box = make("article", undefined, at === found.node ? "node here" : "node");
      const head = make("h3", `${name} `), list = make("dl");
      head.append(make("span", role, "faint"));
      if (state.status !== "up") head.append(make("span", ` ${state.status}`, state.status));
      const facts = [...state.facts];
      if (state.buffered || role === "host") facts.push(["buffer", `${state.buffer.join(", ") || "empty"}${
        state.buffered > state.buffer.length ? `, … ${number(state.buffered)} in all` : ""}`]);
      if (state.delivered || role === "host") facts.push(["deliveries", `${number(state.delivered)}${
        state.deliveries.length ? `: ${state.deliveries.slice(0, 6).join(", ")}${state.delivered > 6 ? ", …" : ""}` : ""}`]);
      const was = old && new Map([...old.facts, ["buffer", old.buffer.join()], ["deliveries", String(old.delivered)]]);
      const is = new Map([...state.facts, ["buffer", state.buffer.join()], ["deliveries", String(state.delivered)]]);
      for (const [key, value] of facts) {
        const changed = was && was.get(key) !== is.get(key);
        list.append(make("dt", key), make("dd", value, changed ? "changed" : ""));
      }
      box.append(head, list);
      return box;
    }));
  }

  // ------------------------------------------------------------------ going somewhere

  // One question at a time; keys that come meanwhile only move what is wanted.
  async function go(row) {
    const last = run.rows === null ? Infinity : run.rows - 1;
    wanted = Math.max(0, Math.min(row, last));
    if (asking) return;
    asking = true;
    try {
      for (;;) {
        const asked = wanted, found = await ask("at", { row: asked });
        if (found.waits !== undefined) {
          say(`Reading: ${number(found.waits)} rows so far …`);
          await new Promise((done) => setTimeout(done, 250));
        } else {
          show(found);
          if (wanted === asked && found.states) break;
          if (!found.states) await new Promise((done) => setTimeout(done, 400));
        }
      }
    } catch (error) { say(error.message); if (shown) wanted = shown.row; } finally { asking = false; }
  }

  async function violation(step) {
    try {
      for (;;) {
        const found = await ask("violation", { row: wanted, step });
        if (found.row !== null) { say(""); go(found.row); return; }
        if (found.waits === null) { say(step > 0 ? "No violation behind this row." : "No violation before this row."); return; }
        say(`Judging: ${number(found.waits)} rows so far, no violation behind this row yet …`);
        await new Promise((done) => setTimeout(done, 400));
      }
    } catch (error) { say(error.message); }
  }

  function sameNode(step) {
    const list = step > 0 ? shown.rows : [...shown.rows].reverse(), here = shown.rows[shown.row - shown.first];
    const next = list.find((one) => (one.row - shown.row) * step > 0 && one.node === here.node);
    if (next) go(next.row); else say("No further row of this node in the window.");
  }

  async function last() {
    for (; run.rows === null && !run.ended;) { await look(); await new Promise((done) => setTimeout(done, 250)); }
    go(run.rows - 1);
  }

  function exports() {
    const at = shown.row, ends = [shown.rows[0].row, shown.rows.at(-1).row];
    $("schedule").hidden = $("how").hidden = !run.schedule;
    $("no-schedule").hidden = run.schedule;
    $("schedule").href = `schedule?last=${at}`;
    $("excerpt").href = `excerpt?first=${ends[0]}&last=${ends[1]}`;
    $("export").showModal();
  }

  const keys = {
    ArrowRight: () => go(wanted + 1), l: () => go(wanted + 1), ArrowLeft: () => go(wanted - 1), h: () => go(wanted - 1),
    PageDown: () => go(wanted + WINDOW), PageUp: () => go(wanted - WINDOW), Home: () => go(0), End: last,
    n: () => violation(1), N: () => violation(-1), m: () => sameNode(1), M: () => sameNode(-1),
    g: () => { $("row").focus(); $("row").select(); }, "@": () => { $("time").focus(); $("time").select(); },
    e: exports, t: () => $("theme").click(), "?": () => $("keys").showModal(),
  };

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !run || document.querySelector("dialog[open]")) return;
    if (event.target.matches("input")) {
      if (event.key === "Escape") event.target.blur();
      return;
    }
    // A button keeps its own keys: a space and Enter press it.
    if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
  $("steps").addEventListener("click", (event) => {
    const button = event.target.closest("[data-key]");
    if (button && run) keys[button.dataset.key]();
  });
  $("steps").addEventListener("submit", (event) => event.preventDefault());
  $("row").addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    const row = Number($("row").value.replaceAll(/[ ,]/g, ""));
    if (Number.isSafeInteger(row) && row >= 0) { $("row").blur(); go(row); } else say("Give a whole number.");
  });
  $("time").addEventListener("keydown", async (event) => {
    if (event.key !== "Enter") return;
    try {
      const found = await ask("time", { ns: $("time").value.replaceAll(/[ ,]/g, "") });
      $("time").blur();
      if (found.row !== undefined) go(found.row); else say("The run is being read; try again.");
    } catch (error) { say(error.message); }
  });
  $("rows").addEventListener("click", (event) => {
    const row = event.target.closest("tr");
    if (row) go(Number(row.dataset.row));
  });
  addEventListener("hashchange", () => { const row = Number(location.hash.slice(1)); if (Number.isSafeInteger(row)) go(row); });

  async function look() {
    run = await ask("run");
    $("of").textContent = run.rows === null ? "" : `of ${number(run.rows)}`;
    const verdict = run.broken ? "fail" : run.problem ? "inconclusive" : run.ended ? "no violation" : "reading";
    $("verdict").textContent = verdict;
    $("verdict").className = verdict === "fail" ? "fail" : verdict === "inconclusive" ? "inconclusive" : "";
    if (run.problem) say(run.problem);
    else if (run.ended) say(run.broken ? `${number(run.broken)} violations` : "");
    else say(`${number(run.read)} rows judged, ${number(run.broken)} violations so far`);
  }

  (async () => {
    try {
      await look();
      const row = Number(location.hash.slice(1));
      await go(Number.isSafeInteger(row) ? row : 0);
      while (!run.ended) { await new Promise((done) => setTimeout(done, 500)); await look(); }
    } catch (error) { say(error.message); }
  })();
})();
