"use strict";
// What work costs at the controls: three costs over one set of prices (docs/decision.md, docs/prices.md). Pure functions of the
// figures (report/case.py; names as in offers.parquet) and of `at`, what the controls say: days, months (of the project), kwh, jobs, jobs:CLASS,
// price (of the work's box), price:OPTION, hourly (of its rental), rent (% a year), spot-price, spot-rate, provider:NAME (times
// today's), within, deadline (of urgent jobs; hours), spend, interruptible; what is missing is as planned.
const model = (() => {
  const given = (value) => value !== null && value !== undefined, zero = (value, other = 0) => (given(value) ? value : other);
  const sum = (list, of) => list.reduce((all, one) => all + of(one), 0);
  const isInterruptible = (offer) => ["spot", "preemptible"].includes(offer.purchase), owns = (offer) => Boolean(offer) && offer.purchase === "own";
  const least = (list) => list.reduce((a, b) => (b.usd < a.usd ? b : a));
  const SLIGHT = 1e-9, ALLOWED = 0.01, ORDERED = 3; // as in the workflow's rounds and dispatch
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
  const left = (o) => Math.max(o.months - zero(o.delivery_months), o.months / 1000); // months in which it is there
  const power = (o) => zero(o.kw) * zero(o.pue, 1) * zero(o.usd_per_kwh);
  const hourAt = (own, days) => own.fixed / (24 * days) + own.variable;
  // All else in its two sums (maintenance, staff) stays as the price list has it. `month`: USD of possession, `fixed` by the
  // hours in which it works; `held`: times what is planned for having one that is delivered.
  function owned(o, at, work) {
    const planned = { ...o, most: zero(o.capex_usd_low, o.capex_usd) }, works = 1 - zero(o.downtime_share);
    const price = zero(o === work.box ? at.price : at[`price:${o.option}`], o.capex_usd);
    const now = { ...planned, months: zero(at.months, o.months), usd_per_kwh: zero(at.kwh, zero(o.usd_per_kwh)), capex_usd: price,
      days_per_month: zero(at.days, o.days_per_month), most: o.capex_usd > 0 ? (planned.most * price) / o.capex_usd : price };
    now.month = o.fixed_usd_per_month + (o.months > 0 ? payment(now) - payment(planned) : 0);
    const care = o.fixed_usd_per_month - payment(planned), held = (one) => ((payment(one, left(one)) + care) * left(one)) / one.months;
    Object.assign(now, { held: held(now) / held(planned), fixed: now.month / works, variable: o.variable_usd_per_hour + power(now) - power(planned), paid: o.variable_usd_per_hour, back: sold(now) });
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
  // Dispatch: classes of jobs a month. The problem at the controls: kinds held, offers by the hour; infinite: it does not run.
  function posed(data, work, at) {
    const limit = (one) => zero(one.urgent && given(at.deadline) ? at.deadline : one.limit, Infinity), most = (days) => Math.min(days, data.month_days);
    const long = longer(work, at), months = work.months * long, left = (o, all) => all - zero(o.delivery_months);
    // USD a month of one machine: of one that is there its care, and what it would sell for by the month; of a contract whole terms.
    function held(one, o, own, times) {
      const care = zero(o.maintenance_usd_per_month) + zero(o.staff_usd_per_month);
      if (one.there && own) return care + (one.fixed - care) / long;
      if (own) return one.fixed * own.held;
      return one.fixed * times * (given(o.term_months) ? terms(o, left(o, months)) / terms(o, left(o, work.months)) / long : 1);
    }
    const sources = work.options.map((one) => {
      const o = one.offer, own = owns(o) ? owned(o, at, work) : null, times = own ? own.running : dearer(o, at, work);
      const able = (values) => values.map((value, n) => (given(value) && one.elapsed[n] <= limit(work.classes[n]) ? value : Infinity));
      const price = zero(one.up_front) * (own && o.capex_usd > 0 ? own.capex_usd / o.capex_usd : 1);
      return { ...one, option: o.option, price, hours: able(one.hours), usd: able(one.usd).map((usd) => usd * times),
        fixed: held(one, o, own, times), room: one.room && one.room * (own ? most(own.days_per_month) / most(o.days_per_month) : 1) };
    });
    const kinds = sources.filter((one) => given(one.room)), there = kinds.map((one) => one.there), best = kinds.map((one) => one.best);
    // Months that are alike, once: the factor of each class's jobs and the share of the month in which a kind is there. At most 36
    // stand for all of them; in a longer or shorter project jobs grow on as fast, and what is delivered comes as late.
    const by = [...work.classes.map((one) => one.grown), ...kinds.map((one) => one.present)], before = Math.max(1, ...by.map((list) => zero(list, []).length)), alike = {};
    const count = before === 1 ? 1 : long === 1 ? before : Math.max(1, Math.min(36, Math.ceil(months))), size = (all, n) => all / n;
    const grown = (list, t) => list[0] * (list[1] / list[0]) ** ((t * size(months, count) + (size(months, count) - size(work.months, before)) / 2) / size(work.months, before));
    const present = (o, t) => Math.min(1, Math.max(0, ((t + 1) * size(months, count) - zero(o.delivery_months)) / size(months, count)));
    for (let t = 0; t < count; t += 1) {
      const factors = by.map((list, n) => (!list ? 1 : long === 1 ? list[t] : n < work.classes.length ? grown(list, t) : present(kinds[n - work.classes.length].offer, t))), key = factors.join(" ");
      alike[key] = { factors, share: (alike[key] ? alike[key].share : 0) + 1 / count };
    }
    return { jobs: work.classes.map((one) => zero(at[`jobs:${one.name}`], one.jobs)), held: kinds, there, best, rented: sources.filter((one) => !given(one.room)), months: Object.values(alike), allowed: zero(work.allowed, Infinity) };
  }
  // Kinds held, filled one after another, each with the jobs that are worth most by its hour; the rest is rented. In order of merit
  // (what a unit of work costs to run there over the least of all kinds, mean over the classes) and in all other orders, a job's
  // worth also held against the other kinds, as if their hours were free: the cheapest is taken.
  const orders = (places) => (places.length < 2 || places.length > ORDERED ? [places] : places.flatMap((one) => orders(places.filter((other) => other !== one)).map((rest) => [one, ...rest])));
  function dispatched({ jobs, held, rented }, counts) {
    const all = jobs.map((_, job) => job), prices = all.map((job) => rented.map((one) => one.usd[job])), rent = prices.map((usd) => Math.min(Infinity, ...usd)), runs = (n, job) => Number.isFinite(held[n].hours[job]);
    const ratios = (kind) => all.map((job) => kind.usd[job] / Math.min(...held.map((one) => one.usd[job]))).filter((ratio) => Number.isFinite(ratio));
    const dear = held.map(ratios).map((of) => sum(of, (ratio) => ratio) / Math.max(1, of.length));
    function filled(order, beside) {
      const left = [...jobs], hours = held.map(() => 0), room = held.map((kind, n) => counts[n] * kind.room), few = all.map((job) => 1 - SLIGHT * order.filter((n) => runs(n, job)).length);
      let usd = 0;
      for (const others of beside ? [true, false] : [false]) for (const place of order) {
        const kind = held[place], elsewhere = all.map((job) => Math.min(rent[job], ...(others ? order.filter((n) => n !== place && runs(n, job)).map((n) => held[n].usd[job]) : [])));
        const worth = all.map((job) => (runs(place, job) ? (few[job] * (elsewhere[job] - kind.usd[job])) / kind.hours[job] : -Infinity));
        for (const job of [...all].sort((a, b) => (worth[a] === worth[b] ? a - b : worth[b] - worth[a])).filter((one) => worth[one] > 0)) {
          const done = Math.min(left[job], room[place] / kind.hours[job]);
          left[job] -= done; room[place] -= done * kind.hours[job]; hours[place] += done * kind.hours[job] * kind.devices; usd += done * kind.usd[job];
        }
      }
      const never = all.filter((job) => !Number.isFinite(rent[job]));
      return { left, hours, late: sum(never, (job) => left[job]), usd: usd + sum(all.filter((job) => !never.includes(job)), (job) => left[job] * rent[job]) };
    }
    const first = held.map((_, n) => n).filter((n) => counts[n]).sort((a, b) => dear[a] - dear[b] || a - b);
    let best = filled(first, false);
    for (const [order, beside] of first.length < 2 || jobs.length < 2 ? [] : orders(first).flatMap((order) => [[order, true], [order, false]])) {
      const way = filled(order, beside);
      if (way.late < best.late - SLIGHT || (way.late < best.late + SLIGHT && way.usd < best.usd)) best = way;
    }
    const { left } = best, open = all.filter((job) => left[job] > 0), can = open.filter((job) => Number.isFinite(rent[job])), waits = open.some((job) => !can.includes(job) && left[job] > ALLOWED * jobs[job]);
    const taken = (n) => sum(can.filter((job) => prices[job].indexOf(rent[job]) === n), (job) => left[job] * rented[n].hours[job]);
    const done = [...held.map(({ offer }, n) => [offer, best.hours[n]]), ...rented.map(({ offer }, n) => [offer, taken(n)])];
    const bought = held.flatMap(({ offer, there }, n) => (counts[n] > there ? [[offer, counts[n] - there]] : []));
    return { counts, bought, done, usd: waits ? Infinity : best.usd + sum(held.map((kind, n) => counts[n] * kind.fixed), (usd) => usd) };
  }
  // The mean of the months.
  function dispatch(problem, counts) {
    const { jobs, held } = problem, ways = problem.months.map(({ factors, share }) => ({ share, ...dispatched({ ...problem, jobs: jobs.map((all, job) => all * factors[job]),
      held: held.map((kind, n) => ({ ...kind, room: kind.room * factors[jobs.length + n] })) }, counts) }));
    const mean = (of) => sum(ways, (way) => way.share * of(way)), paid = sum(held.map((kind, n) => Math.max(0, counts[n] - kind.there) * kind.price), (usd) => usd);
    const usd = paid > problem.allowed ? Infinity : mean((way) => way.usd);
    return { ...ways[0], done: ways[0].done.map(([offer], n) => [offer, mean((way) => way.done[n][1])]), usd };
  }
  // The cheapest numbers of the kinds at `places`, at least `more` than are there: from `starts` on, or twice as many that do the work.
  function climbed(problem, places, starts, more = 0) {
    const bought = (counts) => sum(counts.map((count, n) => Math.max(0, count - problem.there[n])), (one) => one);
    const twice = ({ counts }) => dispatch(problem, counts.map((count, n) => (places.includes(n) ? Math.max(1, 2 * count) : count)));
    const enough = (here, left = 12) => (Number.isFinite(here.usd) || !left ? here : least([here, enough(twice(here), left - 1)]));
    return least(starts.map((start) => {
      for (let here = enough(dispatch(problem, start)), next; ; here = next) {
        const near = places.flatMap((n) => [-1, 1].map((step) => here.counts.map((count, m) => count + (m === n ? step : 0))));
        next = least([here, ...near.filter((counts) => bought(counts) >= more && counts.every((count, n) => count >= problem.held[n].fewest)).map((counts) => dispatch(problem, counts))]);
        if (next === here) return here;
      }
    }));
  }
  const movable = ({ held }) => held.map((_, n) => n).filter((n) => !held[n].fewest);
  // One of the choices of a plan of months: the best mix, what is there alone, one machine or one offer beside what is there
  // (what that cannot do, the others do).
  function mix(problem, { mix: kind, source }) {
    const { there, best, rented } = problem, place = problem.held.findIndex((one) => one.option === source), chosen = rented.find((one) => one.option === source);
    const only = (one) => (one === chosen ? one : { ...one, usd: one.usd.map((usd, job) => (Number.isFinite(chosen.usd[job]) ? Infinity : usd)) });
    if (kind === "there" || chosen) return dispatch({ ...problem, rented: chosen ? rented.map(only) : [] }, there);
    if (kind === "rented") return dispatch(problem, there); // on several offers
    if (kind === "sold") return dispatch(problem, problem.held.map((one) => one.fewest));
    if (place >= 0) return climbed(problem, [place], [there.map((count, n) => count + (n === place ? Math.max(1, best[n]) : 0))], 1);
    return best.some((count, n) => count > there[n]) ? climbed(problem, movable(problem), [best], 1) : dispatch(problem, there);
  }
  // Each choice of the answer's work, by its key; missing where nothing here does it.
  function choices(data, work, at) {
    if (work.cost !== "dispatch") return Object.fromEntries((work.cost === "share" ? share : rounds)(data, work, at).rows.map((row) => [row.offer.option, row]));
    const problem = posed(data, work, at);
    const all = data.choices.map((one) => [one.choice, mix(problem, one)]); // of all months, as many as the project has
    return Object.fromEntries(all.map(([key, one]) => [key, { ...one, usd: one.usd * longer(work, at) }]));
  }
  // Days of use from which the box pays; Infinity: on none. An owned rival is used on the same days, and a contract is due:
  // of the box's share of the month the rival's is taken, and 0 says that the box pays on the days of the controls and fewer.
  function paysFrom(box, row, judged, monthDays) {
    const hour = (3600 * judged.job.images_per_s) / row.perUsd, by = row.own ? (row.own.variable * judged.job.images_per_s) / row.job.images_per_s : given(row.offer.days_per_month) ? 0 : hour;
    const lower = box.fixed - 24 * (row.own || box).days_per_month * (hour - by), gains = by - box.variable;
    const days = gains > 0 ? Math.max(lower / (24 * gains), 0) : lower <= 24 * box.days_per_month * gains ? 0 : Infinity;
    return days <= monthDays ? days : Infinity;
  }
  // What a work comes to: of months the cheapest mix and what is there, with rentals; else the options, who is compared with
  // whom (contenders() of decision/contenders.py), break-even days of a job, and who keeps the limits.
  function answer(data, work, at) {
    if (work.cost === "dispatch") {
      const problem = posed(data, work, at);
      // Where machines may be sold, from each kind alone too: one is bought for another.
      const { best, held, there } = problem, sells = held.some((one) => one.fewest < one.there);
      const alone = sells ? held.map((kind) => held.map((one) => (one === kind ? Math.max(1, one.there) : one.fewest))) : [];
      return { best: climbed(problem, movable(problem), [best, there, ...alone]), there: dispatch(problem, problem.there) };
    }
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
