// What chunks hold: whose contributions, and how often each.
//
// For: scenes (scene.py), whatever the clock is: a step is folded with its first slice, as a step of another lane may read it
// slice by slice, and seen when its last one is done. Not for: times (simulate.js, recorded.js), drawing.
'use strict';

// Contributions: how often each rank's data is in a chunk.
function addTo(sum, value) {
  for (let rank = 0; rank < sum.length; rank++) sum[rank] += value[rank];
  return sum;
}

// Of one pass over the data. `shown`: what is seen of each rank and chunk, for all passes; `part`: what to call this one,
// '' where there is one only.
class Contents {
  constructor(scene, shown, part) {
    this.scene = scene;
    this.shown = shown;
    this.part = part;
    this.values = scene.programs.map(() => new Map());
  }

  // Works out a step's operand, chunk by chunk, and keeps it where the step does; `arrived`: operands of the steps whose
  // messages it reads.
  fold(rank, step, arrived) {
    const operand = this.folded(rank, step, arrived);
    if (step.dst !== null) step.chunks.forEach((chunk, i) => this.values[rank].set(placeKey(step.dst, chunk, i), operand[i]));
    return operand;
  }

  folded(rank, step, arrived) {
    const own = step.src === null ? null : this.read(rank, step.src, step);
    return step.chunks.map((_, i) => {
      const parts = arrived.map((value) => value[i] || new Uint8Array(this.scene.ranks));
      if (own !== null && (step.reduces || arrived.length === 0)) parts.push(own[i]);
      if (step.reduces && arrived.length === 0) parts.push(this.read(rank, step.dst, step)[i]);
      const sum = new Uint8Array(this.scene.ranks);
      if (step.reduces) parts.forEach((part) => addTo(sum, part));
      else addTo(sum, parts[0]);
      return sum;
    });
  }

  read(rank, place, step) {
    return step.chunks.map((chunk, i) => {
      const key = placeKey(place, chunk, i);
      const known = this.values[rank].get(key);
      if (known !== undefined) return known;
      const value = new Uint8Array(this.scene.ranks);
      if (place[0] === 'input') value[rank] = 1;
      return value;
    });
  }

  // Pushes what is to be seen of a step that is done, and what was seen before.
  write(time, rank, index, operand, writes) {
    const step = this.scene.programs[rank][index];
    if (rank >= this.scene.ranks || (step.dst === null && !step.reduces)) return; // a switch keeps nothing
    step.chunks.forEach((chunk, i) => {
      const value = operand[i];
      // A partial sum that is passed on and kept nowhere is what textbooks draw as the rank's chunk.
      const kept = step.dst !== null;
      if (kept && step.dst[0] === 'scratch') return;
      const place = `${rank}/${chunk}`;
      const { part } = this;
      writes.push({ time, rank, step: index, chunk, kept, value, part, old: this.shown.get(place) });
      this.shown.set(place, { value, kept, part });
    });
  }
}

function placeKey(place, chunk, i) {
  return place[0] === 'scratch' ? `scratch:${place[1] + i}` : `${place[0]}:${chunk}`;
}
