"use strict";
// A chart that comes into view is drawn anew from its specification, with tooltips. The picture beneath stays: for paper,
// and for whoever has no JavaScript.
function drawCharts(vegaEmbed) {
  const draw = async (frame) => {
    const name = frame.closest("figure").id.slice(4), text = document.getElementById(`spec-${name}`);
    if (!text) return;
    const picture = frame.querySelector("svg"), live = document.createElement("div");
    live.className = "live";
    frame.append(live);
    await vegaEmbed(live, JSON.parse(text.textContent), { mode: "vega", actions: false, renderer: "svg", logLevel: 1 });
    const drawn = live.querySelector("svg");
    // One image with a name, as its picture was: a reader of screens is not led through every mark.
    for (const part of live.querySelectorAll("[role], [aria-label], [aria-roledescription]"))
      for (const word of ["role", "aria-label", "aria-roledescription"]) part.removeAttribute(word);
    drawn.setAttribute("role", "img");
    drawn.setAttribute("aria-label", picture.getAttribute("aria-label"));
    frame.classList.add("drawn");
  };
  const seen = new IntersectionObserver((entries) => {
    for (const entry of entries.filter((one) => one.isIntersecting)) { seen.unobserve(entry.target); draw(entry.target); }
  }, { rootMargin: "300px" });
  for (const frame of document.querySelectorAll("figure .chart")) seen.observe(frame);
}
