// A training's charts: rates, differences, scaling, and where the step goes. For: training.html.j2. Not for: how a chart
// gets onto the page (run_page/charts.js, run_page/queue.js), figures (they are those of the summary).
'use strict';

const PARTS = [['compute', '#009e73'], ['exposed', '#d55e00'], ['imbalance', '#e69f00'], ['input', '#56b4e9']];

// Exposed time by collective, where a recorded step tells it apart.
const EXPOSED = { all_reduce: '#d55e00', all_gather: '#cc79a7', reduce_scatter: '#8c6d1f', all_to_all: '#7f7f7f', broadcast: '#882255' };
const exposedColour = (name) => EXPOSED[name] || '#999999';

const rateWords = (rate) => (rate >= 1000 ? Math.round(rate).toLocaleString('en') : words.digits(rate));
const signedTime = (seconds) => (seconds < 0 ? `−${words.time(-seconds)}` : words.time(seconds));
const percentOf = (share) => `${Math.round(100 * share)} %`;

function ranksOf(run, ranks) {
  const number = run.hosts[ranks];
  const hosts = number ? ` on ${number} host${number > 1 ? 's' : ''}` : '';
  return `${ranks} rank${ranks > 1 ? 's' : ''}${hosts}`;
}

// Where an arm stands: a model on a number of ranks. Of one model its name stands above the charts already.
function placesOf(run) {
  return run.models.flatMap((model) => run.training.world_sizes.map((ranks) => ({ model, ranks, name: `${run.models.length > 1 ? `${plain(model)}<br>` : ''}${ranksOf(run, ranks)}` })));
}

function cellOf(run, { model, ranks }, arm) {
  return run.cells.find((c) => c.model === model && c.num_ranks === ranks && c.arm === arm);
}

function usable(c) {
  return Boolean(c && c.step && c.tokens_per_second && !c.disqualified);
}

// The interval of the step, as one of the rate: the longer the step, the lower the rate. One launch has none, nor has
// a rate that somebody printed, whatever the number of its runs (null: not told).
function hasInterval(step) {
  return step.num_launches > 1 && step.low !== null;
}

function withoutInterval(number) {
  if (number === null) return 'one value, no interval';
  return number === 1 ? '1 launch' : `${number} launches, no interval`;
}

function rateEnds(c) {
  if (c.rate) return [c.rate.low, c.rate.high]; // of a printed table, whose rows say no step
  if (!hasInterval(c.step)) return null;
  return [c.step.high, c.step.low].map((seconds) => (c.tokens_per_second * c.step.median) / seconds);
}

function rateText(run, c) {
  const ends = rateEnds(c);
  const span = ends ? `${(c.rate || c.step).label} ${rateWords(ends[0])} to ${rateWords(ends[1])}` : withoutInterval(c.step.num_launches);
  return plain(`${c.arm}, ${c.model}, ${ranksOf(run, c.num_ranks)}: ${rateWords(c.tokens_per_second)} ${run.unit}, ${span}`);
}

// An axis for each model: a small one's bars would be too low beside those of a fast one.
function drawRatesOf(run, n, model, m) {
  const places = run.training.world_sizes.map((ranks) => ({ model, ranks, name: ranksOf(run, ranks) }));
  const traces = run.arms.map(({ label }, i) => {
    const shown = places.map((place) => [place, cellOf(run, place, label)]).filter(([, c]) => usable(c));
    const ends = shown.map(([, c]) => rateEnds(c) || [c.tokens_per_second, c.tokens_per_second]);
    return {
      type: 'bar', name: plain(label), x: shown.map(([{ name }]) => name), y: shown.map(([, c]) => c.tokens_per_second), marker: { color: look(i).colour },
      error_y: { visible: shown.some(([, c]) => rateEnds(c)), type: 'data', symmetric: false, array: shown.map(([, c], k) => ends[k][1] - c.tokens_per_second), arrayminus: shown.map(([, c], k) => c.tokens_per_second - ends[k][0]), color: theme().ink, thickness: 1 },
      hovertext: shown.map(([, c]) => rateText(run, c)), hoverinfo: 'text',
    };
  }).filter((trace) => trace.x.length > 0);
  const xaxis = { type: 'category', categoryorder: 'array', categoryarray: places.map(({ name }) => name) };
  draw(`rates-${n}-${m}`, traces, { barmode: 'group', height: 400, xaxis, yaxis: { title: { text: run.unit }, rangemode: 'tozero' } }, `${run.unit} of ${model}, each arm by ranks`);
}

