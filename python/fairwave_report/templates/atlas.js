// The map of a network: selects the displayed failure, the colouring of links and the marked path.
"use strict";
(() => {
  const data = JSON.parse(document.getElementById("atlas-data").textContent);
  const lines = [...document.querySelectorAll("#atlas-map .link")];
  const cells = [...document.querySelectorAll("#atlas-matrix .cell")];
  const said = document.getElementById("atlas-said");
  const range = document.getElementById("atlas-failure");
  const choice = document.getElementById("atlas-choice");
  const paths = [...document.querySelectorAll(".atlas-path")];
  let state = 0, by = 0, path = -1;

  const step = (value, bounds) => bounds.filter((bound) => value >= bound).length;
  const percent = (value, digits) => `${(value * 100).toFixed(digits)} %`;

  function draw() {
    const now = data.states[state];
    const failed = new Set(now.failed);
    const marked = path < 0 ? null : new Set(data.worst[path]);
    lines.forEach((line, at) => {
      const value = by === 0 ? now.used[at] : now.lost[at];
      const faint = marked && !marked.has(data.links[at]) ? " faint" : "";
      line.setAttribute("class", failed.has(at) ? `link failed${faint}` : `link s${step(value, data.bounds[by])}${faint}`);
      line.firstElementChild.textContent = failed.has(at)
        ? `${data.links[at]}: failed`
        : `${data.links[at]}: ${percent(now.used[at], 0)} used, ${percent(now.lost[at], 2)} discarded`;
    });
    cells.forEach((cell, at) => {
      const mos = now.mos[at];
      cell.setAttribute("class", `cell ${now.bands[at]}`);
      cell.firstElementChild.textContent = `${data.pairs[at]}: ${mos === null ? "no rated call" : `${now.bands[at]}, MOS ${mos.toFixed(2)}`}`;
    });
    said.textContent = now.words;
    if (range) {
      range.value = String(state);
      choice.value = String(state);
      range.setAttribute("aria-valuetext", now.name || "nothing fails");
    }
  }

  const show = (to) => { state = Number(to); draw(); };
  if (range) {
    range.addEventListener("input", () => show(range.value));
    choice.addEventListener("change", () => show(choice.value));
  }
  document.querySelectorAll('input[name="atlas-by"]').forEach((one) =>
    one.addEventListener("change", () => {
      by = Number(one.value);
      document.querySelectorAll(".atlas-key").forEach((key) => { key.hidden = key.dataset.by !== one.value; });
      draw();
    }));
  paths.forEach((button, at) =>
    button.addEventListener("click", () => {
      path = path === at ? -1 : at;
      paths.forEach((other, number) => other.setAttribute("aria-pressed", String(number === path)));
      draw();
    }));
  draw();
})();
