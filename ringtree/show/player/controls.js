// The clock, its sliders and keys: one clock for all schedules on the page.
//
// For: wiring views to what the user does. Not for: times (simulate.js, recorded.js), drawing (view.js).
'use strict';

const LONGEST_SECONDS = 12; // of watching, at speed 1
const INSIDE = 10; // of several hosts: how much faster, in latency and in bandwidth, messages within one are

const words = {
  time(seconds) {
    const [scale, unit] = seconds >= 1 ? [1, 's'] : seconds >= 1e-3 ? [1e3, 'ms'] : [1e6, 'µs'];
    return `${Number((seconds * scale).toPrecision(3))} ${unit}`;
  },
  bytes(bytes) {
    for (const [scale, unit] of [[2 ** 30, 'GB'], [2 ** 20, 'MB'], [2 ** 10, 'KB']])
      if (bytes >= scale) return `${Number((bytes / scale).toPrecision(3))} ${unit}`;
    return `${Math.round(bytes)} B`;
  },
  rate(rate) {
    return rate >= 1e9 ? `${Number((rate / 1e9).toPrecision(3))} GB/s` : `${Number((rate / 1e6).toPrecision(3))} MB/s`;
  },
};

// Of the model's clock; a page of recorded calls has none. Sliders are logarithmic: [id, smallest, largest, words for it].
const SLIDERS = [
  ['alpha', 1e-7, 1e-2, words.time],
  ['bandwidth', 1e7, 1e12, words.rate],
  ['size', 8, 2 ** 32, words.bytes],
  ['slice', 2 ** 12, 2 ** 26, words.bytes],
];

class Player {
  constructor(page) {
    this.page = page;
    this.sliders = page.clock === null ? [] : SLIDERS;
    this.views = page.scenes.map((scene) => new View(scene, document.getElementById('panels')));
    this.time = 0;
    this.playing = false;
    this.frames = 0;
    this.wire();
    this.recompute();
  }

  get(id) {
    return document.getElementById(id);
  }

  value(id) {
    const [, low, high] = SLIDERS.find(([name]) => name === id);
    return Number((low * (high / low) ** (Number(this.get(id).value) / 1000)).toPrecision(9));
  }

  setValue(id, value) {
    const [, low, high] = SLIDERS.find(([name]) => name === id);
    this.get(id).value = String((1000 * Math.log(Math.max(value, low) / low)) / Math.log(high / low));
  }

  clock() {
    const clock = {};
    for (const [id] of SLIDERS) clock[id] = this.value(id);
    clock.size = Math.round(clock.size);
    clock.slice = Math.round(clock.slice);
    const several = this.page.scenes.some((scene) => new Set(scene.hosts).size > 1);
    if (several) clock.inside = { alpha: clock.alpha / INSIDE, bandwidth: clock.bandwidth * INSIDE };
    return clock;
  }

  wire() {
    for (const [id] of this.sliders) {
      this.setValue(id, this.page.clock[id]);
      this.get(id).addEventListener('input', () => this.recompute());
    }
    this.get('play').addEventListener('click', () => this.toggle());
    this.get('back').addEventListener('click', () => this.step(-1));
    this.get('forward').addEventListener('click', () => this.step(1));
    this.get('start').addEventListener('click', () => this.seek(0));
    this.get('scrub').addEventListener('input', (event) => this.seek((this.end * Number(event.target.value)) / 1000));
    this.get('layout').addEventListener('change', (event) => this.relayout(event.target.value));
    document.addEventListener('keydown', (event) => this.key(event));
    for (const event of ['resize', 'themechange']) window.addEventListener(event, () => this.show());
    this.relayout(this.get('layout').value);
  }

  key(event) {
    if (event.target.matches('input, select, button') && event.key !== 'Home' && event.key !== 'End') return;
    const does = {
      ' ': () => this.toggle(), ArrowRight: () => this.step(1), ArrowLeft: () => this.step(-1),
      Home: () => this.seek(0), End: () => this.seek(this.end),
    }[event.key];
    if (does === undefined || event.target.matches('input')) return;
    event.preventDefault();
    does();
  }

  recompute() {
    const share = this.end > 0 ? this.time / this.end : 0;
    for (const [id, , , say] of this.sliders) this.get(`${id}-is`).textContent = say(this.value(id));
    const clock = this.page.clock === null ? null : this.clock();
    this.views.forEach((view) => view.load(clock === null ? recorded(view.scene) : simulate(view.scene, clock)));
    this.end = Math.max(...this.views.map((view) => view.result.end));
    const moments = this.views.flatMap((view) => view.moments()).sort((a, b) => a - b);
    this.moments = moments.filter((time, i) => i === 0 || time > moments[i - 1] + 1e-12 * this.end);
    this.sayWinner();
    this.seek(share * this.end);
  }

  sayWinner() {
    const ranked = [...this.views].sort((a, b) => a.result.end - b.result.end);
    const parts = ranked.map((view) => `${view.scene.name} ${words.time(view.result.end)}`);
    const right = ranked.every((view) => view.scene.verdict.ok && view.result.stuck.length === 0);
    const times = ranked.length > 1 ? ranked[1].result.end / ranked[0].result.end : 1;
    let said = `At ${words.bytes(this.page.clock === null ? this.page.size : this.clock().size)}: ${parts.join(', ')}`;
    if (ranked.length > 1 && right)
      said += times < 1.005 ? '; no difference' : `; ${ranked[0].scene.name} is ${times.toPrecision(3)} times as fast as ${ranked[1].scene.name}`;
    const slice = Math.max(...this.views.map((view) => view.result.slice));
    if (this.page.clock !== null && slice > this.value('slice') * 1.01) said += `; slices of up to ${words.bytes(slice)}, as a step has at most ${MOST_SLICES}`;
    this.get('winner').textContent = `${said}.`;
  }

  relayout(layout) {
    this.views.forEach((view) => { view.layout = layout; });
    if (this.end !== undefined) this.show();
  }

  toggle() {
    this.playing = !this.playing;
    if (this.playing && this.time >= this.end) this.time = 0;
    this.get('play').textContent = this.playing ? 'Pause' : 'Play';
    this.get('play').setAttribute('aria-pressed', String(this.playing));
    if (!this.playing) return;
    let last = performance.now();
    const tick = (now) => {
      if (!this.playing) return;
      this.time = Math.min(this.end, this.time + ((now - last) / 1000) * (this.end / LONGEST_SECONDS) * Number(this.get('speed').value));
      last = now;
      this.frames++;
      this.show();
      if (this.time >= this.end) this.toggle();
      else requestAnimationFrame(tick);
    };
    requestAnimationFrame(tick);
  }

  step(direction) {
    if (this.playing) this.toggle();
    const near = upTo(this.moments, this.time * (1 + 1e-12));
    const here = near - 1;
    const exact = here >= 0 && Math.abs(this.moments[here] - this.time) <= 1e-12 * this.end;
    const next = direction > 0 ? near : exact ? here - 1 : here;
    this.seek(next < 0 ? 0 : next >= this.moments.length ? this.end : this.moments[next]);
  }

  seek(time) {
    this.time = time;
    this.show();
  }

  show() {
    this.get('scrub').value = String(this.end > 0 ? Math.round((1000 * this.time) / this.end) : 0);
    this.get('now').textContent = words.time(this.time);
    this.views.forEach((view) => view.show(this.time, words));
  }
}

window.player = new Player(JSON.parse(document.getElementById('scenes').textContent));
