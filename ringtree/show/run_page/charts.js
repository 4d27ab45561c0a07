// The charts of one run, as Plotly's traces. For: what is drawn. Not for: choosing what (page.js).
'use strict';

const FASTER = [0, 114, 178];
const SLOWER = [213, 94, 0];

function theme() {
  const style = getComputedStyle(document.documentElement);
  const of = (name) => style.getPropertyValue(name).trim();
  return { ink: of('--ink'), paper: of('--paper'), faint: of('--faint') };
}

function layoutOf(extra) {
  const { ink, faint } = theme();
  const axis = { gridcolor: faint, zerolinecolor: faint, linecolor: ink, automargin: true };
  const layout = {
    font: { color: ink, family: 'system-ui, sans-serif', size: 13 }, paper_bgcolor: 'rgba(0,0,0,0)', plot_bgcolor: 'rgba(0,0,0,0)',
    margin: { t: 30, r: 20, b: 60, l: 70 }, hovermode: 'closest', legend: { orientation: 'h', x: 0, y: 1.02, yanchor: 'bottom' },
    xaxis: { ...axis }, yaxis: { ...axis },
  };
  for (const [name, value] of Object.entries(extra)) layout[name] = name.endsWith('axis') ? { ...axis, ...value } : value;
  return layout;
}

// A chart without anything on it is left out, with its section; one that is to be drawn has its height at once.
function draw(id, traces, extra, label) {
  const chart = document.getElementById(id);
  chart.closest('section').hidden = traces.length === 0;
  if (traces.length === 0) {
    drawNever(chart);
    Plotly.purge(chart);
    return;
  }
  chart.style.minHeight = extra.height ? `${extra.height}px` : '';
  drawSoon(chart, () => {
    const paper = window.matchMedia('print').matches;
    const width = paper ? chart.closest('section').clientWidth / (chart.parentElement.className === 'pair' ? 2 : 1) : undefined;
    chart.setAttribute('role', 'img');
    chart.setAttribute('aria-label', label);
    Plotly.react(chart, traces, layoutOf({ ...extra, width }), { displaylogo: false, responsive: true, modeBarButtonsToRemove: ['lasso2d', 'select2d'] });
  });
}

// A logarithmic axis whose labels are words and don't run into each other: decades, 1-2-5 where there are few, and equal
// steps where all values are near each other.
function logAxis(title, traces, say) {
  const values = traces.flatMap((trace) => trace.y || []).filter((value) => value > 0);
  const [low, high] = values.length > 0 ? [Math.min(...values), Math.max(...values)] : [1, 10];
  const ticks = high / low > 2 ? ticksOfDecades(low, high) : equalTicks(low, high);
  return { type: 'log', title: { text: title, standoff: 12 }, tickvals: ticks, ticktext: ticks.map(say) };
}

function ticksOfDecades(low, high) {
  const steps = high / low > 300 ? [1] : high / low > 5 ? [1, 2, 5] : [1, 1.5, 2, 3, 4, 5, 6, 8];
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
    for (const step of steps) ticks.push(step * 10 ** power);
  return ticks;
}

// Of values that are all the same, or differ by rounding alone, one tick.
function equalTicks(low, high) {
  if (high - low < 1e-6 * high) return [low];
  const rough = (high - low) / 4;
  const decade = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((one) => one * decade).find((one) => one >= rough);
  const ticks = [];
  for (let i = Math.floor(low / step); i <= Math.ceil(high / step); i++) ticks.push(i * step);
  return ticks;
}

