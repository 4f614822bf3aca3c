// Load test to the breaking point, for k6 v2: the arrival rate grows in steps
// up to 300 % of the peak.  The first step that breaks a threshold ends the run
// and is the breaking point.
//
//   k6 run -e TARGET=http://127.0.0.1:8080 -e STATS=http://127.0.0.1:8081/stats k6/rehearse.js
//
// Environment as for sale.js.

import exec from 'k6/execution';

import { PATIENCE_MS } from './lib/profile.js';
import { account, requireFresh } from './lib/server.js';
import { shop } from './lib/shopper.js';
import { count, text, thresholds } from './lib/summary.js';

const TARGET = __ENV.TARGET || 'http://127.0.0.1:8080';
const STATS = __ENV.STATS || 'http://127.0.0.1:8081/stats';
const VARIANT = __ENV.VARIANT || 'unnamed';
const SEED = Number(__ENV.SEED || 1);
const OUT = __ENV.OUT || '.';

const PEAK_RATE = 64;
const STEPS = [50, 100, 150, 200, 250, 300];
const RAMP_S = 5;
const HOLD_S = 15;

const rate = (step) => Math.round((PEAK_RATE * step) / 100);
const highest = rate(STEPS[STEPS.length - 1]);
const vus = Math.ceil((highest * PATIENCE_MS) / 1000) + 100;

// Thresholds for each step: over the whole run, the first steps would hide a
// failure in the last ones.
function rules() {
  const made = {
    dropped_iterations: [{ threshold: 'count==0', abortOnFail: true }],
    oversold_units: ['count==0'],
    orders_to_shoppers_who_left: ['count==0'],
  };

  for (const step of STEPS) {
    made[`first_answer{step:${step}}`] = [
      { threshold: 'p(95)<2000', abortOnFail: true, delayAbortEval: `${RAMP_S}s` },
    ];
    made[`shopper_failures{step:${step}}`] = [
      { threshold: 'rate<0.01', abortOnFail: true, delayAbortEval: `${RAMP_S}s` },
    ];
  }

  return made;
}

export const options = {
  scenarios: {
    rehearsal: {
      executor: 'ramping-arrival-rate',
      startRate: 0,
      timeUnit: '1s',
      preAllocatedVUs: vus,
      maxVUs: vus,
      stages: STEPS.flatMap((step) => [
        { duration: `${RAMP_S}s`, target: rate(step) },
        { duration: `${HOLD_S}s`, target: rate(step) },
      ]),
      gracefulStop: `${PATIENCE_MS / 1000 + 15}s`,
    },
  },
  thresholds: rules(),
  noVUConnectionReuse: true,
  setupTimeout: '30s',
  teardownTimeout: '180s',
  tags: { profile: 'rehearse', variant: VARIANT, seed: String(SEED) },
  summaryTrendStats: ['min', 'avg', 'med', 'p(90)', 'p(95)', 'p(99)', 'max', 'count'],
  systemTags: ['status', 'name', 'scenario', 'error_code', 'expected_response'],
};

export function setup() {
  requireFresh(STATS);
}

export default function () {
  const elapsed = (Date.now() - exec.scenario.startTime) / 1000;
  const step = Math.min(Math.floor(elapsed / (RAMP_S + HOLD_S)), STEPS.length - 1);

  exec.vu.metrics.tags.step = String(STEPS[step]);
  shop(TARGET, SEED);
}

export function teardown() {
  account(STATS);
}

function verdict(data) {
  const broken = thresholds(data).filter(({ ok }) => !ok);
  const step = broken.map(({ metric }) => Number((/step:(\d+)/.exec(metric) || [])[1]))
    .filter((number) => number > 0)
    .sort((a, b) => a - b)[0];

  if (count(data, 'dropped_iterations') > 0) {
    return 'invalid: k6 could not keep its schedule on this machine';
  }

  if (step) {
    return `broke at ${step} % of the peak, ${rate(step)} shoppers per second`;
  }

  return broken.length > 0
    ? 'fast enough, but wrong results: see the thresholds'
    : `passed up to ${STEPS[STEPS.length - 1]} % of the peak, ${highest} shoppers per second`;
}

export function handleSummary(data) {
  const found = verdict(data);

  return {
    stdout: text(`rehearse, ${VARIANT}, seed ${SEED}: ${found}`, data),
    [`${OUT}/summary.json`]: JSON.stringify({ variant: VARIANT, seed: SEED, verdict: found, ...data }, null, 1),
  };
}
