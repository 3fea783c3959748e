"use strict";
// What work costs at the controls: two costs over one set of prices (docs/decision.md, docs/prices.md). Pure functions of the
// figures (report/case.py; names as in offers.parquet) and of `at`, what the controls say: days, months (of the project), kwh, jobs,
// price (of the work's box), price:OPTION, hourly (of its rental), rent (% a year), spot-price, spot-rate, provider:NAME (times
// today's), within, spend, interruptible; what is missing is as planned.
const model = (() => {
  const given = (value) => value !== null && value !== undefined, zero = (value, other = 0) => (given(value) ? value : other);
  const sum = (list, of) => list.reduce((all, one) => all + of(one), 0);
  const isInterruptible = (offer) => ["spot", "preemptible"].includes(offer.purchase), owns = (offer) => Boolean(offer) && offer.purchase === "own";
  const SLIGHT = 1e-9; // as in the workflow's rounds
  // The figures, in which what names an offer by its number has it.
  function unpack(figures) {
    const { offers } = figures, options = ({ options: all }) => all.map((one) => ({ ...one, offer: offers[one.offer] }));
    const works = figures.works.map((work) => ({ ...work, reference: offers[work.reference], box: offers[work.box], rent: offers[work.rent], options: options(work) }));
    return { ...figures, works, first: Math.max(0, works.findIndex((work) => work.first)) };
  }
  // Owning. What is paid each month, discounted where the offer has a rate; sold by its curve, or for a fixed sum.
  const kept = (points, years) => {
    const next = points.findIndex((point) => point[0] >= years), [before, after] = [points[next - 1], points[next]];
    if (next < 1) return points[next < 0 ? points.length - 1 : 0][1];
    return before[1] + ((after[1] - before[1]) * (years - before[0])) / (after[0] - before[0]);
  };
  const sold = (o) => (o.resale && o.resale.length ? Math.min(o.capex_usd * kept(o.resale, o.months / 12), o.most) : zero(o.residual_usd));
  const payment = (o, months = o.months) => {
    const rate = (1 + zero(o.discount_rate)) ** (1 / 12) - 1, annuity = rate === 0 ? months : (1 - (1 + rate) ** -months) / rate;
    return (o.capex_usd - sold(o) / (1 + rate) ** months) / annuity;
  };
  const power = (o) => zero(o.kw) * zero(o.pue, 1) * zero(o.usd_per_kwh);
  const hourAt = (own, days) => own.fixed / (24 * days) + own.variable;
  // All else in its two sums (maintenance, staff) stays as the price list has it. `month`: USD of possession, `fixed` by the
  // hours in which it works.
  function owned(o, at, work) {
    const planned = { ...o, most: zero(o.capex_usd_low, o.capex_usd) }, works = 1 - zero(o.downtime_share);
    const price = zero(o === work.box ? at.price : at[`price:${o.option}`], o.capex_usd);
    const now = { ...planned, months: zero(at.months, o.months), usd_per_kwh: zero(at.kwh, zero(o.usd_per_kwh)), capex_usd: price,
      days_per_month: zero(at.days, o.days_per_month), most: o.capex_usd > 0 ? (planned.most * price) / o.capex_usd : price };
    now.month = o.fixed_usd_per_month + (o.months > 0 ? payment(now) - payment(planned) : 0);
    Object.assign(now, { fixed: now.month / works, variable: o.variable_usd_per_hour + power(now) - power(planned), paid: o.variable_usd_per_hour, back: sold(now) });
    const before = hourAt({ fixed: o.fixed_usd_per_month / works, variable: o.variable_usd_per_hour }, o.days_per_month);
    return { ...now, before, hour: hourAt(now, now.days_per_month), running: o.variable_usd_per_hour ? now.variable / o.variable_usd_per_hour : 1 };
  }
  // Renting. Mean rent of a project over today's: month t pays (1 + change)^(t / 12), the last part of a month its fraction.
  const meanRent = (change, months) => sum(Array.from({ length: Math.ceil(months - 1e-9) }, (_, t) => t), (t) => Math.min(1, months - t) * (1 + change) ** (t / 12)) / months;
  const rentChange = (offer, at) => (given(at.rent) ? at.rent / 100 : offer.rent_change);
  // The length of the project: that of its plan, else of what the box is bought for; and how many times as long it is as planned.
  const length = (work) => (work.cost === "share" ? (owns(work.reference) ? work.reference.months : null) : work.months);
  const longer = (work, at) => (work.cost !== "share" && given(work.months) ? zero(at.months, work.months) / work.months : 1);
  // Months of the whole terms of a contract that last for so many months: at least one term.
  const terms = (o, months) => Math.max(1, Math.ceil(months / o.term_months - SLIGHT)) * o.term_months;
  // Times what an offer by the hour or contract asks, in the mean of the project.
  function dearer(o, at, work) {
    const planned = length(work), months = zero(at.months, planned);
    const path = given(o.rent_change) && planned > 0 ? meanRent(rentChange(o, at), months) / meanRent(o.rent_change, planned) : 1;
    const hour = (isInterruptible(o) || o.purchase === "on_demand") && given(at.hourly) ? at.hourly / work.rent.usd_per_hour : 1;
    return path * hour * zero(at[`provider:${o.provider}`], 1) * (isInterruptible(o) ? zero(at["spot-price"], 1) : 1);
  }
  // Daly 2006: the best checkpoint interval; machine hours an hour of work, or of a job, whose last stretch needs no checkpoint.
  const interval = (d, m) => (d < 2 * m ? Math.sqrt(2 * d * m) * (1 + Math.sqrt(d / (2 * m)) / 3 + d / (18 * m)) - d : m);
  function stretched(o, rate, work) {
    if (!(rate > 0)) return zero(work, 1);
    const m = 1 / rate, d = zero(o.checkpoint_s) / 3600, r = zero(o.restore_s) / 3600;
    const tau = given(o.every_s) ? o.every_s / 3600 : interval(d, m), each = (hours, more) => m * Math.exp(r / m) * Math.expm1((hours + more) / m);
    if (!given(work)) return each(tau, d) / tau;
    const last = Math.min(tau, work);
    return (work / last - 1) * each(last, d) + each(last, 0);
  }
  const often = (o, at) => [zero(o.interruptions_per_hour), zero(o.interruptions_per_hour) * (isInterruptible(o) ? zero(at["spot-rate"], 1) : 1)];
  // Share: a job, as often as the planned use of what is held allows. The options of a work, USD first.
  function rented(job, at, work, monthDays) {
    const o = job.offer, [rate, now] = often(o, at);
    let times = dearer(o, at, work);
    // A contract is due whatever the use: where its list plans one, it follows the days as what is owned does.
    if (given(at.days) && o.fixed_usd_per_month > 0 && o.days_per_month < monthDays) {
      const hour = (days) => hourAt({ fixed: o.fixed_usd_per_month, variable: o.variable_usd_per_hour }, Math.min(days, monthDays));
      times *= hour(at.days) / hour(o.days_per_month);
    }
    if (now === rate) return { hours: job.hours, usd: job.usd * times, perUsd: job.images_per_usd / times };
    const before = stretched(o, rate, job.work), machine = stretched(o, now, job.work), wait = zero(o.wait_s) / 3600;
    const rent = owns(work.reference) && given(o.rent_change) ? meanRent(o.rent_change, work.reference.months) : 1;
    const more = ((machine - before) * o.usd_per_hour * rent) / zero(job.slots, 1);
    const hours = (job.hours * machine * (1 + now * wait)) / (before * (1 + rate * wait));
    return { hours, usd: (job.usd + more) * times, perUsd: (job.images_per_usd * stretched(o, rate)) / (times * stretched(o, now)) };
  }
  function share(data, work, at) {
    const box = owns(work.reference) ? owned(work.reference, at, work) : null;
    const rows = work.options.map((job) => {
      const offer = job.offer, one = { job, offer, title: offer.title, alternative: offer.option, allowed: at.interruptible || !isInterruptible(offer) };
      if (!owns(offer)) return { ...one, ...rented(job, at, work, data.month_days) };
      const own = offer === work.reference ? box : owned(offer, at, work), times = own.hour / own.before;
      return { ...one, own, hours: job.hours, usd: job.usd * times, perUsd: job.images_per_usd / times };
    });
    return { box, rows: rows.sort((a, b) => a.usd - b.usd) };
  }
  // Rounds: a plan of phases on whole machines. Rounds of jobs on the machine that has most of them, and of all together.
  const dealt = ([jobs, slots], machines) => {
    const used = Math.min(machines, Math.ceil(jobs / slots)), each = Math.floor(jobs / used), more = jobs - each * used;
    const whole = Math.ceil(each / slots), longer = Math.ceil((each + 1) / slots);
    return [more > 0 ? longer : whole, longer * more + whole * (used - more)];
  };
  // Machines held, hours to the end, USD (infinite where no number of machines is enough) of one option.
  function planned(one, work, at) {
    const o = one.offer, own = owns(o) ? owned(o, at, work) : null, more = (longer(work, at) * zero(at.jobs, work.jobs)) / work.jobs;
    const signed = (months) => (given(o.term_months) ? Math.max(o.term_months, work.renewed ? terms(o, months) : 0) : 1);
    const [rate, now] = often(o, at), length = !own ? signed(longer(work, at) * work.months) / signed(work.months) : given(work.months) ? longer(work, at) : own.months / o.months;
    const times = own ? own.running : (dearer(o, at, work) * stretched(o, now)) / stretched(o, rate);
    const held = (one.held / one.machines) * (own ? (o.fixed_usd_per_month ? own.month / o.fixed_usd_per_month : 1) : times) * length;
    const usd = (n) => held * n + times * more * sum(one.phases, (phase) => (phase[3] * dealt(phase, n)[1]) / dealt(phase, one.machines)[1]);
    if (!given(one.room)) return { machines: one.machines, hours: one.hours * more, usd: usd(one.machines) };
    const room = one.room * length * (own ? own.days_per_month / o.days_per_month : 1), most = Math.max(...one.phases.map(([jobs]) => jobs));
    const taken = (n) => sum(one.phases, (phase) => dealt(phase, n)[0] * phase[2] * more), short = (n) => taken(n) > room * (1 + SLIGHT);
    let n = one.least;
    while (short(n) && n < most) n = Math.min(most, Math.max(n + 1, Math.ceil((n * taken(n)) / room - SLIGHT)));
    return { machines: n, hours: taken(n), usd: short(n) ? Infinity : usd(n) };
  }
  function rounds(data, work, at) {
    const rows = work.options.map((one) => ({ offer: one.offer, alternative: one.alternative, allowed: one.taken || Boolean(at.interruptible), ...planned(one, work, at) }));
    for (const row of rows) row.title = row.machines > 1 ? `${row.machines} × ${row.offer.title}` : row.offer.title;
    return { rows: rows.filter((row) => Number.isFinite(row.usd)).sort((a, b) => a.usd - b.usd) };
  }
  // Each choice of the answer's work, by its key; missing where nothing here does it.
  function choices(data, work, at) {
    return Object.fromEntries((work.cost === "share" ? share : rounds)(data, work, at).rows.map((row) => [row.offer.option, row]));
  }
  // Days of use from which the box pays; Infinity: on none. An owned rival is used on the same days, and a contract is due:
  // of the box's share of the month the rival's is taken, and 0 says that the box pays on the days of the controls and fewer.
  function paysFrom(box, row, judged, monthDays) {
    const hour = (3600 * judged.job.images_per_s) / row.perUsd, by = row.own ? (row.own.variable * judged.job.images_per_s) / row.job.images_per_s : given(row.offer.days_per_month) ? 0 : hour;
    const lower = box.fixed - 24 * (row.own || box).days_per_month * (hour - by), gains = by - box.variable;
    const days = gains > 0 ? Math.max(lower / (24 * gains), 0) : lower <= 24 * box.days_per_month * gains ? 0 : Infinity;
    return days <= monthDays ? days : Infinity;
  }
  // What a work comes to: the options, who is compared with whom (contenders() of decision/contenders.py), break-even days of a job, and who keeps the limits.
  function answer(data, work, at) {
    const shared = work.cost === "share", { rows, box } = (shared ? share : rounds)(data, work, at);
    const kept = rows.filter((row) => row.allowed), pool = kept.length ? kept : rows, products = pool.map((row) => row.usd * zero(row.perUsd, 1));
    const billed = !shared || Math.max(...products) > 1.05 * Math.min(...products), cost = (row) => (billed ? row.usd : 1 / row.perUsd);
    const inOrder = (list) => [...list].sort((a, b) => cost(a) - cost(b)), ordered = inOrder(pool), every = inOrder(rows);
    const judged = (shared && rows.find((row) => row.offer === work.reference)) || ordered[0];
    const other = (row) => (shared ? row.offer.instance !== judged.offer.instance || row.offer.purchase !== judged.offer.purchase : row.alternative !== judged.alternative);
    const rival = ordered.find(other) || every.find(other), hired = every.filter((row) => !owns(row.offer));
    const against = rival && !owns(rival.offer) ? rival : hired.find((row) => row.allowed) || hired[0];
    for (const row of rows) {
      row.days = !box || row === judged ? null : paysFrom(box, row, judged, data.month_days);
      row.fits = row.allowed && row.hours <= zero(at.within, Infinity) && row.usd <= zero(at.spend, Infinity);
    }
    const fit = rows.filter((row) => row.fits), first = (list, by) => [...list].sort((a, b) => by(a) - by(b) || a.usd - b.usd)[0];
    return { rows, box, ordered, judged, rival, against, pool, fit, winner: !rival || cost(judged) <= cost(rival) ? judged : rival,
      gain: rival ? cost(rival) / cost(judged) : null, days: box && against ? against.days : null,
      fastest: first(pool, (row) => row.hours), cheapest: first(pool, (row) => row.usd), take: first(fit, (row) => row.usd), quickest: first(fit, (row) => row.hours) };
  }
  // Figures in words. One formatter for each number of places: making one takes longer than all else that an answer needs.
  const formats = Array.from({ length: 7 }, (_, places) => new Intl.NumberFormat("en-US", { minimumFractionDigits: places, maximumFractionDigits: places }));
  const digits = (value, places) => formats[Math.max(0, Math.min(6, places))].format(value);
  const number = (value, wanted = 3) => (!Number.isFinite(value) ? "never" : value === 0 ? "0" : digits(value, wanted - 1 - Math.floor(Math.log10(Math.abs(value)))));
  const times = (value) => digits(value, value >= 10 ? 0 : Math.abs(value - 1) < 0.1 ? 2 : value >= 1 ? 1 : 2);
  const plain = (value) => (value >= 100 ? digits(value, 0) : String(Number(value.toPrecision(3))));
  return { unpack, answer, choices, owned, isInterruptible, given, zero, number, times, plain };
})();
