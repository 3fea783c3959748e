"use strict";
(() => {
  const source = document.getElementById("whatif-data");
  if (!source) return;
  const data = JSON.parse(source.textContent);
  const form = document.getElementById("sliders"), outcome = document.getElementById("outcome");
  const box = data.offers.find((offer) => offer.option === data.reference);
  const zero = (value, other = 0) => (value === null || value === undefined ? other : value);

  // What the sliders change of the two columns of offers.parquet: the price of the box less what it is sold for, over
  // its months; and electricity. All else in them (maintenance, discounting, staff) stays as the price list has it.
  const kept = (o, months) => {
    const points = o.resale || [], years = months / 12;
    if (!points.length) return 1;
    const next = points.findIndex((point) => point[0] >= years);
    if (next < 0) return points[points.length - 1][1];
    if (next === 0) return points[0][1];
    const [before, after] = [points[next - 1], points[next]];
    return before[1] + ((after[1] - before[1]) * (years - before[0])) / (after[0] - before[0]);
  };
  const sold = (o) => {
    const then = data.offers.find((one) => one.option === o.option), base = kept(then, then.months);
    return base > 0 ? (zero(o.residual_usd) * kept(o, o.months)) / base : zero(o.residual_usd);
  };
  const writtenOff = (o) => (o.capex_usd - sold(o)) / o.months;
  // Mean rent of a project over today's: month t pays (1 + change)^(t / 12), the last part of a month its fraction.
  const meanRent = (change, months) => {
    let paid = 0;
    for (let t = 0; t < months; t += 1) paid += Math.min(1, months - t) * (1 + change) ** (t / 12);
    return paid / months;
  };
  const powerOf = (o) => zero(o.kw) * zero(o.pue, 1) * zero(o.usd_per_kwh);

  // Daly 2006: the best checkpoint interval, and machine hours an hour of work (or for a job of `work` hours).
  const interval = (d, m) => {
    const part = d / (2 * m);
    return d < 2 * m ? Math.sqrt(2 * d * m) * (1 + Math.sqrt(part) / 3 + part / 9) - d : m;
  };
  const stretched = (o, rate, work) => {
    if (!(rate > 0)) return work === undefined ? 1 : work;
    const m = 1 / rate, d = zero(o.checkpoint_s) / 3600, r = zero(o.restore_s) / 3600;
    let tau = o.every_s === null || o.every_s === undefined ? interval(d, m) : o.every_s / 3600;
    if (work !== undefined) tau = Math.min(tau, work);
    return (m * Math.exp(r / m) * Math.expm1((tau + d) / m) * (work === undefined ? 1 : work)) / tau;
  };

  function result(job, moved) {
    const offer = data.offers.find((one) => one.option === job.option);
    const work = job.samples / job.images_per_s / 3600;
    if (offer.purchase === "own") {
      const own = offer.option === data.reference ? { ...offer, ...moved.box } : offer;
      const fixed = offer.fixed_usd_per_month + writtenOff(own) - writtenOff(offer);
      const variable = offer.variable_usd_per_hour + powerOf(own) - powerOf(offer);
      const hourly = fixed / (24 * own.days_per_month) + variable;
      return { hours: work, usd: work * hourly, perUsd: (3600 * job.images_per_s) / hourly, fixed, variable };
    }
    const interruptible = offer.purchase === "spot" || offer.purchase === "preemptible";
    const times = zero(moved.providers[offer.provider], 1) * (interruptible ? moved.spotPrice : 1);
    const movable = offer.rent_change !== null && offer.rent_change !== undefined;
    const yearly = moved.rentChange === null ? offer.rent_change : moved.rentChange / 100;
    const assumed = movable ? meanRent(offer.rent_change, box.months) : 1;
    const rent = movable ? meanRent(yearly, zero(moved.box.months, box.months)) : 1;
    const rate = zero(offer.interruptions_per_hour) * (interruptible ? moved.spotRate : 1);
    const machine = stretched(offer, rate, work);
    const then = stretched(offer, zero(offer.interruptions_per_hour), work);
    const fees = job.usd / assumed - then * offer.usd_per_hour;
    return {
      hours: machine * (1 + (rate * zero(offer.wait_s)) / 3600),
      usd: (machine * offer.usd_per_hour + fees) * times * rent,
      perUsd: (3600 * job.images_per_s) / (offer.usd_per_hour * times * rent * stretched(offer, rate)),
    };
  }

  const sliders = [];
  function slider(name, label, low, high, step, value, show) {
    const frame = document.createElement("label"), output = document.createElement("output"), input = document.createElement("input");
    // `output` can be labelled too and stands first: the label must name its input.
    input.id = `slider-${sliders.length}`; frame.htmlFor = input.id;
    input.type = "range"; input.min = low; input.max = high; input.step = step; input.name = name;
    input.defaultValue = value === null ? 0 : value;
    frame.append(label, output, input); form.append(frame);
    input.addEventListener("input", update);
    // The browser rounds a range to its steps: untouched, the table's own figure counts.
    const one = { name, input, output, show, value, start: input.value };
    one.read = () => (input.value === one.start ? value : Number(input.value));
    sliders.push(one);
  }
  const text = (value, digits = 3) => {
    if (!Number.isFinite(value)) return "never";
    const places = value === 0 ? 0 : Math.max(0, Math.min(6, digits - 1 - Math.floor(Math.log10(Math.abs(value)))));
    return value.toLocaleString("en-US", { minimumFractionDigits: places, maximumFractionDigits: places });
  };

  const models = [...new Set(data.jobs.map((job) => job.model))];
  const choose = document.createElement("select");
  choose.name = "model";
  for (const model of models) choose.add(new Option(model, model, model === data.model, model === data.model));
  choose.addEventListener("input", update);
  const chooser = document.createElement("label");
  chooser.append("model ", choose); form.append(chooser);
  slider("days_per_month", "days of use a month", 1, 30, 0.5, box.days_per_month, (v) => text(v, 3));
  slider("months", "months of the project", 3, 72, 1, box.months, (v) => text(v, 2));
  slider("usd_per_kwh", `electricity, ${data.currency}/kWh`, 0, 1, 0.01, zero(box.usd_per_kwh), (v) => text(v, 3));
  slider("capex_usd", `price of the box, ${data.currency}`, 0, 4 * box.capex_usd, Math.max(1, Math.round(box.capex_usd / 130)), box.capex_usd, (v) => text(v, 4));
  const changes = data.offers.map((o) => o.rent_change).filter((g) => g !== null && g !== undefined);
  if (changes.length) {
    const ends = [...new Set([Math.min(...changes), Math.max(...changes)])].map((g) => text(100 * g, 2));
    const shown = (v) => (v === null ? `as assumed (${ends.join(" to ")})` : text(v, 2));
    slider("rentChange", "rental prices change a year, %", -60, 60, 1, null, shown);
  }
  const interruptible = data.offers.filter((o) => o.purchase === "spot" || o.purchase === "preemptible");
  if (interruptible.length) slider("spotPrice", "spot prices, times today's", 0.2, 3, 0.05, 1, (v) => text(v, 3));
  const rates = interruptible.map((o) => zero(o.interruptions_per_hour)).filter((rate) => rate > 0);
  if (rates.length) {
    const ends = [...new Set([Math.min(...rates), Math.max(...rates)])];
    const perHour = (v) => `${text(v, 3)} (${ends.map((rate) => text(v * rate, 2)).join(" to ")} an hour)`;
    slider("spotRate", "interruptions, times today's", 0, 10, 0.1, 1, perHour);
  }
  const providers = [...new Set(data.offers.filter((o) => o.purchase !== "own").map((o) => o.provider))];
  for (const name of providers) slider(`provider:${name}`, `prices of ${name}, times today's`, 0.2, 3, 0.05, 1, (v) => text(v, 3));
  const reset = document.createElement("button");
  reset.type = "button"; reset.textContent = "Back to the study's figures";
  reset.addEventListener("click", () => { form.reset(); update(); });
  form.append(reset);

  function read() {
    const moved = { box: {}, providers: {}, spotPrice: 1, spotRate: 1, rentChange: null };
    for (const one of sliders) {
      const value = one.read();
      one.output.textContent = one.show(value);
      if (one.name.startsWith("provider:")) moved.providers[one.name.slice(9)] = value;
      else if (one.name.startsWith("spot") || one.name === "rentChange") moved[one.name] = value;
      else moved.box[one.name] = value;
    }
    return moved;
  }

  function update() {
    const moved = read();
    const rows = data.jobs.filter((job) => job.model === choose.value).map((job) => ({
      job, offer: data.offers.find((one) => one.option === job.option), ...result(job, moved) }));
    rows.sort((a, b) => a.usd - b.usd);
    const own = rows.find((row) => row.job.option === data.reference);
    for (const row of rows) {
      const bracket = (3600 * own.job.images_per_s) / row.perUsd - own.variable, days = own.fixed / (24 * bracket);
      row.days = row === own ? null : bracket > 0 && days <= data.month_days ? days : Infinity;
    }
    const rival = rows.filter((row) => row !== own && row.offer.persistent).sort((a, b) => b.perUsd - a.perUsd)[0];
    const rented = rows.filter((row) => row.offer.purchase !== "own" && row.offer.persistent).sort((a, b) => b.perUsd - a.perUsd)[0];
    const days = rented ? rented.days : Infinity;
    outcome.replaceChildren();
    const say = document.createElement("p");
    if (rival) {
      const gain = own.perUsd / rival.perUsd, wins = gain >= 1;
      const [first, second] = wins ? [own.offer.name, rival.offer.name] : [rival.offer.name, own.offer.name];
      say.textContent = `${first.replace(/^the /, "The ")} is ${text(wins ? gain : 1 / gain)} times cheaper than ` +
        `${second}; owning pays from ${Number.isFinite(days) ? text(days) + " days a month" : "no use within a month"}.`;
      say.dataset.gain = gain; say.dataset.days = days; say.dataset.rival = rival.job.option;
    }
    say.id = "whatif-says"; say.className = "says";
    const table = document.createElement("table");
    const head = table.createTHead().insertRow();
    for (const name of ["", "option", data.currency, "hours", "break-even days"]) {
      const cell = document.createElement("th"); cell.scope = "col"; cell.textContent = name; head.append(cell);
    }
    head.cells[0].textContent = "place";
    const body = table.createTBody();
    rows.forEach((row, place) => {
      const line = body.insertRow();
      line.className = row === own ? "good" : row.offer.persistent ? "" : "interruptible";
      line.dataset.option = row.job.option; line.dataset.usd = row.usd; line.dataset.hours = row.hours; line.dataset.days = row.days;
      for (const value of [place + 1, row.offer.title, text(row.usd), text(row.hours), row.days === null ? "" : text(row.days)])
        line.insertCell().textContent = value;
    });
    const frame = document.createElement("div");
    frame.className = "scroll"; frame.tabIndex = 0; frame.setAttribute("role", "region"); frame.setAttribute("aria-label", "What-if ranking");
    frame.append(table);
    outcome.append(say, frame);
  }
  update();
})();
