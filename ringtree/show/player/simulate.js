// Times and contents of a schedule on links with a latency and a bandwidth: what the player shows.
//
// For: pure functions on a scene (scene.py); no page is needed. Not for: drawing, what chunks hold (contents.js), times that
// the core's simulator found (recorded.js).
//
// The model: a rank sends through one port and receives through one port. A message of b bytes that leaves at t has left
// the port at t + b/B and has arrived at t + α + b/B, or later where the receiver's port is busy, which serves messages
// in the order in which they reach it. A port lets messages wait, never the lane that sends. Folding and copying take no
// time. A step handles its operand slice by slice, in at most MOST_SLICES of them, so slice i may leave while
// slice i + 1 arrives. A link has FEWEST_SLOTS slots, or twice as many as a step has slices (with fewer a schedule may lock
// up, which the engine avoids by passes), and a sender waits for a free one. Steps of a lane run in order, lanes overlap
// where the schedule's dependencies allow. A ring all-reduce with one slice a chunk thus takes 2(n-1) · (α + S/(nB)).
'use strict';

const MAX_SLICES = 300000; // of all steps together; the slice is made larger where a size would give more
const MOST_SLICES = 32;
const FEWEST_SLOTS = 8;

// A heap of [time, number, value], the earliest first; of one time, the one that was put in first.
class Heap {
  constructor() {
    this.items = [];
    this.number = 0;
  }
  push(time, value) {
    const items = this.items;
    const item = [time, this.number++, value];
    let i = items.push(item) - 1;
    while (i > 0) {
      const up = (i - 1) >> 1;
      if (!before(item, items[up])) break;
      items[i] = items[up];
      i = up;
    }
    items[i] = item;
  }
  pop() {
    const items = this.items;
    const top = items[0];
    const last = items.pop();
    if (items.length === 0) return top;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= items.length) break;
      if (child + 1 < items.length && before(items[child + 1], items[child])) child++;
      if (!before(items[child], last)) break;
      items[i] = items[child];
      i = child;
    }
    items[i] = last;
    return top;
  }
}

function before(a, b) {
  return a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]);
}

// Runs the scene. clock: {alpha, bandwidth, size, slice}: seconds, bytes/s, bytes, bytes; for several
// hosts alpha and bandwidth are those between them, and `inside` = {alpha, bandwidth} those within.
// Returns {messages, writes, steps, end, stuck, sent, slice}: see the pushes below.
function simulate(scene, clock) {
  const run = new Run(scene, clock);
  run.go();
  return run.result();
}

class Run {
  constructor(scene, clock) {
    this.scene = scene;
    this.clock = clock;
    this.chunkBytes = clock.size / scene.chunks;
    this.slice = sliceFor(scene, clock.slice, this.chunkBytes);
    this.heap = new Heap();
    this.links = new Map();
    this.out = new Float64Array(scene.ranks);
    this.in = new Float64Array(scene.ranks);
    this.sent = new Float64Array(scene.ranks);
    this.messages = [];
    this.writes = [];
    this.steps = [];
    this.contents = new Contents(scene, new Map(), '');
    this.ranks = scene.programs.map((program, rank) => this.prepare(program, rank));
    this.slots = this.steps.reduce((most, state) => Math.max(most, 2 * state.slices), FEWEST_SLOTS);
    this.now = 0;
    this.dirty = [];
  }

  prepare(program, rank) {
    const lanes = new Map();
    const states = program.map((step, index) => {
      const bytes = this.chunkBytes * step.chunks.length;
      const slices = Math.max(1, Math.ceil(bytes / this.slice - 1e-9));
      const state = { rank, index, step, slices, done: 0, bytes: bytes / slices, begin: -1, end: 0 };
      state.ins = step.recv.map(([peer, tag]) => this.link(peer, rank, tag));
      state.outs = step.to.map((peer) => this.link(rank, peer, step.tag));
      if (!lanes.has(step.lane)) lanes.set(step.lane, { states: [], at: 0 });
      lanes.get(step.lane).states.push(state);
      return state;
    });
    this.steps.push(...states);
    return { lanes: [...lanes.values()], states };
  }

  link(from, to, tag) {
    const key = `${from}>${to}#${tag}`;
    if (!this.links.has(key)) this.links.set(key, { from, to, tag, sent: 0, taken: 0, queue: [] });
    return this.links.get(key);
  }

