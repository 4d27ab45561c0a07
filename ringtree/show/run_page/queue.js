// When a chart is drawn: those on the screen first, the others right after, one chart a task, so that the page answers
// in between. For: whatever takes long to draw. Not for: what is drawn (charts.js).
//
// Nothing waits for somebody to scroll: search and copying find all charts soon, paper finds them at once. The page says
// how far it is: <html data-charts="drawing">, then "drawn".
'use strict';

const REST = 150; // milliseconds, when what is on the screen is drawn: whoever reads it can scroll and click first
const BREATH = 20; // between two charts: the browser shows what there is

const waiting = new Map(); // element → what draws it
let task = null;
let beyond = false; // past what is on the screen

// The element has its height already: nothing moves when it is drawn. A second drawing replaces one that still waits.
function drawSoon(chart, drawing) {
  waiting.set(chart, drawing);
  if (window.matchMedia('print').matches) drawNow(chart);
  else schedule();
}

function drawNever(chart) {
  waiting.delete(chart);
  schedule();
}

function schedule() {
  document.documentElement.dataset.charts = 'drawing';
  if (task !== null) return;
  beyond = false;
  task = setTimeout(drawNearest, 0);
}

function drawNearest() {
  if (waiting.size > 0) drawNow(nearest());
  task = null;
  if (waiting.size === 0) {
    document.documentElement.dataset.charts = 'drawn';
    return;
  }
  const rest = !beyond && distance(nearest()) > 0;
  beyond = beyond || rest;
  task = setTimeout(drawNearest, rest ? REST : BREATH);
}

// One that fails is told to the console and does not keep the others back.
function drawNow(chart) {
  const drawing = waiting.get(chart);
  waiting.delete(chart);
  try {
    drawing();
  } catch (error) {
    window.reportError(error);
  }
}

// Asked anew each time: a link, a key or a search may have gone elsewhere in the meantime.
function nearest() {
  const top = (chart) => chart.getBoundingClientRect().top;
  return [...waiting.keys()].sort((a, b) => distance(a) - distance(b) || top(a) - top(b))[0];
}

// Pixels from the edge of the screen, 0 on it.
function distance(chart) {
  const { top, bottom } = chart.getBoundingClientRect();
  return Math.max(0, top - window.innerHeight, -bottom);
}

window.addEventListener('beforeprint', () => [...waiting.keys()].forEach(drawNow));
