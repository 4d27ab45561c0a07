// One schedule on the page: its ranks, the messages between them, and what each chunk holds at the clock's time.
//
// For: drawing a result of simulate() or recorded() at a time. Not for: the clock and the controls (controls.js).
'use strict';

const PALETTE = ['#0072b2', '#e69f00', '#009e73', '#cc79a7', '#56b4e9', '#d55e00', '#8c6d1f', '#7f7f7f']; // Okabe & Ito
const MOST_IN_TABLE = 16; // ranks and chunks up to which the sums are written out
const MOST_LETTERS = 26;

function chunkName(chunk) {
  return chunk < MOST_LETTERS ? String.fromCharCode(65 + chunk) : `c${chunk}`;
}

// "A0+A3": whose parts of chunk A are in the sum; four neighbours and more are A1+…+A5, a rank that is in it twice 2·A3.
function sumText(chunk, value) {
  const name = chunkName(chunk);
  const parts = [];
  for (let rank = 0; rank < value.length; rank++) {
    if (value[rank] === 0) continue;
    let last = rank;
    while (last + 1 < value.length && value[rank] === 1 && value[last + 1] === 1) last++;
    if (last - rank < 3) {
      parts.push((value[rank] > 1 ? `${value[rank]}·` : '') + name + rank);
      continue;
    }
    parts.push(`${name}${rank}+…+${name}${last}`);
    rank = last;
  }
  return parts.join('+');
}

function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

class View {
  constructor(scene, parent) {
    this.scene = scene;
    this.status = element('p', { class: 'status' });
    this.canvas = element('canvas', { role: 'img', width: 10, height: 10 });
    this.holds = element('div', { class: 'holds' });
    const verdict = scene.verdict.ok
      ? element('span', { class: 'good' }, 'proved right')
      : element('span', { class: 'bad' }, `refuted: ${scene.verdict.problem}`);
    parent.append(
      element('section', { class: 'panel', 'aria-label': scene.name },
        element('h2', {}, scene.name),
        element('p', { class: 'title' }, `${scene.collective}, ${scene.ranks} ranks: ${scene.title}. `, verdict),
        ...(scene.told ? [element('p', { class: 'told' }, scene.told)] : []),
        this.status, this.canvas, this.holds));
    this.makeTable();
    this.findLinks();
    this.layout = 'auto';
  }

  // Takes a new result: the clock's numbers have changed.
  load(result) {
    this.result = result;
    this.applied = 0;
    this.state = new Map();
    this.finished = result.steps.filter((s) => s.begin >= 0).map((s) => s.end).sort((a, b) => a - b);
    this.longest = result.messages.reduce((most, m) => Math.max(most, m.arrive - m.depart), 0);
    this.busiest = result.sent.reduce((most, bytes, rank) => (bytes > result.sent[most] ? rank : most), 0);
    this.departs = result.messages.map((m) => m.depart);
    this.work = result.work || []; // in the model folding and copying take no time
    this.workEnds = this.work.map((slice) => slice.end);
    this.longestWork = this.work.reduce((most, slice) => Math.max(most, slice.end - slice.begin), 0);
    this.fillTable();
  }

  // Times at which something changes, for stepping.
  moments() {
    return this.result.writes.map((write) => write.time).concat(this.result.messages.map((m) => m.arrive));
  }

  show(time, words) {
    this.advanceTo(time);
    this.draw(time);
    const { result, scene } = this;
    const mine = result.messages.filter((m) => m.from === this.busiest && m.left <= time);
    const bytes = mine.reduce((sum, m) => sum + m.bytes, 0);
    const done = upTo(this.finished, time);
    const over = time >= result.end;
    let text = `${over ? 'done' : 'at'} ${words.time(over ? result.end : time)}${over ? '' : ` of ${words.time(result.end)}`}`;
    text += `; steps finished: ${done} of ${result.steps.length}; rank ${this.busiest} has sent ${words.bytes(bytes)}`;
    text += ` of ${words.bytes(result.sent[this.busiest])}${this.onChannel()}; hops: ${scene.hops === null ? 'none' : scene.hops}`;
    if (over && result.stuck.length > 0) {
      const { rank, index, step } = result.stuck[0];
      text = `stuck at ${words.time(result.end)}: rank ${rank} waits in step ${index} (${step.verb})`;
    }
    this.status.textContent = text;
    this.canvas.setAttribute('aria-label', `${scene.name}: ${text}`);
  }

