// Draws that follow from the sale's seed and the shopper's number, so that a
// shopper does the same whichever VU plays it.

// An integer hash (the finalizer of MurmurHash3): 32 bits in, 32 bits out.
function mix(value) {
  let h = value >>> 0;

  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);

  return (h ^ (h >>> 16)) >>> 0;
}

// The draw-th number of a shopper, uniform in [0, 1).
export function uniform(seed, shopper, draw) {
  return mix(mix(mix(seed) ^ shopper) ^ Math.imul(draw + 1, 0x9e3779b9)) / 4294967296;
}
