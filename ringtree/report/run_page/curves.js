// Time and bus bandwidth over size. For: curves, their intervals, limits and crossovers. Not for: other charts (charts.js).
'use strict';

// Every label has the room of a line of text: on a phone every fourth size or so has one, of sizes in equal steps few of the large ones.
function sizeAxis(sizes) {
  const room = Math.max(4, Math.min(16, Math.floor((document.querySelector('main').clientWidth - 120) / 26)));
  const stride = sizes.length > 1 ? Math.max(1, (sizes.length - 1) / room) * Math.log(sizes.at(-1) / sizes[0]) / (sizes.length - 1) : 0;
  const ticks = [];
  for (const size of sizes) if (ticks.length === 0 || Math.log(size / ticks.at(-1)) > 0.99 * stride) ticks.push(size);
  return { type: 'log', title: { text: 'size' }, tickvals: ticks, ticktext: ticks.map(words.size), tickangle: -40 };
}

function cellsOfArm(run, arm, place) {
  return run.cells.filter((c) => c.arm === arm && c.place === place && !c.wrong && c.size > 0).sort((a, b) => a.size - b.size);
}

// What an axis shows of a cell. `ends`: the interval, null for a single run, of which nothing can be claimed.
const TIME = {
  middle: (c) => c.time && c.time.median,
  ends: (c) => (c.time && c.time.low !== null ? [c.time.low, c.time.high] : null),
  limit: ([, seconds]) => seconds,
};
const RATE = {
  middle: (c) => c.busbw,
  ends: (c) => (c.time && c.time.low !== null ? [c.time.high, c.time.low].map((seconds) => (c.busbw * c.time.median) / seconds) : null),
  limit: ([, , rate]) => rate,
};

function curves(run, place, shown, say) {
  const traces = [];
  run.arms.forEach((arm, i) => {
    const cells = cellsOfArm(run, arm, place).filter((c) => shown.middle(c) > 0);
    if (cells.length === 0) return;
    const { colour, symbol } = look(i);
    const ends = cells.map(shown.ends);
    if (ends.every((one) => one !== null)) {
      const band = { x: cells.map((c) => c.size), mode: 'lines', line: { width: 0 }, hoverinfo: 'skip', showlegend: false, legendgroup: `arm ${i}` };
      traces.push({ ...band, y: ends.map(([low]) => low) });
      traces.push({ ...band, y: ends.map(([, high]) => high), fill: 'tonexty', fillcolor: `${colour}30` });
    }
    const interval = (c, one) => (one === null ? SINGLE : `${c.time.label} ${say(one[0])} to ${say(one[1])}`);
    traces.push({
      x: cells.map((c) => c.size), y: cells.map(shown.middle), name: plain(arm), legendgroup: `arm ${i}`, mode: 'lines+markers',
      line: { color: colour, width: 2 }, marker: { symbol, size: 7, color: colour },
      text: cells.map((c, j) => plain(`${arm}, ${words.size(c.size)}: ${say(shown.middle(c))}, ${interval(c, ends[j])}`)), hoverinfo: 'text',
    });
  });
  const dashes = ['dot', 'dash', 'dashdot', 'longdash'];
  run.limits.filter((line) => line.place === null || line.place === place).forEach((line, i) => traces.push({
    x: line.points.map(([size]) => size), y: line.points.map(shown.limit), name: plain(line.name), mode: 'lines',
    line: { color: theme().ink, dash: dashes[i % dashes.length], width: 1.5 }, hoverinfo: 'text',
    text: line.points.map((point) => plain(`${line.name}, ${words.size(point[0])}: ${say(shown.limit(point))}`)),
  }));
  return traces.some((trace) => trace.marker) ? traces : [];
}

function crossoverShapes(run, place) {
  const found = run.crossovers.filter((c) => c.kind === 'crossing' && c.placement === place);
  return {
    shapes: found.map((c) => ({ type: 'rect', xref: 'x', yref: 'paper', x0: Math.max(1, c.low), x1: Math.max(1, c.high), y0: 0, y1: 1, fillcolor: '#f0e442', opacity: 0.3, line: { width: 0 }, layer: 'below' })),
    annotations: found.map((c, i) => ({ x: Math.log10(Math.max(1, c.estimate)), y: 0.01 + 0.08 * i, yref: 'paper', yanchor: 'bottom', showarrow: false, bgcolor: theme().paper, text: plain(`${c.first} / ${c.second}: ${words.size(Math.round(c.estimate))}`), font: { size: 11 } })),
  };
}

function drawCurves(run, place) {
  const sizes = [...new Set(run.cells.filter((c) => c.place === place && c.size > 0).map((c) => c.size))].sort((a, b) => a - b);
  // Many arms have a legend of many lines.
  const marks = { ...crossoverShapes(run, place), height: run.arms.length > 6 ? 420 + 16 * run.arms.length : undefined };
  const rates = curves(run, place, RATE, words.rate);
  draw('busbw', rates, { ...marks, xaxis: sizeAxis(sizes), yaxis: logAxis('bus bandwidth', rates, words.rate) }, `Bus bandwidth over size of ${run.arms.join(', ')}`);
  const times = curves(run, place, TIME, words.time);
  draw('time', times, { ...marks, xaxis: sizeAxis(sizes), yaxis: logAxis('time of a call', times, words.time) }, `Time of a call over size of ${run.arms.join(', ')}`);
}
