"use strict";
(() => {
  const source = document.getElementById("plan-whatif-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const outcome = document.getElementById("plan-outcome");
  const ALLOWED = 0.01, SLIGHT = 1e-9; // as in the workflow's dispatch
  const never = (value) => (value === null ? Infinity : value);

  // The problem at the controls: jobs a month by class, the price of machines for sale, months, prices by the hour.
  const posed = (at) => ({
    jobs: data.classes.map((one, place) => at[`plan_jobs_${place}`]),
    held: data.held.map((kind) => {
      const price = at.plan_price / 100, longer = at.plan_months / 100;
      const bought = kind.purchase_usd_per_month || 0, sold = kind.resale_usd_per_month || 0;
      const spread = kind.months === null ? 1 : longer;
      const fixed = kind.fixed_usd_per_month - bought - sold + (bought * price + sold) / spread;
      return { ...kind, fixed, hours: kind.hours.map(never), usd: kind.usd.map(never) };
    }),
    rent: data.classes.map((_, job) => {
      const usd = data.rented.map((offer) => never(offer.usd[job]) * (1 + at.plan_rent / 100));
      const least = Math.min(Infinity, ...usd);
      return { usd: least, by: Number.isFinite(least) ? usd.indexOf(least) : -1 };
    }),
  });

  // Kinds by what a unit of work costs to run there, over the least of all kinds, mean over the classes.
  const order = (problem) => {
    const least = problem.jobs.map((_, job) => Math.min(Infinity, ...problem.held.map((kind) => kind.usd[job])));
    const dear = problem.held.map((kind) => {
      const ratios = kind.usd.map((usd, job) => (Number.isFinite(usd) ? usd / least[job] : NaN));
      const known = ratios.filter((ratio) => !Number.isNaN(ratio));
      return known.reduce((sum, ratio) => sum + ratio, 0) / Math.max(1, known.length);
    });
    return problem.held.map((_, place) => place).sort((a, b) => dear[a] - dear[b] || a - b);
  };

  // The jobs on machines held in order of merit, those worth most by the hour first; the rest is rented.
  const dispatch = (problem, counts) => {
    const left = [...problem.jobs], hours = problem.held.map(() => 0);
    const able = left.map((_, job) => problem.held.filter((kind, n) => counts[n] && Number.isFinite(kind.hours[job])).length);
    let usd = 0;
    for (const place of order(problem)) {
      const kind = problem.held[place];
      usd += counts[place] * kind.fixed;
      let room = counts[place] * kind.capacity_hours;
      const worth = kind.hours.map((one, job) =>
        Number.isFinite(one) ? ((1 - SLIGHT * able[job]) * (problem.rent[job].usd - kind.usd[job])) / one : -Infinity);
      const first = worth.map((_, job) => job).sort((a, b) => (worth[a] === worth[b] ? a - b : worth[b] - worth[a]));
      for (const job of first) {
        if (!(worth[job] > 0) || room <= 0) continue;
        const done = Math.min(left[job], room / kind.hours[job]);
        left[job] -= done; room -= done * kind.hours[job]; hours[place] += done * kind.hours[job] * kind.devices;
        usd += done * kind.usd[job];
      }
    }
    const rented = data.rented.map(() => 0);
    left.forEach((jobs, job) => {
      if (!jobs) return;
      const { usd: price, by } = problem.rent[job];
      if (by < 0) usd += jobs > ALLOWED * problem.jobs[job] ? Infinity : 0;
      else { usd += jobs * price; rented[by] += jobs * data.rented[by].hours[job]; }
    });
    return { counts, usd, hours, rented };
  };

  // The cheapest numbers of machines: machine by machine, from the workflow's best mix and from what is there.
  const cheapest = (problem) => {
    const there = problem.held.map((kind) => kind.there);
    let best = null;
    for (const start of [problem.held.map((kind) => kind.best_count), there]) {
      let here = dispatch(problem, start);
      for (;;) {
        const near = problem.held.flatMap((kind, n) => (kind.there ? [] : [-1, 1].map((step) =>
          here.counts.map((count, m) => count + (m === n ? step : 0))))).filter((counts) => counts.every((c) => c >= 0));
        const next = near.map((counts) => dispatch(problem, counts)).reduce((a, b) => (b.usd < a.usd ? b : a), here);
        if (next === here) break;
        here = next;
      }
      if (best === null || here.usd < best.usd) best = here;
    }
    return { best, there: dispatch(problem, there) };
  };

  const controls = [
    ...data.classes.map((one, place) => ({ name: `plan_jobs_${place}`, label: `jobs a month: ${one.name}`, min: 0,
      max: Math.max(4, Math.ceil(3 * one.jobs)), step: one.jobs > 20 ? 1 : 0.5, value: one.jobs, unit: "" })),
    { name: "plan_price", label: "price of machines for sale", min: 20, max: 300, step: 1, value: 100, unit: " %" },
    { name: "plan_months", label: "months that it is spread over", min: 20, max: 300, step: 1, value: 100, unit: " %" },
    { name: "plan_rent", label: "all prices by the hour", min: -80, max: 200, step: 1, value: 0, unit: " %" },
  ].filter((one) => one.name !== "plan_price" && one.name !== "plan_months" ||
    data.held.some((kind) => kind.purchase_usd_per_month && (one.name === "plan_price" || kind.months !== null)));
  const at = { plan_price: 100, plan_months: 100, plan_rent: 0 };
  const shown = (value) => value.toLocaleString("en", { maximumSignificantDigits: value >= 1000 ? 4 : 3 });
  const cell = (row, text) => { row.insertCell().textContent = text; };

  const draw = () => {
    const { best, there } = cheapest(posed(at));
    const bought = data.held.flatMap((kind, n) =>
      best.counts[n] > kind.there ? [`${best.counts[n] - kind.there} × ${kind.title}`] : []);
    const says = document.createElement("p");
    says.className = "says"; says.id = "plan-whatif-says";
    says.dataset.usd = best.usd; says.dataset.there = there.usd; says.dataset.counts = best.counts.join(",");
    says.textContent = Number.isFinite(best.usd)
      ? `${bought.join(" and ") || "Nothing bought"}: ${shown(best.usd)} ${data.currency} a month` +
        (bought.length && Number.isFinite(there.usd) ? `; with nothing bought ${shown(there.usd)}.` : ".")
      : "No mix does this work.";
    const table = document.createElement("table");
    const body = table.createTBody();
    [...data.held.map((kind, n) => [kind, best.hours[n]]), ...data.rented.map((offer, n) => [offer, best.rented[n]])]
      .filter(([, hours]) => hours > 0).forEach(([one, hours]) => {
        const row = body.insertRow();
        row.dataset.option = one.option; row.dataset.hours = hours;
        cell(row, one.title); cell(row, `${shown(hours)} device-hours a month`);
      });
    outcome.replaceChildren(says, table);
  };

  planControls(controls, at, (one, value) => `${shown(value)}${one.unit}`, draw);
})();
