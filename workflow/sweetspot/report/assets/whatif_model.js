"use strict";
// The arithmetic of the control panel: pure functions of the payload (report/whatif.py) and of the inputs; nothing here
// knows of the page. Formulae: docs/decision.md and docs/prices.md; names as in offers.parquet.
// Inputs: work (number), days, months, kwh, price, rent (% a year), spotPrice, spotRate (times today's), providers (times
// today's by name), within (hours), spend; null: as the study has it, or no limit. interruptible: allowed or not.
const whatIfModel = (() => {
  const zero = (value, other = 0) => (value === null || value === undefined ? other : value);
  const given = (value) => value !== null && value !== undefined;
  const INTERRUPTIBLE = ["spot", "preemptible"];
  const isInterruptible = (offer) => INTERRUPTIBLE.includes(offer.purchase);

  const rowsOf = (columns) => {
    const names = Object.keys(columns), size = names.length ? columns[names[0]].length : 0;
    return Array.from({ length: size }, (_, row) => Object.fromEntries(names.map((name) => [name, columns[name][row]])));
  };
  // The payload as rows; each job has its offer.
  function unpack(payload) {
    const offers = rowsOf(payload.offers).map((one) => ({ ...one, name: zero(one.name, one.title) }));
    const jobs = rowsOf(payload.jobs).map((job) => ({ ...job, offer: offers[job.offer] }));
    const works = payload.works.map(([workload, model, title]) => ({ workload, model, title }));
    const first = Math.max(0, works.findIndex((work) => work.model === payload.model));
    return { ...payload, offers, jobs, works, first };
  }
  const referenceOf = (data, work) => data.offers.find((one) => one.option === data.references[data.works[work].model]);

  // Owning. What is paid each month, discounted where the offer has a rate; sold by its curve, or for a fixed sum.
  const kept = (points, years) => {
    const next = points.findIndex((point) => point[0] >= years);
    if (next < 0) return points[points.length - 1][1];
    if (next === 0) return points[0][1];
    const [before, after] = [points[next - 1], points[next]];
    return before[1] + ((after[1] - before[1]) * (years - before[0])) / (after[0] - before[0]);
  };
  const sold = (o) => (o.resale && o.resale.length ? Math.min(o.capex_usd * kept(o.resale, o.months / 12), o.most) : zero(o.residual_usd));
  const payment = (o) => {
    const rate = (1 + zero(o.discount_rate)) ** (1 / 12) - 1;
    const annuity = rate === 0 ? o.months : (1 - (1 + rate) ** -o.months) / rate;
    return (o.capex_usd - sold(o) / (1 + rate) ** o.months) / annuity;
  };
  const power = (o) => zero(o.kw) * zero(o.pue, 1) * zero(o.usd_per_kwh);
  // An owned offer under the inputs. All else in its two sums (maintenance, staff) stays as the price list has it.
  function owned(offer, inputs, isReference) {
    const rest = { ...offer, most: zero(offer.capex_usd_low, offer.capex_usd) };
    const now = { ...rest, months: zero(inputs.months, offer.months), usd_per_kwh: zero(inputs.kwh, zero(offer.usd_per_kwh)),
      days_per_month: zero(inputs.days, offer.days_per_month) };
    if (isReference && given(inputs.price)) {
      now.capex_usd = inputs.price;
      now.most = offer.capex_usd > 0 ? (rest.most * inputs.price) / offer.capex_usd : inputs.price;
    }
    const works = 1 - zero(offer.downtime_share);
    now.fixed = (offer.fixed_usd_per_month + payment(now) - payment(rest)) / works;
    now.variable = offer.variable_usd_per_hour + power(now) - power(rest);
    now.paid = offer.variable_usd_per_hour;
    now.back = sold(now);
    now.hour = hourAt(now, now.days_per_month);
    now.before = hourAt({ fixed: offer.fixed_usd_per_month / works, variable: offer.variable_usd_per_hour }, offer.days_per_month);
    return now;
  }
  const hourAt = (own, days) => own.fixed / (24 * days) + own.variable;

  // Renting. Mean rent of a project over today's: month t pays (1 + change)^(t / 12), the last part of a month its fraction.
  function meanRent(change, months) {
    let paid = 0;
    for (let t = 0; t < months - 1e-9; t += 1) paid += Math.min(1, months - t) * (1 + change) ** (t / 12);
    return paid / months;
  }
  const rentChange = (offer, inputs) => (given(inputs.rent) ? inputs.rent / 100 : offer.rent_change);
  // Daly 2006: the best checkpoint interval, and machine hours an hour of work (or for a job of `work` hours, whose last
  // stretch needs no checkpoint).
  const interval = (d, m) => {
    const part = d / (2 * m);
    return d < 2 * m ? Math.sqrt(2 * d * m) * (1 + Math.sqrt(part) / 3 + part / 9) - d : m;
  };
  function stretched(o, rate, work) {
    if (!(rate > 0)) return given(work) ? work : 1;
    const m = 1 / rate, d = zero(o.checkpoint_s) / 3600, r = zero(o.restore_s) / 3600;
    let tau = given(o.every_s) ? o.every_s / 3600 : interval(d, m);
    const each = (hours, more) => m * Math.exp(r / m) * Math.expm1((hours + more) / m);
    if (!given(work)) return each(tau, d) / tau;
    tau = Math.min(tau, work);
    return (work / tau - 1) * each(tau, d) + each(tau, 0);
  }
  function rented(job, box, inputs, monthDays) {
    const o = job.offer, spot = isInterruptible(o);
    let times = zero((inputs.providers || {})[o.provider], 1) * (spot ? zero(inputs.spotPrice, 1) : 1);
    if (box && given(o.rent_change)) times *= meanRent(rentChange(o, inputs), box.months) / meanRent(o.rent_change, box.planned);
    // A contract is due whatever the use: where its list plans one, it follows the days as what is owned does.
    if (given(inputs.days) && o.fixed_usd_per_month > 0 && o.days_per_month < monthDays) {
      const hour = (days) => hourAt({ fixed: o.fixed_usd_per_month, variable: o.variable_usd_per_hour }, Math.min(days, monthDays));
      times *= hour(inputs.days) / hour(o.days_per_month);
    }
    const rate = zero(o.interruptions_per_hour), often = rate * zero(inputs.spotRate, 1);
    if (!spot || often === rate) return { hours: job.hours, usd: job.usd * times, perUsd: job.images_per_usd / times };
    const before = stretched(o, rate, job.work), machine = stretched(o, often, job.work), wait = zero(o.wait_s) / 3600;
    const rent = box && given(o.rent_change) ? meanRent(o.rent_change, box.planned) : 1;
    const more = ((machine - before) * o.usd_per_hour * rent) / zero(job.slots, 1);
    const hours = (job.hours * machine * (1 + often * wait)) / (before * (1 + rate * wait));
    return { hours, usd: (job.usd + more) * times, perUsd: (job.images_per_usd * stretched(o, rate)) / (times * stretched(o, often)) };
  }

  // The options of a work as the inputs price them, as the tables order them: USD first.
  function priced(data, inputs) {
    const reference = referenceOf(data, inputs.work);
    const own = reference && reference.purchase === "own" ? owned(reference, inputs, true) : null;
    const box = own && { ...own, planned: reference.months };
    const rows = data.jobs.filter((job) => job.work_of === inputs.work).map((job) => {
      const offer = job.offer, allowed = inputs.interruptible || !isInterruptible(offer);
      if (offer.purchase !== "own") return { job, offer, allowed, ...rented(job, box, inputs, data.month_days) };
      const now = offer === reference ? own : owned(offer, inputs, false), dearer = now.hour / now.before;
      return { job, offer, allowed, own: now, hours: job.hours, usd: job.usd * dearer, perUsd: job.images_per_usd / dearer };
    });
    rows.sort((a, b) => a.usd - b.usd);
    return { rows, reference, box };
  }

  // Days of use from which the box pays; Infinity: on none. An owned rival is used on the same days: of the box's share of
  // the month the rival's is taken, and 0 says that the box pays on the days of the inputs and on fewer.
  function paysFrom(box, row, hour, judged, monthDays) {
    const by = row.own ? (row.own.variable * judged.job.images_per_s) / row.job.images_per_s : hour;
    const share = row.own ? 24 * row.own.days_per_month * (hour - by) : 0;
    const lower = box.fixed - share, gains = by - box.variable;
    const days = gains > 0 ? Math.max(lower / (24 * gains), 0) : row.own && lower <= 24 * box.days_per_month * gains ? 0 : Infinity;
    return days <= monthDays ? days : Infinity;
  }

  // Who is compared with whom: contenders() of decision/contenders.py; break-even days; and who keeps the limits.
  function answer(data, inputs) {
    const { rows, reference, box } = priced(data, inputs);
    const kept = rows.filter((row) => row.allowed), pool = kept.length ? kept : rows;
    const products = pool.map((row) => row.usd * row.perUsd);
    const billed = Math.max(...products) > 1.05 * Math.min(...products);
    const cost = (row) => (billed ? row.usd : 1 / row.perUsd);
    const ordered = [...pool].sort((a, b) => cost(a) - cost(b)), every = [...rows].sort((a, b) => cost(a) - cost(b));
    const judged = rows.find((row) => row.offer === reference) || ordered[0];
    const other = (row) => row.offer.instance !== judged.offer.instance || row.offer.purchase !== judged.offer.purchase;
    const rival = ordered.find(other) || every.find(other);
    const winner = !rival || cost(judged) <= cost(rival) ? judged : rival;
    const hired = every.filter((row) => row.offer.purchase !== "own");
    const against = rival && rival.offer.purchase !== "own" ? rival : hired.find((row) => row.allowed) || hired[0];
    for (const row of rows) {
      const hour = (3600 * judged.job.images_per_s) / row.perUsd;
      row.days = !box || row === judged ? null : paysFrom(box, row, hour, judged, data.month_days);
      row.fits = row.allowed && row.hours <= zero(inputs.within, Infinity) && row.usd <= zero(inputs.spend, Infinity);
    }
    const fit = rows.filter((row) => row.fits), first = (list, by) => [...list].sort((a, b) => by(a) - by(b) || a.usd - b.usd)[0];
    return {
      rows, box, billed, ordered, judged, rival, winner, against, pool, fit,
      gain: rival ? cost(rival) / cost(judged) : null,
      days: box && against ? against.days : null,
      fastest: first(pool, (row) => row.hours), cheapestOfAll: every[0], cheapest: first(pool, (row) => row.usd),
      take: first(fit, (row) => row.usd), quickest: first(fit, (row) => row.hours),
    };
  }

  return { unpack, priced, answer, owned, hourAt, meanRent, rentChange, isInterruptible, referenceOf, given, zero };
})();