function drawDifferences(run, n) {
  const arms = run.arms.map(({ label }) => label).filter((label) => label !== run.reference);
  const places = placesOf(run);
  const shapes = [];
  const points = { x: [], y: [], mode: 'text', text: [], hovertext: [], hoverinfo: 'text', textfont: { size: 12, color: '#1b1f24' }, showlegend: false };
  arms.forEach((arm, y) => places.forEach((place, x) => {
    const c = cellOf(run, place, arm);
    const versus = c && c.versus_reference;
    if (!c || (!versus && !c.disqualified)) return;
    shapes.push({ type: 'rect', x0: x - 0.48, x1: x + 0.48, y0: y - 0.46, y1: y + 0.46, fillcolor: c.disqualified ? '#f0e442' : shade(versus), line: { width: versus && versus.verdict === 'equivalent' ? 1 : 0, color: '#999' }, layer: 'below' });
    points.x.push(x);
    points.y.push(y);
    points.text.push(c.disqualified ? '✗ disqualified' : words.change(1 / versus.ratio));
    const span = versus && versus.low !== null ? `, ${words.changes(1 / versus.high, 1 / versus.low)}` : '';
    points.hovertext.push(plain(c.disqualified ? `${arm}: ${c.disqualified}` : `${arm}, ${place.model}, ${ranksOf(run, place.ranks)}: ${words.change(1 / versus.ratio)}${span}: ${versus.verdict} (${versus.label})`));
  }));
  document.getElementById(`heatmap-${n}`).style.minWidth = window.matchMedia('print').matches ? '0' : `${10 + 7 * places.length}rem`;
  draw(`heatmap-${n}`, points.x.length > 0 ? [points] : [], {
    shapes, height: 130 + 44 * arms.length,
    xaxis: { tickvals: places.map((_, i) => i), ticktext: places.map(({ name }) => name), range: [-0.6, places.length - 0.4], showgrid: false, zeroline: false },
    yaxis: { tickvals: arms.map((_, i) => i), ticktext: arms.map(plain), range: [arms.length - 0.4, -0.6], showgrid: false, zeroline: false },
  }, `Difference to ${run.reference} by arm, model and ranks`);
}

function drawScalingOf(run, n, model, m) {
  const numbers = run.training.world_sizes;
  const xaxis = { title: { text: 'ranks' }, tickvals: numbers, ticktext: numbers.map(String), type: numbers.at(-1) / numbers[0] > 8 ? 'log' : 'linear' };
  const lines = (value) => run.arms.map(({ label }, i) => {
    const shown = numbers.map((ranks) => cellOf(run, { model, ranks }, label)).filter((c) => usable(c) && value(c) !== null);
    return {
      x: shown.map((c) => c.num_ranks), y: shown.map(value), name: plain(label), mode: 'lines+markers', line: { color: look(i).colour }, marker: { symbol: look(i).symbol, size: 8 },
      text: shown.map((c) => `${rateText(run, c)}, efficiency ${percentOf(c.efficiency)}`), hoverinfo: 'text',
    };
  }).filter((trace) => trace.x.length > 1);
  const ideal = (x, y) => ({ x, y, name: 'ideal', mode: 'lines', line: { color: theme().ink, dash: 'dash', width: 1 }, hoverinfo: 'skip' });
  const base = numbers.map((ranks) => cellOf(run, { model, ranks }, run.reference)).find(usable);
  const rates = lines((c) => c.tokens_per_second);
  const shares = lines((c) => c.efficiency);
  if (rates.length > 0 && base) rates.push(ideal(numbers, numbers.map((ranks) => base.tokens_per_second_a_rank * ranks)));
  if (shares.length > 0) shares.push(ideal(numbers, numbers.map(() => 1)));
  draw(`scaling-${n}-${m}`, rates, { height: 400, xaxis, yaxis: { title: { text: run.unit }, rangemode: 'tozero' } }, `Scaling of ${model}`);
  draw(`efficiency-${n}-${m}`, shares, { height: 400, xaxis, yaxis: { title: { text: 'efficiency' }, rangemode: 'tozero', tickformat: '.0%' } }, `Efficiency of ${model} over ranks`);
}

