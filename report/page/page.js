"use strict";
// The page is at one step of one run, and all runs are at one instant. What there
// is to know of a step was worked out beforehand; here it is looked up and shown.
(() => {
  const $ = id => document.getElementById(id);
  const data = JSON.parse($("data").textContent), sums = JSON.parse($("sums").textContent);
  const { end, words } = data;

  // Instants and spans are nanoseconds.

  const units = [[1e9, " s"], [1e6, " ms"], [1e3, " µs"], [1, " ns"]];
  const decimal = (ns, unit) => {
    const rest = String(ns % unit).padStart(String(unit).length - 1, "0").replace(/0+$/, "");
    return Math.floor(ns / unit) + (rest && "." + rest);
  };
  // clock writes an instant or a span as the pictures do.
  const clock = ns => {
    if (ns >= 1e9) ns = Math.round(ns / 1e6) * 1e6;
    else if (ns >= 1e6 && end >= 1e9) ns = Math.round(ns / 1e5) * 1e5;
    if (ns >= 6e10 && end <= 3e11) return decimal(ns, 1e9) + " s";
    const parts = [], hours = Math.floor(ns / 3.6e12), minutes = Math.floor(ns % 3.6e12 / 6e10), rest = ns % 6e10;
    if (hours) parts.push(hours + " h");
    if (minutes) parts.push(minutes + " min");
    if (rest || !parts.length) {
      const [unit, name] = !parts.length && units.find(u => rest >= u[0]) || units[0];
      parts.push(decimal(rest, unit) + name);
    }
    return parts.join(" ");
  };
  // An instant in the page's address is written as scenarios write it: 33s, 1m30s.
  const sizes = { h: 3.6e12, m: 6e10, s: 1e9, ms: 1e6, us: 1e3, "µs": 1e3, ns: 1 };
  const parse = text => {
    if (!/^(\d+(\.\d+)?(h|ms|us|µs|ns|m|s))+$/.test(text)) return NaN;
    return [...text.matchAll(/([\d.]+)(h|ms|us|µs|ns|m|s)/g)].reduce((ns, [, n, unit]) => ns + Math.round(n * sizes[unit]), 0);
  };

  // Columns hold differences.

  const running = (differences, column) => {
    let v = 0;
    return column.from(differences, d => v += d);
  };
  // upTo is how many of the sorted values are x or less.
  const upTo = (sorted, x) => {
    let low = 0, high = sorted.length;
    while (low < high) {
      const middle = low + high >> 1;
      if (sorted[middle] <= x) low = middle + 1; else high = middle;
    }
    return low;
  };
  const series = s => ({ at: running(s.at, Int32Array), v: s.v });
  const indexAt = (s, step) => upTo(s.at, step) - 1;
  const valueAt = (s, step) => s.v[indexAt(s, step)];

  const SAYS = 0, WHY = 1, RULE = 2, MATTERS = 3, CALL = 4, SPAN = 5, SUM = 6, MOVES = 7; // of a form
  const runs = data.runs.map((r, index) => {
    const picked = column => Int32Array.from(r.form.keys()).filter(i => r.forms[r.form[i]][column]);
    const run = { ...r, index, at: running(r.at, Float64Array), call: running(r.call, Int32Array), all: Int32Array.from(r.form.keys()), matters: picked(MATTERS), moves: picked(MOVES) };
    run.sums = sums.map((_, k) => Int32Array.from(run.all.filter(i => r.forms[r.form[i]][SUM] === k + 1)));
    run.breakers = r.breakers.map(b => ({ ...b, state: series(b.state), move: series(b.move), fields: b.fields.map(f => ({ ...f, ...series(f) })) }));
    return run;
  });
  const form = (r, i) => r.forms[r.form[i]];
  const line = (r, i) => {
    const f = form(r, i);
    return { at: clock(r.at[i]), text: (f[CALL] ? `call ${r.call[i]} ` : "") + words[f[SAYS]] + (f[SPAN] ? clock(r.span[i]) : ""), why: words[f[WHY]], rule: words[f[RULE]], moves: f[MOVES] };
  };

  // Where the page is.

  const usual = runs.find(r => r.breakers.length) || runs[0];
  let run = usual, step = 0, now = 0, breaker = usual.breakers[0]?.name;
  const listed = () => $("all").checked ? run.all : run.matters;
  const stepOf = r => r === run ? step : upTo(r.at, now) - 1;

  const seek = ns => {
    now = Math.min(Math.max(Math.round(ns), 0), end);
    step = Math.max(upTo(run.at, now) - 1, 0);
    show();
  };
  const goTo = i => {
    pause();
    step = i;
    now = run.at[i];
    show();
    say();
  };
  // hop goes to the next of some steps, or to the one before.
  const hop = (steps, by) => {
    const i = upTo(steps, step) - 1;
    const next = by > 0 ? i + 1 : steps[i] === step && now === run.at[step] ? i - 1 : i;
    if (next >= 0 && next < steps.length) goTo(steps[next]);
  };

  let asked = 0;
  const show = () => { asked ||= requestAnimationFrame(render); };
  const render = () => {
    asked = 0;
    placeHead();
    setText($("clock"), clock(now));
    cards.forEach(updateCard);
    updateList(true);
    noteAddress();
    document.body.dataset.step = step;
    document.body.dataset.t = now;
  };
  const setText = (e, text) => { if (e.textContent !== text) e.textContent = text; };
  const make = (tag, attributes, ...children) => {
    const e = Object.assign(document.createElement(tag), attributes);
    e.append(...children);
    return e;
  };

  // say tells the step, for those who see it and for those who do not.
  const say = () => {
    const l = line(run, step), state = run.breakers.find(b => b.name === breaker);
    const told = [l.text, l.why && "; " + l.why, l.rule && ` (${l.rule})`, ". "].join("");
    const under = runs.length > 1 ? ` under ${run.policy}` : "";
    $("say").replaceChildren(make("b", { textContent: l.at }), " " + told + (state ? `${breaker}${under} is ${words[valueAt(state.state, step)]}.` : ""));
  };

  // The timeline and its playhead.

  const pictures = [...document.querySelectorAll(".picture")], strip = $("strip"), scroller = strip.parentElement, head = $("head");
  let zoom = 0;
  const place = () => {
    const { left, right } = pictures[zoom].dataset;
    return { left: +left, wide: right - left };
  };
  const placeHead = () => {
    const { left, wide } = place(), at = left + wide * (end ? now / end : 0);
    head.style.left = at + "%";
    head.setAttribute("aria-valuenow", now / 1e9);
    head.setAttribute("aria-valuetext", `${clock(now)}: ${line(run, step).text}`);
    const x = at / 100 * strip.clientWidth, names = left / 100 * strip.clientWidth;
    if (x < scroller.scrollLeft + names || x > scroller.scrollLeft + scroller.clientWidth - 8) scroller.scrollLeft = x - (scroller.clientWidth + names) / 2;
  };
  const zoomTo = z => {
    zoom = Math.min(Math.max(z, 0), pictures.length - 1);
    pictures.forEach((p, i) => { p.hidden = i !== zoom; });
    const { zoom: times, top, bottom } = pictures[zoom].dataset;
    strip.style.setProperty("--zoom", times);
    head.style.top = top + "%";
    head.style.height = bottom - top + "%";
    $("out").disabled = zoom === 0;
    $("in").disabled = zoom === pictures.length - 1;
    show();
  };
  // grain is as fine as the playhead can be put: a thousandth of what is seen, or less.
  const grain = () => 10 ** Math.max(0, Math.floor(Math.log10(end / 1000 / pictures[zoom].dataset.zoom)));
  const rounded = ns => Math.round(ns / grain()) * grain();
  const drag = event => {
    const box = strip.getBoundingClientRect(), { left, wide } = place();
    pause();
    $("say").setAttribute("aria-live", "off");
    seek(rounded(((event.clientX - box.left) / box.width * 100 - left) / wide * end));
    say();
  };
  strip.addEventListener("pointerdown", event => {
    if (event.button || event.target.closest(".names") || event.pointerType === "touch" && event.target !== head) return;
    event.preventDefault();
    head.focus({ preventScroll: true });
    strip.setPointerCapture(event.pointerId);
    drag(event);
  });
  strip.addEventListener("pointermove", event => { if (strip.hasPointerCapture(event.pointerId)) drag(event); });
  strip.addEventListener("click", event => { if (event.pointerType === "touch" && !event.target.closest(".names")) drag(event); });
  for (const done of ["pointerup", "pointercancel"]) strip.addEventListener(done, () => $("say").setAttribute("aria-live", "polite"));

  // Playing.

  let before = 0, exact = 0, frame = 0;
  const tick = time => {
    exact += Math.min(time - before, 250) / 1e3 * $("speed").value;
    before = time;
    seek(rounded(exact));
    say();
    frame = requestAnimationFrame(tick);
    if (exact >= end) pause();
  };
  const play = () => {
    if (now >= end) now = 0;
    exact = now;
    before = performance.now();
    frame = requestAnimationFrame(tick);
    showPlaying();
  };
  const pause = () => {
    if (!frame) return;
    cancelAnimationFrame(frame);
    frame = 0;
    showPlaying();
  };
  const showPlaying = () => {
    $("play").dataset.on = frame ? "yes" : "no";
    setText($("play").lastElementChild, frame ? "Pause" : "Play");
    $("say").setAttribute("aria-live", frame ? "off" : "polite");
  };
  const toggle = () => frame ? pause() : play();

  // A card for each run: the breaker's diagram and its counters.

  let cards = [];
  const written = {
    word: v => words[v],
    instant: v => clock(v),
    call: v => "call " + v,
    left: (v, f) => v > now ? `${clock(v - now)}, until ${clock(v)}` : `over since ${clock(v)}` + (f.over ? ": " + words[f.over] : ""),
  };
  const makeCard = r => {
    const b = r.breakers.find(b => b.name === breaker), card = { run: r, b, root: make("article", { className: "card" }), sums: make("p") };
    card.root.dataset.policy = r.policy;
    if (runs.length > 1) card.root.append(make("h3", { textContent: r.policy }), make("p", { textContent: r.about }));
    if (b) card.root.append(...makeBreaker(card, b));
    else card.root.append(make("p", { className: "state", textContent: r.breakers.length ? `No breaker ${breaker}.` : "No breaker." }));
    card.root.append(card.sums);
    return card;
  };
  const makeBreaker = (card, b) => {
    card.state = make("b");
    card.since = make("span");
    card.diagram = make("div", { className: "diagram" }, $("diagram-" + b.diagram).content.cloneNode(true));
    card.diagram.setAttribute("role", "img");
    card.fields = b.fields.map(f => {
      const value = make("dd");
      value.dataset.field = f.name;
      return { f, value, row: make("div", {}, make("dt", {}, f.label, ...f.name.includes("_") ? [" ", make("code", { textContent: f.name })] : []), value) };
    });
    const known = card.fields.length ? [make("dl", {}, ...card.fields.map(f => f.row))] : [];
    return [make("p", { className: "state" }, b.name + " is ", card.state, card.since), card.diagram, ...known];
  };
  const updateCard = card => {
    const r = card.run, i = stepOf(r);
    setText(card.sums, sums.map((name, k) => `${name}: ${upTo(r.sums[k], i).toLocaleString("en")}`).join(" · "));
    card.root.classList.toggle("chosen", r === run);
    if (!card.b) return;
    const { state, move } = card.b, k = indexAt(move, i), is = words[valueAt(state, i)], last = move.v[k] < 0 ? "" : words[move.v[k]];
    setText(card.state, is);
    setText(card.since, last && ` for ${clock(now - r.at[move.at[k]])}`);
    for (const { f, value } of card.fields) {
      const v = valueAt(f, i);
      setText(value, v < 0 ? "–" : written[f.as](v, f));
    }
    light(card, is, last);
  };
  // light shows the state in the diagram, and the way that led there.
  const light = (card, is, last) => {
    if (card.lit === is + last) return;
    card.lit = is + last;
    const [from, to, rule] = last.split(" ");
    card.diagram.setAttribute("aria-label", `States of ${card.b.name}. Now ${is}` + (last && `; it came from ${from} to ${to} by ${rule}`));
    for (const g of card.diagram.querySelectorAll("[data-state]")) g.classList.toggle("on", g.dataset.state === is);
    for (const g of card.diagram.querySelectorAll("[data-move]")) g.classList.toggle("on", g.dataset.move.split(", ").includes(last));
  };
  const choose = (r, name) => {
    run = r;
    breaker = name;
    step = Math.max(upTo(run.at, now) - 1, 0);
    $("policy").value = run.policy;
    $("breaker").value = breaker ?? "";
    cards = runs.map(makeCard);
    $("cards").replaceChildren(...cards.map(c => c.root));
    relist();
    say();
  };

  // The list has elements only for the rows that can be seen.

  const list = $("list"), rows = $("rows"), rowHeight = 48, pool = [];
  const relist = () => {
    const n = listed().length;
    rows.style.height = n * rowHeight + "px";
    setText($("count"), $("all").checked ? `${n.toLocaleString("en")} events` : `${n.toLocaleString("en")} of ${run.all.length.toLocaleString("en")} that matter`);
    pool.forEach(row => { row.k = -1; });
    const longest = Math.max(...run.matters.subarray(0, 500).map(i => clock(run.at[i]).length));
    rows.style.setProperty("--time", longest + "ch");
    show();
  };
  const makeRow = () => {
    const row = { root: make("div", { className: "row" }), at: make("time"), text: make("span"), rule: make("kbd"), why: make("small"), k: -1 };
    row.root.setAttribute("role", "option");
    row.root.append(row.at, row.text, row.rule, row.why);
    row.root.addEventListener("click", () => goTo(listed()[row.k]));
    rows.append(row.root);
    return row;
  };
  const updateList = follow => {
    const steps = listed(), current = upTo(steps, step) - 1, top = current * rowHeight, height = list.clientHeight;
    if (follow && (top < list.scrollTop || top + rowHeight > list.scrollTop + height)) list.scrollTop = top - (height - rowHeight) / 2;
    const first = Math.max(0, Math.floor(list.scrollTop / rowHeight) - 1), many = Math.ceil(height / rowHeight) + 3;
    while (pool.length < many) pool.push(makeRow());
    for (const [p, row] of pool.entries()) {
      const k = first + ((p - first) % pool.length + pool.length) % pool.length; // a row stays with its element while both are seen
      row.root.hidden = k >= steps.length;
      if (!row.root.hidden) fill(row, steps, k, k === current);
    }
    list.setAttribute("aria-activedescendant", current < 0 ? "" : "row-" + current);
  };
  const fill = (row, steps, k, selected) => {
    row.root.setAttribute("aria-selected", selected);
    if (row.k === k) return;
    row.k = k;
    const l = line(run, steps[k]);
    row.root.id = "row-" + k;
    row.root.style.top = k * rowHeight + "px";
    row.root.setAttribute("aria-posinset", k + 1);
    row.root.setAttribute("aria-setsize", steps.length);
    setText(row.at, l.at);
    setText(row.text, l.text);
    setText(row.why, l.why);
    setText(row.rule, l.rule);
    row.text.classList.toggle("moves", !!l.moves);
    row.root.title = l.why ? `${l.text}: ${l.why}` : l.text;
  };
  list.addEventListener("scroll", () => updateList(false));

  // The address holds the moment: #t=33s&policy=breaker&breaker=search.

  let noted = 0;
  const address = () => {
    const parts = [`t=${decimal(now, 1e9)}s`];
    if (run !== usual) parts.push("policy=" + encodeURIComponent(run.policy));
    if (breaker !== undefined && $("breaker").selectedIndex > 0) parts.push("breaker=" + encodeURIComponent(breaker));
    return "#" + parts.join("&");
  };
  const noteAddress = () => {
    noted ||= setTimeout(() => { // browsers take only so many a second
      noted = 0;
      if (location.hash !== address()) history.replaceState(null, "", address());
    }, 300);
  };
  const readAddress = () => {
    const asks = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B")), t = parse(asks.get("t") ?? "0s");
    pause();
    now = Math.min(t || 0, end);
    choose(runs.find(r => r.policy === asks.get("policy")) || usual, names.includes(asks.get("breaker")) ? asks.get("breaker") : names[0]);
  };
  addEventListener("hashchange", () => { if (location.hash !== address()) readAddress(); });

  // What is to be chosen, and the keys.

  const names = [...new Set(runs.flatMap(r => r.breakers.map(b => b.name)))];
  const offer = (select, label, values) => {
    select.append(...values.map(v => new Option(v, v)));
    label.hidden = values.length < 2;
  };
  offer($("policy"), $("policies"), runs.map(r => r.policy));
  offer($("breaker"), $("breakers"), names);
  $("policy").addEventListener("change", event => choose(runs[event.target.selectedIndex], breaker));
  $("breaker").addEventListener("change", event => choose(run, event.target.value));
  $("all").addEventListener("change", relist);

  const dark = matchMedia("(prefers-color-scheme: dark)"), root = document.documentElement;
  const isDark = () => (root.dataset.theme || (dark.matches ? "dark" : "light")) === "dark";
  const showTheme = () => $("theme")?.setAttribute("aria-pressed", isDark());
  $("theme")?.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; showTheme(); });
  dark.addEventListener("change", showTheme);

  const acts = {
    back: () => hop(listed(), -1), forward: () => hop(listed(), 1), start: () => goTo(0), finish: () => goTo(run.all.length - 1),
    backState: () => hop(run.moves, -1), forwardState: () => hop(run.moves, 1), play: toggle, in: () => zoomTo(zoom + 1), out: () => zoomTo(zoom - 1),
    help: () => $("keys").showModal(), all: () => $("all").click(),
  };
  for (const id of ["back", "forward", "start", "play", "in", "out", "help"]) $(id).addEventListener("click", acts[id]);
  const keys = { ArrowLeft: "back", ArrowRight: "forward", Home: "start", End: "finish", "[": "backState", "]": "forwardState", " ": "play", "+": "in", "=": "in", "-": "out", "?": "help", a: "all" };
  const listKeys = { ...keys, ArrowUp: "back", ArrowDown: "forward", PageUp: "backState", PageDown: "forwardState" };
  addEventListener("keydown", event => {
    const at = event.target, steps = at === list || at === head;
    if (event.ctrlKey || event.metaKey || event.altKey || $("keys").open || at.matches("select") || at.matches("button, input, summary") && event.key === " ") return;
    const act = acts[(steps ? listKeys : keys)[event.key]];
    if (!act) return;
    event.preventDefault();
    act();
  });
  addEventListener("resize", show);

  head.setAttribute("aria-valuemax", end / 1e9);
  showPlaying();
  showTheme();
  readAddress();
  zoomTo(0);
  document.body.dataset.ready = "yes";
})();