// Plotly reads a few tags in text: names of runs and arms must not be any.
function plain(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

function shade(versus) {
  const verdict = versus && versus.verdict;
  if (verdict === 'equivalent') return 'rgb(255,255,255)';
  if (verdict !== 'faster' && verdict !== 'slower') return 'rgb(217,217,217)';
  const full = verdict === 'faster' ? FASTER : SLOWER;
  const share = 0.25 + 0.6 * Math.min(1, Math.abs(Math.log(versus.ratio)) / Math.log(4));
  return `rgb(${full.map((part) => Math.round(255 - share * (255 - part))).join(',')})`;
}

function drawHeatmap(run, place) {
  const arms = run.arms.filter((arm) => arm !== run.reference);
  const sizes = run.rows.filter((row) => row.place === place).map((row) => row.size);
  // A narrow screen scrolls. Paper can't: where columns are too narrow for words there, the colours stand alone.
  const chart = document.getElementById('heatmap');
  const paper = window.matchMedia('print').matches;
  const wordy = !paper || chart.closest('section').clientWidth / sizes.length > 40;
  const shapes = [];
  const points = { x: [], y: [], mode: 'text', text: [], hovertext: [], hoverinfo: 'text', textfont: { size: 11, color: '#1b1f24' }, showlegend: false };
  arms.forEach((arm, y) => sizes.forEach((size, x) => {
    const found = run.cells.find((c) => c.arm === arm && c.size === size && c.place === place);
    if (!found) return;
    const { versus } = found;
    shapes.push({ type: 'rect', x0: x - 0.48, x1: x + 0.48, y0: y - 0.46, y1: y + 0.46, fillcolor: shade(versus), line: { width: versus && versus.verdict === 'equivalent' ? 1 : 0, color: '#999' }, layer: 'below' });
    points.x.push(x);
    points.y.push(y);
    points.text.push(found.wrong ? 'wrong' : versus && wordy ? words.change(versus.ratio) : '');
    const interval = versus && versus.low !== null ? `, ${words.changes(versus.low, versus.high)}` : '';
    points.hovertext.push(plain(found.wrong ? `${arm}: ${found.wrong}` : versus ? `${arm}, ${words.size(size)}: ${words.change(versus.ratio)}${interval}: ${versus.verdict} (${versus.label})` : arm));
  }));
  document.querySelectorAll('.reference').forEach((one) => { one.textContent = run.reference; });
  chart.style.minWidth = paper ? '0' : `${6 + 2.7 * sizes.length}rem`;
  draw('heatmap', points.x.length > 0 ? [points] : [], {
    shapes, height: 130 + 36 * arms.length,
    xaxis: { tickvals: sizes.map((_, i) => i), ticktext: sizes.map(words.size), tickangle: -40, range: [-0.6, sizes.length - 0.2], showgrid: false, zeroline: false },
    yaxis: { tickvals: arms.map((_, i) => i), ticktext: arms.map(plain), range: [arms.length - 0.4, -0.6], showgrid: false, zeroline: false },
  }, `Difference to ${run.reference} by size and arm`);
}

function drawLaunches(run, place, size) {
  const cells = run.arms.map((arm) => run.cells.find((c) => c.arm === arm && c.place === place && c.size === size && c.time && !c.wrong));
  const traces = cells.flatMap((c, i) => (c && c.by_launch.length > 0 ? [{
    x: c.by_launch.map(([launch]) => launch), y: c.by_launch.map(([, seconds]) => seconds), name: plain(c.arm), mode: 'markers',
    marker: { color: look(i).colour, symbol: look(i).symbol, size: 8 },
    text: c.by_launch.map(([launch, seconds]) => plain(`${c.arm}, launch ${launch}: ${words.time(seconds)}`)), hoverinfo: 'text',
  }] : []));
  const axis = (of) => logAxis('time of a call', of, words.time);
  draw('order', traces, { xaxis: { title: { text: 'launch' }, dtick: 1 }, yaxis: axis(traces) }, `Median of each launch at ${words.size(size)}`);
  const boxes = cells.flatMap((c, i) => (c && c.quantiles.length > 0 ? [{ type: 'box', y: c.quantiles, name: plain(c.arm), boxpoints: false, marker: { color: look(i).colour }, hoverinfo: 'y' }] : []));
  draw('distribution', boxes, { showlegend: false, yaxis: axis(boxes) }, `Distribution of samples at ${words.size(size)}`);
}

function drawRanks(run) {
  const traces = run.arms.filter((arm) => run.slowest_ranks[arm]).map((arm) => ({
    type: 'bar', name: plain(arm), x: run.slowest_ranks[arm].map((_, rank) => `rank ${rank}`), y: run.slowest_ranks[arm],
    marker: { color: look(run.arms.indexOf(arm)).colour },
  }));
  const even = { type: 'line', xref: 'paper', x0: 0, x1: 1, y0: 1 / run.num_ranks, y1: 1 / run.num_ranks, line: { dash: 'dot', color: theme().ink, width: 1 } };
  draw('ranks', traces, { barmode: 'group', shapes: [even], yaxis: { title: { text: 'share of iterations' }, tickformat: '.0%', rangemode: 'tozero' } }, 'Share of iterations in which each rank was the slowest');
}
