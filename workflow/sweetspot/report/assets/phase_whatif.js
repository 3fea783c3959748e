"use strict";
(() => {
  const source = document.getElementById("phase-whatif-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const outcome = document.getElementById("plan-outcome");
  const SHOWN = 6; // rows of the table
  const controls = [
    { name: "plan_work", label: "work of the project", min: 10, max: 300, step: 1, value: 100, owned: false },
    { name: "plan_rent", label: "all rented prices", min: -80, max: 200, step: 1, value: 0, owned: false },
    { name: "plan_price", label: "price of machines for sale", min: 20, max: 300, step: 1, value: 100, owned: true },
    { name: "plan_days", label: "days of use a month", min: 20, max: Math.floor(data.most_days), step: 1, value: 100,
      owned: true },
    { name: "plan_power", label: "price of electricity", min: 0, max: 300, step: 1, value: 100, owned: true },
  ].filter((one) => !one.owned || data.options.some((option) => option.own));
  const at = { plan_work: 100, plan_rent: 0, plan_price: 100, plan_days: 100, plan_power: 100 };
  const shown = (value) =>
    value.toLocaleString("en", value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
  const the = (title) => (/^[a-z]+(-[a-z]+)* [^([]/.test(title) ? `the ${title}` : title); // as in the workflow
  const named = (found) => (found.machines > 1 ? `${found.machines} × ${found.one.title}` : found.one.title);
  const cell = (row, text) => { row.insertCell().textContent = text; };

  const draw = () => {
    const every = data.options.map((one) => ({ one, ...roundsCost(one, at) })).filter((found) => Number.isFinite(found.usd));
    every.sort((a, b) => a.usd - b.usd);
    const [best] = every, next = best && every.find((found) => found.one.alternative !== best.one.alternative);
    const says = document.createElement("p");
    says.className = "says"; says.id = "plan-whatif-says";
    says.textContent = !best ? "Nothing here does this work."
      : `Cheapest is ${the(named(best))}: ${shown(best.usd)} ${data.currency}.` +
        (next ? ` The next is ${the(named(next))}: ${shown(next.usd)}, ${shown(next.usd / best.usd)} times as much.` : "");
    if (best) Object.assign(says.dataset, { option: best.one.option, usd: best.usd, times: next ? next.usd / best.usd : "" });
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const words of ["option", `${data.currency} of the project`, "hours"]) {
      const th = document.createElement("th");
      th.scope = "col"; th.textContent = words; head.append(th);
    }
    const body = table.createTBody();
    every.slice(0, SHOWN).forEach((found) => {
      const row = body.insertRow();
      Object.assign(row.dataset, { option: found.one.option, usd: found.usd, hours: found.hours, machines: found.machines });
      cell(row, named(found)); cell(row, shown(found.usd)); cell(row, shown(found.hours));
    });
    outcome.replaceChildren(says, table);
  };

  planControls(controls, at, (_, value) => `${shown(value)} %`, draw);
})();