function collectivesOf(cells) {
  return [...new Set(cells.flatMap((c) => Object.keys((c.parts && c.parts.by_collective) || {})))].sort();
}

// What a mean step is made of: name, colour and a cell's seconds. An arm without a recorded step has exposed time as one.
function stackOf(cells) {
  const names = collectivesOf(cells);
  const isDivided = (c) => Object.keys(c.parts.by_collective || {}).length > 0;
  const whole = names.length === 0 || cells.some((c) => !isDivided(c));
  return PARTS.flatMap(([part, colour]) => {
    if (part !== 'exposed') return [[part, colour, (c) => c.parts[part]]];
    const divided = names.map((name) => [`exposed ${name}`, exposedColour(name), (c) => c.parts.by_collective[name] || 0]);
    return whole ? [[part, names.length > 0 ? '#f2b48f' : colour, (c) => (isDivided(c) ? 0 : c.parts.exposed)], ...divided] : divided;
  });
}

function drawTimeline(run, n, model, m) {
  const shown = run.training.world_sizes.flatMap((ranks) => run.arms.map(({ label }) => cellOf(run, { model, ranks }, label))).filter((c) => usable(c) && c.timeline);
  const spans = shown.flatMap((c, row) => c.timeline.spans.map((one) => ({ ...one, row })));
  const exposed = [...new Set(spans.map(({ what }) => what).filter((what) => what.startsWith('exposed')))].sort();
  const kinds = [['compute', '#009e73'], ...exposed.map((what) => [what, exposedColour(what.slice('exposed '.length))]), ['waiting', '#e69f00'], ['input', '#56b4e9']];
  const bars = (name, color, pieces, offset, width, words_of) => ({
    type: 'bar', orientation: 'h', name, width, y: pieces.map(({ row }) => row + offset), base: pieces.map((one) => 1e3 * one.begin), x: pieces.map((one) => 1e3 * (one.end - one.begin)),
    marker: { color, line: { width: 0 } }, hovertext: pieces.map((one) => plain(`${words_of(one)}: ${words.time(one.end - one.begin)} from ${words.time(one.begin)} on`)), hoverinfo: 'text',
  });
  const traces = kinds.map(([what, color]) => bars(what === 'waiting' ? 'waiting for the slowest rank' : what, color, spans.filter((one) => one.what === what), -0.12, 0.46, (one) => one.what));
  const calls = shown.flatMap((c, row) => c.timeline.calls.map((one) => ({ ...one, row })));
  traces.push({ ...bars('in flight', '#0072b2', calls, 0.26, 0.2, (one) => `${one.collective} of ${words.size(one.size_bytes)} in flight`), opacity: 0.55 });
  draw(`timeline-${n}-${m}`, shown.length === 0 ? [] : traces.filter(({ x }) => x.length > 0), {
    barmode: 'overlay', height: 130 + 46 * shown.length, xaxis: { title: { text: 'of one step, ms' }, rangemode: 'tozero' }, legend: { orientation: 'h', x: 0, y: 1.02, yanchor: 'bottom', traceorder: 'normal' },
    yaxis: { tickvals: shown.map((_, i) => i), ticktext: shown.map((c) => plain(`${ranksOf(run, c.num_ranks)}, ${c.arm}`)), range: [shown.length - 0.4, -0.6], showgrid: false, zeroline: false },
  }, `One step of ${model} as a timeline, by ranks and arm`);
}

