"use strict";
// Sliders of a plan, in #plan-sliders: each with what it is at, all of them in the address of the page (#plan_work=120).
// `at` has the values and is written to; `say` puts a value into words; `draw` is called at every change.
const planControls = (controls, at, say, draw) => {
  const form = document.getElementById("plan-sliders");
  const parts = () => location.hash.slice(1).split("&").filter((part) => part.includes("="));
  const keep = () => {
    const others = parts().filter((part) => !part.startsWith("plan_"));
    const own = controls.filter((one) => at[one.name] !== one.value).map((one) => `${one.name}=${at[one.name]}`);
    const all = [...others, ...own].join("&");
    history.replaceState(null, "", all ? `#${all}` : location.pathname + location.search);
  };
  const follow = () => {
    if (location.hash.length > 1 && !location.hash.includes("=")) return;
    const said = new Map(parts().map((part) => part.split("=")));
    controls.forEach((one) => {
      const value = said.has(one.name) ? Number(said.get(one.name)) : one.value;
      at[one.name] = Number.isFinite(value) ? Math.min(one.max, Math.max(one.min, value)) : one.value;
      const input = form.elements[one.name];
      input.value = at[one.name];
      input.previousElementSibling.textContent = say(one, at[one.name]);
    });
    draw();
  };
  controls.forEach((one) => {
    const label = document.createElement("label"), input = document.createElement("input");
    const output = document.createElement("output");
    Object.assign(input, { type: "range", name: one.name, min: one.min, max: one.max, step: one.step });
    input.addEventListener("input", () => {
      at[one.name] = Number(input.value); output.textContent = say(one, at[one.name]); draw(); keep();
    });
    label.append(one.label, output, input); form.append(label);
  });
  addEventListener("hashchange", follow);
  follow();
};
