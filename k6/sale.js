// One flash sale, for k6 v2.
//
//   k6 run -e TARGET=http://127.0.0.1:8080 -e STATS=http://127.0.0.1:8081/stats \
//          -e PROFILE=peak -e SEED=1 k6/sale.js
//
// TARGET is the URL of the edge or of the checkout, STATS the URL of the
// checkout's statistics, OUT the directory for summary.json (default: the
// current one).  "make sale" starts the servers and this script.

import { profile, scenarios, shoppers } from './lib/profile.js';
import { account, requireFresh } from './lib/server.js';
import { shop } from './lib/shopper.js';
import { text } from './lib/summary.js';

const TARGET = __ENV.TARGET || 'http://127.0.0.1:8080';
const STATS = __ENV.STATS || 'http://127.0.0.1:8081/stats';
const PROFILE = __ENV.PROFILE || 'peak';
const VARIANT = __ENV.VARIANT || 'unnamed';
const SEED = Number(__ENV.SEED || 1);
const OUT = __ENV.OUT || '.';

// not in profile.js: open() is relative to the main script
const sale = profile(JSON.parse(open('./profiles.json')), PROFILE);

export const options = {
  scenarios: scenarios(sale),

  thresholds: {
    // the schedule was delivered in full, otherwise the run is invalid
    dropped_iterations: ['count==0'],
    iterations: [`count>=${shoppers(sale)}`],

    // correctness, set in teardown()
    oversold_units: ['count==0'],
    orders_to_shoppers_who_left: ['count==0'],
    shoppers_failed: ['count==0'],

    // the edge holds called requests for up to two seconds
    'http_req_duration{name:checkout}': [`p(95)<${VARIANT.startsWith('edge') ? 3000 : 2000}`],
  },

  // every shopper is a separate client
  noVUConnectionReuse: true,

  setupTimeout: '30s',
  teardownTimeout: '180s',
  tags: { profile: PROFILE, variant: VARIANT, seed: String(SEED) },
  summaryTrendStats: ['min', 'avg', 'med', 'p(90)', 'p(95)', 'p(99)', 'max', 'count'],

  // no unused tags for each of about 10,000 requests
  systemTags: ['status', 'name', 'scenario', 'error_code', 'expected_response'],
};

export function setup() {
  requireFresh(STATS);
}

export default function () {
  shop(TARGET, SEED);
}

export function teardown() {
  account(STATS);
}

export function handleSummary(data) {
  const summary = { profile: PROFILE, variant: VARIANT, seed: SEED, shoppers: shoppers(sale), ...data };

  return {
    stdout: text(`${PROFILE}, ${VARIANT}, seed ${SEED}: ${shoppers(sale)} shoppers`, data),
    [`${OUT}/summary.json`]: JSON.stringify(summary, null, 1),
  };
}
