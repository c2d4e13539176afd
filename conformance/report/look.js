
"use strict";
// The lanes' names stay in sight while the picture under them is scrolled.
function pinLanes(box) {
  for (const drawing of box.querySelectorAll("svg")) {
    const names = drawing.querySelectorAll("text.lane"), strip = document.createElementNS(drawing.namespaceURI, "svg");
    strip.setAttribute("class", "lanes");
    strip.setAttribute("width", drawing.getAttribute("width"));
    strip.append(...names);
    drawing.before(strip);
  }
}
// Copy what stands beside the button; where a page may not, select it.
function copy(button) {
  const text = button.parentElement.querySelector("code, pre"), select = () => getSelection().selectAllChildren(text);
  if (navigator.clipboard) navigator.clipboard.writeText(text.textContent).then(
    () => { button.textContent = "Copied"; }, select);
  else select();
}
// Colours: those of the system until somebody chooses; a choice is remembered where the browser allows it.
(() => {
  const theme = document.getElementById("theme"), themes = ["", "light", "dark"];
  const names = { "": "as the system has them", light: "light", dark: "dark" };
  function colours(name) {
    if (name) document.documentElement.dataset.theme = name; else delete document.documentElement.dataset.theme;
    theme.textContent = `Colours: ${names[name]}`;
  }
  // Pages opened as files may be refused a memory.
  let remembered = "";
  try { remembered = localStorage.getItem("scatterproof-colours") || ""; } catch { /* then every visit begins anew */ }
  colours(themes.includes(remembered) ? remembered : "");
  theme.addEventListener("click", () => {
    const next = themes[(themes.indexOf(document.documentElement.dataset.theme || "") + 1) % themes.length];
    colours(next);
    try { localStorage.setItem("scatterproof-colours", next); } catch { /* as above */ }
  });
  theme.hidden = false;
})();
