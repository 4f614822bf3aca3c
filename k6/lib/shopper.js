// One shopper: tries to buy, retries after the advised wait, and leaves when
// its patience ends.

import { sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Counter, Rate, Trend } from 'k6/metrics';

import { PATIENCE_MS } from './profile.js';
import { uniform } from './random.js';

const counters = {
  confirmed: new Counter('shoppers_confirmed'),
  declined: new Counter('shoppers_declined'),
  sold_out: new Counter('shoppers_sold_out'),
  refused: new Counter('shoppers_refused'),
  gave_up: new Counter('shoppers_gave_up'),
  timed_out: new Counter('shoppers_timed_out'),
  failed: new Counter('shoppers_failed'),
};

const failures = new Rate('shopper_failures');
const requests = new Counter('shopper_requests');
const firstAnswer = new Trend('first_answer', true);
const timeToPurchase = new Trend('time_to_purchase', true);
const confirmedRequest = new Trend('confirmed_request', true);

const OUTCOMES = { 200: 'confirmed', 402: 'declined', 409: 'sold_out', 504: 'refused' };
const WAIT = 503;

// k6's error code for a request timeout
const REQUEST_TIMEOUT = 1050;

http.setResponseCallback(http.expectedStatuses(200, 402, 409, 503, 504));

// The advised wait of an answer, in ms: retry_ms of the waiting room's JSON, or
// Retry-After, multiplied by 0.5 to 1.5 so that shoppers who were refused
// together do not return together.
function advisedWait(response, draw) {
  if ((response.headers['Content-Type'] || '').startsWith('application/json')) {
    const retry = response.json('retry_ms');

    if (retry) {
      return retry;
    }
  }

  return Number(response.headers['Retry-After'] || 1) * 1000 * (0.5 + draw);
}

function outcomeOf(response) {
  if (response.error_code === REQUEST_TIMEOUT) {
    return 'timed_out';
  }

  return OUTCOMES[response.status] || 'failed';
}

// Tries until a final answer or the end of patience.  All times are wall clock,
// in ms.
function tryToBuy(target, seed, number) {
  const first = Date.now();
  const deadline = first + PATIENCE_MS;
  const visit = { first, sent: first, tries: 0, response: null, outcome: 'gave_up' };
  const order = JSON.stringify({ quantity: 1, email: `shopper-${number}@example.com` });

  while (visit.sent < deadline) {
    visit.response = http.post(`${target}/checkout`, order, {
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json',
        'Flash-Deadline-Ms': String(deadline),
      },
      tags: { name: 'checkout' },
      timeout: deadline - visit.sent,
    });
    visit.tries++;

    if (visit.tries === 1) {
      firstAnswer.add(visit.response.timings.duration);
    }

    if (visit.response.status !== WAIT) {
      visit.outcome = outcomeOf(visit.response);
      break;
    }

    const wait = advisedWait(visit.response, uniform(seed, number, visit.tries));

    if (Date.now() + wait >= deadline) {
      break;
    }

    sleep(wait / 1000);
    visit.sent = Date.now();
  }

  visit.end = Date.now();

  return visit;
}

function account(visit) {
  counters[visit.outcome].add(1);
  failures.add(visit.outcome === 'failed');
  requests.add(visit.tries);

  if (visit.outcome === 'confirmed') {
    timeToPurchase.add(visit.end - visit.first);
    confirmedRequest.add(visit.response.timings.duration);
  }
}

// Runs one shopper against "target", and logs a line for sale-record.pl:
// number, first attempt, last request sent, end (ms), outcome, requests, and
// the last answer's status (or k6's error code if there was none).
export function shop(target, seed) {
  const number = exec.scenario.iterationInTest + 1;
  const visit = tryToBuy(target, seed, number);
  const last = visit.response.status || visit.response.error_code;

  account(visit);

  console.log(
    [number, visit.first, visit.sent, visit.end, visit.outcome, visit.tries, last].join('\t'),
  );
}