  onChannel() {
    const { timeline } = this.scene;
    if (timeline === null || timeline.channels === 1) return '';
    const first = timeline.channel * timeline.shares;
    return timeline.shares > 1 ? ` on channels ${first} to ${first + timeline.shares - 1}` : ` on channel ${first}`;
  }

  advanceTo(time) {
    const { writes } = this.result;
    while (this.applied < writes.length && writes[this.applied].time <= time + 1e-15) {
      const write = writes[this.applied++];
      this.state.set(`${write.rank}/${write.chunk}`, write);
      this.touch(write.rank, write.chunk);
    }
    while (this.applied > 0 && writes[this.applied - 1].time > time + 1e-15) {
      const write = writes[--this.applied];
      const key = `${write.rank}/${write.chunk}`;
      if (write.old === undefined) this.state.delete(key);
      else this.state.set(key, write.old);
      this.touch(write.rank, write.chunk);
    }
  }

  // What rank has of a chunk: what it last kept or passed on, else its input.
  holding(rank, chunk) {
    const written = this.state.get(`${rank}/${chunk}`);
    if (written !== undefined) return written;
    const value = new Uint8Array(this.scene.ranks);
    if (this.hasInput(rank, chunk)) value[rank] = 1;
    return { value, kept: true };
  }

  hasInput(rank, chunk) {
    const { collective, ranks, chunks, root } = this.scene;
    const block = Math.floor((chunk * ranks) / chunks);
    const owners = { all_gather: block, gather: block, broadcast: root, scatter: root };
    if (collective === 'all_to_all') return Math.floor((chunk * ranks) / chunks) === rank;
    return owners[collective] === undefined || owners[collective] === rank;
  }

  makeTable() {
    const { ranks, chunks } = this.scene;
    this.written = ranks <= MOST_IN_TABLE && chunks <= MOST_IN_TABLE;
    if (!this.written) {
      this.heat = element('canvas', { role: 'img', class: 'heat', width: chunks, height: ranks });
      this.holds.append(
        element('p', { class: 'hint' }, `Rows: ranks; columns: chunks; darker: more of the ${ranks} contributions.`), this.heat);
      return;
    }
    const head = element('tr', {}, element('th', { scope: 'col' }, 'rank'));
    for (let c = 0; c < chunks; c++) head.append(element('th', { scope: 'col' }, chunkName(c)));
    const table = element('table', {}, element('caption', {}, `What each rank holds; in italics: passed on, not kept${this.passesHint()}`), element('thead', {}, head));
    const body = element('tbody');
    this.cells = [];
    for (let r = 0; r < ranks; r++) {
      const row = element('tr', {}, element('th', { scope: 'row' }, String(r)));
      this.cells.push(Array.from({ length: chunks }, () => row.appendChild(element('td'))));
      body.append(row);
    }
    table.append(body);
    this.holds.append(table);
  }

  passesHint() {
    const passes = this.scene.timeline === null ? 1 : this.scene.timeline.passes;
    return passes > 1 ? `; the data go through in ${passes} parts, 1/${passes}: of the first` : '';
  }

  fillTable() {
    for (let r = 0; r < this.scene.ranks; r++) for (let c = 0; c < this.scene.chunks; c++) this.touch(r, c);
  }

  touch(rank, chunk) {
    const { value, kept, part } = this.holding(rank, chunk);
    let some = 0;
    let twice = false;
    for (const times of value) {
      some += times > 0 ? 1 : 0;
      twice = twice || times > 1;
    }
    const share = some / this.scene.ranks;
    if (!this.written) {
      const context = this.heat.getContext('2d');
      context.fillStyle = twice ? '#d00000' : `rgb(${heatColour(share)})`;
      context.fillRect(chunk, rank, 1, 1);
      return;
    }
    const cell = this.cells[rank][chunk];
    const text = some === this.scene.ranks && some > 4 && !twice ? `${chunkName(chunk)}: all` : sumText(chunk, value);
    cell.textContent = part ? `${part} ${text}` : text;
    cell.className = twice ? 'twice' : some === this.scene.ranks ? 'full' : some > 1 ? 'part' : '';
    if (!kept) cell.classList.add('passed');
  }

