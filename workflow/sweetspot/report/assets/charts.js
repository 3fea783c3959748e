"use strict";
// The charts are drawn from their packed specifications: those in view first, the others when the page is idle, for paper.
async function inflated(id) {
  const bytes = Uint8Array.from(atob(document.getElementById(id).textContent), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
}
async function unpackCharts() {
  const [engine, specs] = await Promise.all(["charts-engine", "charts-specs"].map(inflated)), script = document.createElement("script");
  const text = { type: "module", textContent: `${engine}\nwindow.chartsReady();` }, loaded = new Promise((done) => { window.chartsReady = done; });
  document.body.append(Object.assign(script, text));
  return loaded.then(() => ({ specs: JSON.parse(specs), embed: window.vegaEmbed }));
}
// Facets of Vega-Lite share a field on purpose: what it warns of there is no fault.
const { warn } = console; console.warn = (...words) => /faceted independent scales/.test(words.join(" ")) || warn(...words);
(() => {
  if (!document.getElementById("charts-engine") || !document.querySelector(".drawable")) return;
  const left = new Set(document.querySelectorAll("figure .chart"));
  const draw = async (frame) => {
    left.delete(frame);
    const figure = frame.parentElement, name = figure.id.slice(4), { specs, embed } = await (draw.found ??= unpackCharts());
    const { view } = await embed(frame, specs[name], { mode: "vega-lite", actions: false, renderer: "svg", logLevel: 1 });
    // One image with a name: a reader of screens is not led through every mark.
    const drawn = frame.querySelector("svg"), words = ["role", "aria-label", "aria-roledescription"];
    for (const part of frame.querySelectorAll("[role], [aria-label], [aria-roledescription]")) for (const word of words) part.removeAttribute(word);
    drawn.setAttribute("role", "img"); drawn.setAttribute("aria-label", frame.dataset.title);
    drawn.style.setProperty("--wide", `${drawn.getAttribute("width")}px`);
    frame.classList.add("drawn");
    if (frame.scrollWidth > frame.clientWidth + 1) frame.tabIndex = 0; // scrolled on a narrow phone: by keys too
    Object.assign(figure.querySelector("button"), { hidden: false, onclick: async () => {
      const href = URL.createObjectURL(new Blob([await view.toSVG()], { type: "image/svg+xml" }));
      Object.assign(document.createElement("a"), { href, download: `${name}.svg` }).click();
    } });
  };
  const seen = new IntersectionObserver((all) => all.forEach((one) => one.isIntersecting && left.has(one.target) && draw(one.target)), { rootMargin: "300px" });
  left.forEach((frame) => seen.observe(frame));
  // The rest one at a time; one that cannot be drawn keeps no other from it.
  const rest = () => { for (const frame of [...left].slice(0, 1)) draw(frame).finally(() => setTimeout(rest)); };
  addEventListener("load", () => setTimeout(rest, 300));
})();
// A link to a row in a closed fold opens it. A tooltip has the beginning of a source; the table of origins has the whole.
(() => {
  const reveal = () => {
    const target = document.querySelector(":target");
    for (let fold = target && target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    if (target) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  if (location.hash) reveal();
  const complete = (event) => {
    const figure = event.target.closest && event.target.closest("a.n"), row = figure && document.getElementById(figure.hash.slice(1));
    if (row) figure.title = figure.title.replace(/[^·]*… \(origin \d+\)/, () => ` ${row.cells[2].textContent}`);
  };
  document.addEventListener("pointerover", complete); document.addEventListener("focusin", complete);
})();
