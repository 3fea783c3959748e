"use strict";
// One control moves at a time; each position of a slider is a value of comparison/sweeps.parquet, with its texts.
(() => {
  const sweeps = JSON.parse(document.getElementById("sweeps").textContent), panel = document.getElementById("what-if");
  const [status, list] = panel.querySelector("#moved").children, sliders = [...panel.querySelectorAll("input")];

  function show(slider, step) {
    for (const other of sliders) place(other, other === slider ? step : other.defaultValue);
    const { text, rows } = sweeps[slider.name][step];
    status.textContent = text;
    list.replaceChildren(...rows.map(([kind, words]) => Object.assign(document.createElement("li"), { className: `k-${kind}`, textContent: words })));
  }

  function place(slider, step) {
    const { value, x } = sweeps[slider.name][step], start = sweeps[slider.name][slider.defaultValue].x;
    slider.value = step;
    slider.setAttribute("aria-valuetext", value);
    slider.closest("div").querySelector(".mark").setAttribute("transform", `translate(${x - start})`);
  }

  function restore() {
    const [name, step] = location.hash.slice(1).split("="), slider = sliders.find((one) => one.name === name);
    if (slider && sweeps[name][step]) panel.open = true;
    show(slider ?? sliders[0], (slider && sweeps[name][step] && step) || (slider ?? sliders[0]).defaultValue);
  }

  for (const slider of sliders) {
    slider.hidden = false;
    slider.addEventListener("input", () => show(slider, slider.value));
    slider.addEventListener("change", () => history.pushState(null, "", `#${slider.name}=${slider.value}`));
  }
  addEventListener("popstate", restore);
  restore();
})();