  findLinks() {
    this.links = new Set();
    this.neighbours = this.scene.programs.map(() => new Set());
    this.scene.programs.forEach((program, rank) => program.forEach((step) => step.to.forEach((peer) => {
      this.links.add(rank < peer ? `${rank},${peer}` : `${peer},${rank}`);
      this.neighbours[rank].add(peer);
      this.neighbours[peer].add(rank);
    })));
  }

  // How the ranks are drawn: as asked for, else by the shape of the links.
  shape() {
    if (this.layout !== 'auto') return this.layout;
    if (new Set(this.scene.hosts).size > 1) return 'hosts';
    return this.links.size === this.scene.ranks - 1 ? 'tree' : 'circle';
  }

  place(width, height) {
    const { ranks, hosts } = this.scene;
    const margin = 34;
    const at = [];
    const shape = this.shape();
    if (shape === 'tree') {
      const level = this.levels();
      const deepest = Math.max(...level);
      for (let depth = 0; depth <= deepest; depth++) {
        const row = level.map((_, rank) => rank).filter((rank) => level[rank] === depth);
        row.forEach((rank, i) => {
          at[rank] = [(width * (i + 0.5)) / row.length, margin + ((height - 2 * margin) * depth) / Math.max(1, deepest)];
        });
      }
    } else if (shape === 'hosts') {
      // A switch stands in the middle of its row, and the ranks make room for it.
      const names = [...new Set(hosts)];
      names.forEach((host, h) => {
        const row = hosts.map((_, rank) => rank).filter((rank) => hosts[rank] === host);
        const y = margin + ((height - 2 * margin) * (h + 0.5)) / names.length;
        row.forEach((rank, i) => {
          at[rank] = [(width * (i + 0.5)) / row.length, y + (this.scene.switches.length > 0 ? -16 : i % 2 ? 10 : -10)];
        });
        this.scene.switches.forEach((joined, i) => {
          if (hosts[joined] === host) at[ranks + i] = [width / 2, y + 18];
        });
      });
    } else {
      for (let rank = 0; rank < ranks; rank++) {
        const angle = (2 * Math.PI * rank) / ranks - Math.PI / 2;
        at[rank] = [width / 2 + (width / 2 - margin) * Math.cos(angle), height / 2 + (height / 2 - margin) * Math.sin(angle)];
      }
      this.scene.switches.forEach((joined, i) => {
        const ends = [...this.neighbours[ranks + i]].filter((rank) => rank < ranks);
        const mine = ends.length > 0 ? ends : [joined]; // one without steps stands beside its rank, further in
        const inwards = ends.length > 0 ? 1 : 0.7;
        const middle = [width / 2, height / 2];
        at[ranks + i] = middle.map((of, axis) =>
          of + inwards * (mine.reduce((sum, rank) => sum + at[rank][axis], 0) / mine.length - of));
      });
    }
    return at;
  }

  // Hops from the root along links: of a tree its levels.
  levels() {
    const level = this.scene.programs.map(() => -1);
    let edge = [this.scene.root];
    level[this.scene.root] = 0;
    for (let depth = 1; edge.length > 0; depth++) {
      const next = new Set();
      edge.forEach((rank) => this.neighbours[rank].forEach((peer) => {
        if (level[peer] < 0) {
          level[peer] = depth;
          next.add(peer);
        }
      }));
      edge = [...next];
    }
    return level.map((depth) => Math.max(0, depth));
  }

