// What the checkout itself says it sold: a sale is judged by that, not by how
// fast it was.

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
      `${url} answers ${response.status} ${response.error}: it must be the checkout's GET /stats;`
        + ' give its address in STATS',
    );
  }

  return response.json();
}

// A sale on a checkout that has already sold would be judged by the other's
// orders too.
export function requireFresh(url) {
  const now = stats(url);

  if (now.orders > 0 || now.in_progress > 0) {
    exec.test.abort(
      `the checkout at ${url} has ${now.orders} orders and ${now.in_progress} in progress;`
        + ' restart it for each sale',
    );
  }
}

// Waits until nothing is in progress (a line for payment outlives the
// shoppers who stood in it), then reports what was sold as metrics.
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
