// Random numbers derived from the seed of the sale and the number of the
// shopper: independent of the VU that runs the shopper.

// An integer hash (the finalizer of MurmurHash3): 32 bits in, 32 bits out.
function mix(value) {
  let h = value >>> 0;

  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);

  return (h ^ (h >>> 16)) >>> 0;
}

// Random number "draw" of a shopper, uniform in [0, 1).
export function uniform(seed, shopper, draw) {
  return mix(mix(mix(seed) ^ shopper) ^ Math.imul(draw + 1, 0x9e3779b9)) / 4294967296;
}