  draw(time) {
    const box = this.canvas.getBoundingClientRect();
    const scale = window.devicePixelRatio || 1;
    const [width, height] = [box.width, box.height];
    if (this.canvas.width !== Math.round(width * scale)) this.canvas.width = Math.round(width * scale);
    if (this.canvas.height !== Math.round(height * scale)) this.canvas.height = Math.round(height * scale);
    const context = this.canvas.getContext('2d');
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    const style = getComputedStyle(document.documentElement);
    const [ink, faint, paper] = ['--ink', '--faint', '--paper'].map((name) => style.getPropertyValue(name));
    const at = this.place(width, height);
    if (this.shape() === 'hosts') this.drawHosts(context, at, width, faint, ink);
    context.strokeStyle = faint;
    context.lineWidth = 1;
    context.beginPath();
    for (const link of this.links) {
      const [a, b] = link.split(',').map(Number);
      context.moveTo(...at[a]);
      context.lineTo(...at[b]);
    }
    context.stroke();
    const size = this.scene.ranks > 32 ? 5 : this.scene.ranks > 16 ? 7 : 9;
    this.drawMessages(context, at, time, size);
    context.font = `${size > 7 ? 12 : 9}px system-ui, sans-serif`;
    context.textAlign = 'center';
    context.textBaseline = 'middle';
    const busy = this.busyRanks(time);
    at.forEach(([x, y], rank) => {
      const wrong = !this.scene.verdict.ok && this.scene.verdict.rank === rank;
      const isSwitch = rank >= this.scene.ranks;
      context.beginPath();
      if (isSwitch) context.rect(x - 2 * size - 4, y - size - 3, 4 * size + 8, 2 * size + 6);
      else context.arc(x, y, size + 4, 0, 2 * Math.PI);
      context.fillStyle = paper;
      context.fill();
      context.lineWidth = busy.has(rank) ? 4 : wrong ? 3 : 1.5;
      context.strokeStyle = wrong ? '#d00000' : ink;
      context.stroke();
      context.fillStyle = ink;
      context.fillText(isSwitch ? 'switch' : String(rank), x, y);
    });
  }

  // Ranks that fold or copy.
  busyRanks(time) {
    const busy = new Set();
    for (let i = upTo(this.workEnds, time); i < this.work.length && this.workEnds[i] <= time + this.longestWork; i++)
      if (this.work[i].begin <= time) busy.add(this.work[i].rank);
    return busy;
  }

  drawHosts(context, at, width, faint, ink) {
    const { hosts } = this.scene;
    context.strokeStyle = faint;
    context.lineWidth = 1;
    context.fillStyle = ink;
    context.font = '12px system-ui, sans-serif';
    context.textAlign = 'left';
    for (const host of new Set(hosts)) {
      const of = (id) => hosts[id < hosts.length ? id : this.scene.switches[id - hosts.length]];
      const rows = at.filter((_, id) => of(id) === host).map(([, y]) => y);
      const [top, bottom] = [Math.min(...rows) - 26, Math.max(...rows) + 26];
      context.strokeRect(4, top, width - 8, bottom - top);
      context.fillText(`host ${host}`, 10, top - 5); // outside: the first rank stands in that corner
    }
  }

  drawMessages(context, at, time, size) {
    const { messages } = this.result;
    const waiting = new Map();
    // Those that departed at most the longest flight ago may be on their way; of older ones some wait in slots.
    for (let i = upTo(this.departs, time) - 1; i >= 0; i--) {
      const message = messages[i];
      if (message.taken <= time) {
        if (message.arrive < time - this.longest && waiting.size === 0 && i < this.applied - 4096) break;
        continue;
      }
      const [x0, y0] = at[message.from];
      const [x1, y1] = at[message.to];
      const length = Math.hypot(x1 - x0, y1 - y0) || 1;
      let share = Math.min(1, (time - message.depart) / Math.max(1e-18, message.arrive - message.depart));
      if (message.arrive <= time) {
        const key = `${message.from},${message.to}`;
        const place = waiting.get(key) || 0;
        waiting.set(key, place + 1);
        share = Math.max(0.5, 1 - (size + 14 + place * (size + 2)) / length);
      }
      const side = 4; // to the right of its direction, so that both directions of a link are seen
      const x = x0 + (x1 - x0) * share - ((y1 - y0) / length) * side;
      const y = y0 + (y1 - y0) * share + ((x1 - x0) / length) * side;
      context.fillStyle = PALETTE[message.chunks[0] % PALETTE.length];
      context.fillRect(x - size / 2, y - size / 2, size, size);
    }
  }
}

// How many of the ascending numbers are at most `limit`.
function upTo(ascending, limit) {
  let [low, high] = [0, ascending.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ascending[middle] <= limit + 1e-15) low = middle + 1;
    else high = middle;
  }
  return low;
}

function heatColour(share) {
  const from = [240, 244, 248];
  const to = [0, 90, 140];
  return from.map((start, i) => Math.round(start + (to[i] - start) * share)).join(',');
}
