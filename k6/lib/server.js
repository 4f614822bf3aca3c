// The checkout's own count of orders, as metrics for the thresholds.

import { sleep } from 'k6';
import exec from 'k6/execution';
import http from 'k6/http';
import { Gauge, Counter } from 'k6/metrics';

const oversold = new Counter('oversold_units');
const late = new Counter('orders_to_shoppers_who_left');
const orders = new Counter('server_orders');
const inProgress = new Gauge('server_in_progress_max');

const REST_TIMEOUT_S = 150;

function stats(url) {
  const response = http.get(url, { tags: { name: 'stats' } });

  if (response.status !== 200) {
    throw new Error(
      `GET ${url} failed: status ${response.status} ${response.error};`
        + ' STATS must be the URL of the checkout\'s statistics',
    );
  }

  return response.json();
}

// Earlier orders would be counted as orders of this sale.
export function requireFresh(url) {
  const now = stats(url);

  if (now.orders > 0 || now.in_progress > 0) {
    exec.test.abort(
      `the checkout at ${url} already has ${now.orders} orders`
        + ` and ${now.in_progress} in progress`,
    );
  }
}

// Waits until nothing is in progress (payments continue after their shoppers
// have left), then sets the metrics.
export function account(url) {
  let now = stats(url);

  for (let waited = 0; now.in_progress > 0; waited++) {
    if (waited === REST_TIMEOUT_S) {
      throw new Error(`${now.in_progress} checkouts in progress ${waited} s after the sale`);
    }

    sleep(1);
    now = stats(url);
  }

  oversold.add(now.oversold);
  late.add(now.late_charges);
  orders.add(now.orders);
  inProgress.add(now.in_progress_max);
}