  go() {
    this.dirty = this.ranks.map((_, rank) => rank);
    this.settle();
    while (this.heap.items.length > 0) {
      const [time, , message] = this.heap.pop();
      this.now = time;
      if (message.arrive === undefined) {
        this.reach(message);
      } else {
        message.there = true;
        this.dirty.push(message.to);
        this.settle();
      }
    }
  }

  settle() {
    while (this.dirty.length > 0) {
      const rank = this.dirty.pop();
      let moved = true;
      while (moved) {
        moved = false;
        for (const lane of this.ranks[rank].lanes) while (this.advance(rank, lane)) moved = true;
      }
    }
  }

  // One slice of the lane's current step, if it may run now.
  advance(rank, lane) {
    const state = lane.states[lane.at];
    if (state === undefined) return false;
    for (const index of state.step.after) {
      const earlier = this.ranks[rank].states[index];
      const needed = earlier.slices === state.slices ? state.done + 1 : earlier.slices;
      if (earlier.done < needed) return false;
    }
    for (const link of state.ins) if (link.queue.length === 0 || !link.queue[0].there) return false;
    for (const link of state.outs) if (link.sent - link.taken >= this.slots) return false;
    if (state.begin < 0) state.begin = this.now;
    state.end = Math.max(state.end, this.now);
    const arrived = state.ins.map((link) => this.take(link));
    if (state.done === 0) state.value = this.contents.fold(rank, state.step, arrived.map((message) => message.value));
    for (const link of state.outs) this.send(state, link);
    state.done++;
    if (state.done === state.slices) {
      this.contents.write(this.now, rank, state.index, state.value, this.writes);
      lane.at++;
    }
    return true;
  }

  take(link) {
    const message = link.queue.shift();
    link.taken++;
    message.taken = this.now;
    this.dirty.push(link.from); // a slot is free again
    return message;
  }

  send(state, link) {
    const { alpha, bandwidth } = this.between(link.from, link.to);
    const takes = state.bytes / bandwidth;
    const depart = Math.max(this.now, this.out[link.from]);
    this.out[link.from] = depart + takes;
    state.end = Math.max(state.end, depart + takes);
    this.sent[link.from] += state.bytes;
    link.sent++;
    const message = {
      from: link.from, to: link.to, tag: link.tag, depart, left: depart + takes, arrive: undefined, taken: Infinity, there: false,
      bytes: state.bytes, chunks: state.step.chunks, value: state.value, slice: state.done, slices: state.slices,
    };
    link.queue.push(message);
    this.messages.push(message);
    this.heap.push(depart + alpha, message);
  }

  // The message's first byte is at the receiver's port, which serves messages in that order.
  reach(message) {
    message.arrive = Math.max(this.now, this.in[message.to]) + (message.left - message.depart);
    this.in[message.to] = message.arrive;
    this.heap.push(message.arrive, message);
  }

  between(from, to) {
    const { hosts } = this.scene;
    return this.clock.inside && hosts[from] === hosts[to] ? this.clock.inside : this.clock;
  }

  result() {
    this.messages.sort((a, b) => a.depart - b.depart);
    let end = 0;
    for (const message of this.messages) end = Math.max(end, message.arrive);
    for (const write of this.writes) end = Math.max(end, write.time);
    const stuck = [];
    for (const { lanes } of this.ranks)
      for (const lane of lanes) if (lane.at < lane.states.length) stuck.push(lane.states[lane.at]);
    return { messages: this.messages, writes: this.writes, steps: this.steps, end, stuck, sent: this.sent, slice: this.slice };
  }
}

function sliceFor(scene, wanted, chunkBytes) {
  const widest = scene.programs.flat().reduce((most, step) => Math.max(most, step.chunks.length), 1);
  let slice = Math.max(wanted, (chunkBytes * widest) / MOST_SLICES);
  for (;;) {
    let total = 0;
    for (const program of scene.programs)
      for (const step of program) total += Math.max(1, Math.ceil((chunkBytes * step.chunks.length) / slice - 1e-9));
    const fewest = scene.programs.reduce((sum, program) => sum + program.length, 0);
    if (total <= Math.max(MAX_SLICES, fewest)) return slice;
    slice *= 2;
  }
}