function drawParts(run, n, model, m) {
  const shown = run.training.world_sizes.flatMap((ranks) => run.arms.map(({ label }) => cellOf(run, { model, ranks }, label))).filter((c) => usable(c) && c.parts);
  const names = shown.map((c) => plain(`${ranksOf(run, c.num_ranks)}, ${c.arm}`));
  const traces = shown.length === 0 ? [] : stackOf(shown).map(([part, color, seconds]) => ({
    type: 'bar', orientation: 'h', name: part, y: names, x: shown.map((c) => 1e3 * seconds(c)), marker: { color },
    hovertext: shown.map((c, i) => `${names[i]}: ${part} ${signedTime(seconds(c))} of ${words.time(c.parts.step)}`), hoverinfo: 'text',
  }));
  draw(`parts-${n}-${m}`, traces, {
    barmode: 'relative', height: 130 + 30 * shown.length, xaxis: { title: { text: 'of a mean step, ms' } }, legend: { orientation: 'h', x: 0, y: 1.02, yanchor: 'bottom', traceorder: 'normal' },
    yaxis: { type: 'category', categoryorder: 'array', categoryarray: names, autorange: 'reversed', showgrid: false },
  }, `Where a step of ${model} goes, by ranks and arm`);
}

function allFigures(run) {
  const rows = run.cells.map((c) => {
    const versus = c.versus_reference;
    const parts = c.parts || {};
    return [c.model, c.num_ranks, c.arm, c.tokens_per_second, c.tokens_per_second_a_rank, c.step && c.step.median,
      c.step && hasInterval(c.step) ? `${words.time(c.step.low)} – ${words.time(c.step.high)}` : c.rate ? `${rateWords(c.rate.low)} – ${rateWords(c.rate.high)}` : '', c.efficiency,
      ...PARTS.map(([part]) => parts[part]), versus && 1 / versus.ratio, versus && versus.low !== null ? words.changes(1 / versus.high, 1 / versus.low, ' – ') : '',
      c.disqualified ? `disqualified: ${c.disqualified}` : versus ? versus.verdict : c.arm === run.reference ? 'reference' : '', c.num_launches];
  });
  const headings = [['model', null], ['ranks', null], ['arm', null], [run.unit, rateWords], ['a rank', rateWords], ['step', words.time], ['interval', null], ['efficiency', percentOf],
    ...PARTS.map(([part]) => [part, signedTime]), [`against ${run.reference}`, words.change], ['interval of it', null], ['verdict', null], ['launches', null]];
  const kept = headings.map((_, i) => i).filter((i) => rows.some((row) => row[i] !== null && row[i] !== undefined && row[i] !== ''));
  return makeTable(run.heading, kept.map((i) => headings[i]), rows.map((row) => kept.map((i) => row[i])));
}

// What a step sends, as the arms do it: of rank 0, counted in a step that is not timed.
function stepBytes(run) {
  const rows = run.cells.flatMap((c) => (c.collectives || []).map((one) => [c.model, c.num_ranks, c.arm, one.collective, one.calls, one.size_bytes, c.parts && (c.parts.by_collective || {})[one.collective]]));
  const headings = [['model', null], ['ranks', null], ['arm', null], ['collective', null], ['calls a step', null], ['bytes a step', words.size], ['exposed', signedTime]];
  const width = rows.some((row) => row.at(-1) !== null && row.at(-1) !== undefined) ? headings.length : headings.length - 1;
  return rows.length > 0 ? makeTable('Collectives of a step', headings.slice(0, width), rows.map((row) => row.slice(0, width))) : null;
}

function drawTraining(run, n) {
  drawDifferences(run, n);
  run.models.forEach((model, m) => {
    drawRatesOf(run, n, model, m);
    if (run.training.world_sizes.length > 1) drawScalingOf(run, n, model, m);
    drawParts(run, n, model, m);
    drawTimeline(run, n, model, m);
  });
}

const trainings = JSON.parse(document.getElementById('runs').textContent);
equipAll();
trainings.forEach((run, n) => {
  document.getElementById(`figures-${n}`).replaceChildren(allFigures(run));
  const bytes = stepBytes(run);
  const place = document.getElementById(`collectives-${n}`);
  place.closest('section').hidden = bytes === null;
  if (bytes !== null) place.replaceChildren(bytes);
});
const drawAll = () => trainings.forEach(drawTraining);
// Paper is light and narrow: what is drawn for the screen is drawn anew, and again afterwards.
for (const media of ['(prefers-color-scheme: dark)', 'print']) window.matchMedia(media).addEventListener('change', drawAll);
drawAll();
