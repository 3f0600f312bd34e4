// Decodes LZMA (the format `.lzma`, as in Igor Pavlov's LZMA specification of 2015): browsers decode only gzip, which leaves the engine
// 40 % longer.

const STATES = 12;
/** Probabilities are shares of 2048. */
const EVEN = 1024;
const SHORTEST_MATCH = 2;
/** Lengths have a choice of three trees: 8 short and 8 middle ones for each position, 256 long ones. */
const LENGTH_PROBABILITIES = 2 + 2 * 16 * 8 + 256;

/** Throws for bytes that are not a `.lzma` file with its length in its header. */
export function decodeLzma(data: Uint8Array): Uint8Array<ArrayBuffer> {
  const properties = data[0] ?? 255;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  if (data.length < 18 || properties >= 9 * 5 * 5) throw new Error("this is no LZMA");
  const size = view.getUint32(5, true);
  if (view.getUint32(9, true) !== 0) throw new Error("this LZMA has no length in its head, or more than 4 GB");
  const literalContext = properties % 9;
  const rest = Math.floor(properties / 9);
  const literalMask = (1 << (rest % 5)) - 1;
  const positionMask = (1 << Math.floor(rest / 5)) - 1;

  let end = 0;
  const room = (count: number): number => {
    end += count;
    return end - count;
  };
  const isMatch = room(STATES << 4);
  const isRepeat = room(STATES);
  const isRepeat0 = room(STATES);
  const isRepeat1 = room(STATES);
  const isRepeat2 = room(STATES);
  const isLong = room(STATES << 4);
  const slots = room(4 << 6);
  const distances = room(115);
  const align = room(16);
  const lengths = room(LENGTH_PROBABILITIES);
  const repeatLengths = room(LENGTH_PROBABILITIES);
  const literals = room(0x300 << (literalContext + (rest % 5)));
  const chances = new Uint16Array(end).fill(EVEN);

  const out = new Uint8Array(size);
  let at = 0;
  let next = 18;
  let range = 0xffffffff;
  let code = view.getUint32(14, false);

  const refill = (): void => {
    if (next >= data.length + 4) throw new Error("this LZMA ends too early");
    range = (range << 8) >>> 0;
    code = ((code << 8) | (data[next++] ?? 0)) >>> 0;
  };
  const bit = (index: number): number => {
    const chance = chances[index] as number;
    const bound = (range >>> 11) * chance;
    let found = 0;
    if (code < bound) {
      range = bound;
      chances[index] = chance + ((2048 - chance) >> 5);
    } else {
      code -= bound;
      range -= bound;
      chances[index] = chance - (chance >> 5);
      found = 1;
    }
    if (range < 0x1000000) refill();
    return found;
  };
  const tree = (from: number, bits: number): number => {
    let node = 1;
    for (let left = bits; left > 0; left--) node = (node << 1) | bit(from + node);
    return node - (1 << bits);
  };
  const reverseTree = (from: number, bits: number): number => {
    let [node, value] = [1, 0];
    for (let index = 0; index < bits; index++) {
      const one = bit(from + node);
      node = (node << 1) | one;
      value |= one << index;
    }
    return value;
  };
  const direct = (bits: number): number => {
    let value = 0;
    for (let left = bits; left > 0; left--) {
      range >>>= 1;
      const one = code >= range ? 1 : 0;
      if (one) code -= range;
      value = (value << 1) | one;
      if (range < 0x1000000) refill();
    }
    return value;
  };
  const lengthOf = (from: number, position: number): number => {
    if (!bit(from)) return tree(from + 2 + (position << 3), 3);
    if (!bit(from + 1)) return 8 + tree(from + 2 + 128 + (position << 3), 3);
    return 16 + tree(from + 2 + 256, 8);
  };
  const distanceOf = (length: number): number => {
    const slot = tree(slots + (Math.min(length, 3) << 6), 6);
    if (slot < 4) return slot;
    const bits = (slot >> 1) - 1;
    const base = (2 | (slot & 1)) << bits;
    if (slot < 14) return base + reverseTree(distances + base - slot, bits);
    return (base >>> 0) + (direct(bits - 4) << 4) + reverseTree(align, 4);
  };

  let state = 0;
  // The last four distances, each less one.
  let [last0, last1, last2, last3] = [0, 0, 0, 0];
  while (at < size) {
    const position = at & positionMask;
    if (!bit(isMatch + (state << 4) + position)) {
      const before = at > 0 ? (out[at - 1] as number) : 0;
      const context = ((at & literalMask) << literalContext) + (before >> (8 - literalContext));
      const from = literals + 0x300 * context;
      let symbol = 1;
      if (state >= 7) {
        let matched = out[at - last0 - 1] as number;
        while (symbol < 0x100) {
          const expected = (matched >> 7) & 1;
          matched <<= 1;
          const one = bit(from + ((1 + expected) << 8) + symbol);
          symbol = (symbol << 1) | one;
          if (one !== expected) break;
        }
      }
      while (symbol < 0x100) symbol = (symbol << 1) | bit(from + symbol);
      out[at++] = symbol & 0xff;
      state = state < 4 ? 0 : state < 10 ? state - 3 : state - 6;
      continue;
    }
    let length: number;
    if (!bit(isRepeat + state)) {
      [last3, last2, last1] = [last2, last1, last0];
      length = lengthOf(lengths, position);
      state = state < 7 ? 7 : 10;
      last0 = distanceOf(length);
    } else {
      if (!bit(isRepeat0 + state)) {
        if (!bit(isLong + (state << 4) + position)) {
          if (last0 >= at) throw new Error("this LZMA copies from before its beginning");
          state = state < 7 ? 9 : 11;
          out[at] = out[at - last0 - 1] as number;
          at++;
          continue;
        }
      } else {
        let distance = last1;
        if (bit(isRepeat1 + state)) {
          distance = last2;
          if (bit(isRepeat2 + state)) {
            distance = last3;
            last3 = last2;
          }
          last2 = last1;
        }
        last1 = last0;
        last0 = distance;
      }
      length = lengthOf(repeatLengths, position);
      state = state < 7 ? 8 : 11;
    }
    if (last0 >= at) throw new Error("this LZMA copies from before its beginning");
    const stop = Math.min(size, at + length + SHORTEST_MATCH);
    for (; at < stop; at++) out[at] = out[at - last0 - 1] as number;
  }
  return out;
}
