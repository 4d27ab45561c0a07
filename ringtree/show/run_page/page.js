// Which run, cores and size are shown. For: wiring controls to charts and tables. Not for: drawing (charts.js).
'use strict';

class Report {
  constructor(runs) {
    this.runs = runs;
    runs.forEach((run) => { run.cells = run.cells.map(whole); });
    this.index = 0;
    equipAll();
    document.querySelectorAll('.tab').forEach((tab) => tab.addEventListener('click', () => this.choose(Number(tab.dataset.run))));
    this.place = document.getElementById('place');
    this.size = document.getElementById('size');
    this.place.addEventListener('change', () => this.showPlace());
    this.size.addEventListener('change', () => this.showSize());
    // Paper is light and narrow: what is drawn for the screen is drawn anew, and again afterwards.
    for (const media of ['(prefers-color-scheme: dark)', 'print']) window.matchMedia(media).addEventListener('change', () => this.choose(this.index));
    this.choose(0);
  }

  get run() {
    return this.runs[this.index];
  }

  choose(index) {
    this.index = index;
    document.querySelectorAll('section.run').forEach((section) => { section.hidden = Number(section.dataset.run) !== index; });
    document.querySelectorAll('.tab').forEach((tab) => {
      if (Number(tab.dataset.run) === index) tab.setAttribute('aria-current', 'true');
      else tab.removeAttribute('aria-current');
    });
    fill(this.place, this.run.places.map(({ name, title }) => [name, title]));
    drawRanks(this.run);
    document.getElementById('place-word').textContent = this.run.kind === 'log' ? 'buffers' : 'cores';
    if (this.runs.length > 1) drawSelection(this.runs, this.run);
    this.showPlace();
  }

  showPlace() {
    const place = this.place.value;
    const { run } = this;
    drawCurves(run, place);
    drawHeatmap(run, place);
    document.getElementById('figures').replaceChildren(run.kind === 'log' ? logFigures(run, place) : runFigures(run, place));
    document.getElementById('figures').closest('section').hidden = run.cells.length === 0;
    const before = Number(this.size.value);
    const sizes = [...new Set(run.rows.filter((row) => row.place === place).map((row) => row.size))];
    fill(this.size, sizes.map((size) => [String(size), words.size(size)]));
    const chosen = this.runs.length > 1 || run.cells.some((c) => c.by_launch.length > 0 || c.quantiles.length > 0);
    this.size.parentElement.hidden = !chosen || sizes.length < 2;
    if (sizes.includes(before)) this.size.value = String(before);
    else if (sizes.length > 0) this.size.value = String(sizes[Math.floor(sizes.length / 2)]);
    this.showSize();
  }

  showSize() {
    const size = Number(this.size.value);
    drawLaunches(this.run, this.place.value, size);
    if (this.runs.length > 1) drawScaling(this.runs, this.run, size);
  }
}

function runFigures(run, place) {
  const rows = run.cells.filter((c) => c.place === place).map((c) => [
    c.size, c.arm, c.time && c.time.median, intervalOf(c), c.time && c.algbw, c.time && c.busbw, c.versus && c.versus.ratio,
    c.versus && c.versus.low !== null ? words.changes(c.versus.low, c.versus.high, ' – ') : '',
    c.wrong || (c.versus ? c.versus.verdict : c.arm === run.reference ? 'reference' : ''), c.time && c.time.launches,
  ]);
  const headings = [['size', words.size], ['arm', null], ['time', words.time], ['interval', null], ['algbw', words.rate], ['busbw', words.rate],
    [`against ${run.reference}`, words.change], ['interval of it', null], ['verdict', null], ['launches', null]];
  return makeTable(`${run.collective}, ${run.num_ranks} ranks`, headings, rows);
}

// What cells leave out, of which there may be thousands: what is empty, and the interval and verdict of single runs.
function whole(c) {
  const none = { wrong: null, executed: [], by_launch: [], quantiles: [], found: [], printed: {}, share: null, algbw: null, busbw: null, derived: false };
  const single = { low: null, high: null, label: SINGLE };
  const versus = c.versus ? { ...single, verdict: 'single run', ...c.versus } : null;
  return { ...none, ...c, versus, time: c.time ? { ...single, ...c.time } : null };
}

function intervalOf(c) {
  if (!c.time) return '';
  return c.time.low === null ? SINGLE : `${words.time(c.time.low)} – ${words.time(c.time.high)}`;
}

// Figures of a log stand there as the log prints them.
function logFigures(run, place) {
  const several = run.arms.length > 1;
  const printed = (c, name, value) => (c.printed[name] === undefined ? null : { text: c.printed[name], value: value ?? -1 });
  const rows = run.cells.filter((c) => c.place === place).map((c) => [
    c.line || null, c.size, ...(several ? [c.arm] : []), printed(c, 'time', c.time && c.time.median), printed(c, 'algbw', c.algbw),
    printed(c, 'busbw', c.derived ? null : c.busbw) || (c.derived ? `${words.rate(c.busbw)} (computed)` : null), printed(c, 'wrong', 0), c.share,
    ...(several ? [c.versus && c.versus.ratio] : []), c.executed.join(', '), c.found.join(', '),
  ]);
  const headings = [['line', null], ['size', words.size], ...(several ? [['arm', null]] : []), ['time', null], ['algbw', null], ['busbw', null], ['#wrong', null],
    ['of the limit', (share) => `${words.digits(100 * share)} %`], ...(several ? [[`against ${run.reference}`, words.change]] : []), ['executed', null], ['findings', null]];
  const empty = (column) => rows.every((row) => row[column] === null || row[column] === '');
  const kept = headings.map((_, i) => i).filter((i) => !empty(i));
  return makeTable(`${run.heading}: ${SINGLE}`, kept.map((i) => headings[i]), rows.map((row) => kept.map((i) => row[i])));
}

function fill(select, options) {
  select.replaceChildren(...options.map(([value, title]) => node('option', { value }, title)));
  select.parentElement.hidden = options.length < 2;
}

window.report = new Report(JSON.parse(document.getElementById('runs').textContent));
