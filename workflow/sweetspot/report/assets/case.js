"use strict";
// The panel "your case": real units, central estimates; verdict, tiles and the first chart follow.
(() => {
  const source = document.getElementById("case-data"), form = document.getElementById("case");
  if (!source || !form) return;
  const data = JSON.parse(source.textContent), every = data.choices;
  const named = (key) => every.find((one) => one.choice === key);
  const box = named(data.box), rent = named(data.rent);
  const known = { work: data.jobs, price: box.capex, hourly: rent.rent, days: data.days };
  const controls = [
    { name: "work", label: "jobs a month", max: 6 }, { name: "price", label: `price of the machine, ${data.currency}`, max: 2 },
    { name: "hourly", label: `rent, ${data.currency} an hour`, max: 3 }, { name: "days", label: "days of use a month", most: data.most_days },
  ].filter((one) => known[one.name] && !(one.name === "days" && data.jobs)); // a plan says its work, and so its use
  const at = { ...known, spot: false };
  const shown = (value) => value.toLocaleString("en", value >= 100 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 3 });
  const times = (value) => (value >= 10 ? value.toFixed(0) : value.toFixed(Math.abs(value - 1) < 0.1 ? 2 : 1));
  const COSTS = { keep: "What you have costs", rent: "Renting costs", contract: "A contract costs", buy: "Buying costs", mix: "Buying costs" };
  const VERBS = { keep: "Keep what you have", rent: "Rent by the hour", contract: "Sign the contract", buy: "Buy", mix: "Buy" };
  const CLOSE = 1.1; // a ratio below which a central estimate tells nothing

  // A choice at the controls. The price that moves is that of the machine, or of the rental, that has the slider; the others
  // of its kind move with it.
  const costs = (one) => {
    const factors = { work: known.work ? at.work / known.work : 1, price: known.price ? at.price / known.price : 1,
      rent: at.hourly / known.hourly, days: known.days ? at.days / known.days : 1 };
    if (one.rounds) {
      const where = { plan_work: 100 * factors.work, plan_rent: one.binds === "nothing" ? 100 * (factors.rent - 1) : 0,
        plan_price: 100 * factors.price, plan_days: 100, plan_power: 100 };
      return roundsCost(one.rounds, where).usd;
    }
    if (one.binds !== "buy") return one.usd * (one.binds === "nothing" ? factors.rent : 1) ;
    return one.usd * (1 - one.held + (one.held * (1 + one.bought * (factors.price - 1))) / factors.days);
  };

  const first = { verdict: document.getElementById("verdict").textContent, todo: document.getElementById("do-this").textContent };
  const put = (id, text) => { document.getElementById(id).textContent = text; };

  const verdict = () => {
    const stands = every.filter((one) => (one.stands || (at.spot && one.spot))).map((one) => ({ one, usd: costs(one) }));
    stands.sort((a, b) => a.usd - b.usd);
    const [best] = stands, rival = stands.find((found) => found.one.binds !== best.one.binds);
    const ratio = rival ? rival.usd / best.usd : Infinity;
    const close = ratio < CLOSE, take = close && rival.one.rank < best.one.rank ? rival : best;
    const other = take === best ? rival : best;
    form.dataset.best = best.one.choice; form.dataset.usd = best.usd; form.dataset.ratio = ratio;
    put("verdict", !rival ? `${VERBS[best.one.kind]}.` : close
      ? `${VERBS[take.one.kind]} for now. ${COSTS[other.one.kind]} about the same.`
      : `${VERBS[best.one.kind]}. ${COSTS[rival.one.kind]} ${times(ratio)} times as much.`);
    put("do-this", `${take.one.title}: ${shown(take.usd)} ${data.currency}, a central estimate.`);
    return { best, rival, ratio };
  };

  const tiles = (moved, found) => document.querySelectorAll("#tiles>div").forEach((tile, place) => {
    const value = tile.querySelector("dd");
    value.dataset.said ??= value.textContent;
    value.textContent = !moved ? value.dataset.said : place === 1 && found.rival ? `${times(found.ratio)} ×` : "–";
  });

  // Each choice's outcomes move as its central estimate does.
  const chart = () => {
    const field = document.querySelector(".dots"), rows = [...field.querySelectorAll(".row")];
    const moved = rows.map((row) => { const one = named(row.dataset.choice); return one ? costs(one) / one.usd : 1; });
    const outcomes = rows.map((row, n) => JSON.parse(row.dataset.outcomes).map((usd) => usd * moved[n]));
    const most = Math.max(...outcomes.flat()) * 1.04, STACK = 46;
    rows.forEach((row, n) => {
      const heights = new Array(STACK + 1).fill(0);
      row.querySelectorAll(".field>i").forEach((dot, m) => {
        const place = Math.min(STACK, Math.floor((STACK * outcomes[n][m]) / most));
        dot.style.left = `${(100 * place) / STACK}%`; dot.style.bottom = `${9 * heights[place]++}px`;
      });
      row.querySelector(".field").style.height = `${9 * Math.max(...heights) + 20}px`;
      const middle = row.querySelector("em"), usd = row.dataset.usd * moved[n];
      middle.style.left = `${(100 * usd) / most}%`; middle.textContent = usd >= 1e4 ? `${shown(usd / 1e3)} k` : shown(usd);
    });
    const step = 10 ** Math.floor(Math.log10(most / 4)), by = [1, 2, 2.5, 5, 10].find((one) => one * step >= most / 4) * step;
    const axis = field.querySelector(".axis"), code = axis.querySelector("b");
    axis.replaceChildren(...[0, 1, 2, 3, 4].filter((n) => n * by <= most).map((n) => {
      const tick = document.createElement("i");
      tick.style.left = `${(100 * n * by) / most}%`; tick.textContent = n * by >= 1e4 ? `${shown((n * by) / 1e3)} k` : shown(n * by);
      return tick;
    }), code);
  };

  const draw = () => {
    const moved = at.spot || controls.some((one) => at[one.name] !== known[one.name]);
    const found = verdict();
    if (!moved) { put("verdict", first.verdict); put("do-this", first.todo); }
    tiles(moved, found); chart();
    const parts = [...controls.filter((one) => at[one.name] !== known[one.name]).map((one) => `${one.name}=${at[one.name]}`),
      ...(at.spot ? ["spot=1"] : [])].join("&");
    history.replaceState(null, "", parts ? `#${parts}` : location.pathname + location.search);
  };

  const inputs = controls.map((one) => {
    const label = document.createElement("label"), input = document.createElement("input"), output = document.createElement("output");
    const most = one.most || known[one.name] * one.max;
    Object.assign(input, { type: "range", name: one.name, min: known[one.name] * 0.05, max: most, step: "any" });
    const say = () => { output.textContent = shown(at[one.name]); };
    input.addEventListener("input", () => {
      at[one.name] = Number(Number(input.value).toPrecision(3)); say(); draw();
    });
    label.append(one.label, output, input); form.append(label);
    return () => { input.value = at[one.name]; say(); };
  });
  if (every.some((one) => one.spot)) {
    const label = document.createElement("label"), input = document.createElement("input");
    Object.assign(input, { type: "checkbox", name: "spot" });
    input.addEventListener("change", () => { at.spot = input.checked; draw(); });
    label.className = "check"; label.append(input, " jobs may be interrupted"); form.append(label);
    inputs.push(() => { input.checked = at.spot; });
  }
  const follow = () => {
    const said = new Map(location.hash.slice(1).split("&").filter((part) => part.includes("=")).map((part) => part.split("=")));
    if (location.hash && !said.size) return;
    controls.forEach((one) => {
      const value = said.has(one.name) ? Number(said.get(one.name)) : known[one.name];
      at[one.name] = Number.isFinite(value) && value > 0 ? value : known[one.name];
    });
    at.spot = said.has("spot");
    inputs.forEach((sync) => sync()); draw();
  };
  const buttons = document.createElement("p");
  const button = (words, act) => {
    const made = document.createElement("button");
    Object.assign(made, { type: "button", textContent: words }); made.addEventListener("click", act); buttons.append(made);
  };
  button("Back to the study", () => { Object.assign(at, known, { spot: false }); inputs.forEach((sync) => sync()); draw(); });
  button("Copy link", () => navigator.clipboard?.writeText(location.href));
  form.append(buttons); form.hidden = false;
  addEventListener("hashchange", follow);
  if (location.hash.includes("=")) follow(); else inputs.forEach((sync) => sync());
})();
