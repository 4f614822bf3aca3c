// The text summary of a run.

const LABELS = {
  shoppers_confirmed: 'saw a confirmation',
  shoppers_declined: 'saw a decline',
  shoppers_sold_out: 'saw "sold out"',
  shoppers_refused: 'were refused at the deadline',
  shoppers_gave_up: 'gave up waiting',
  shoppers_timed_out: 'saw a timeout',
  shoppers_failed: 'saw an error',
  dropped_iterations: 'never started (dropped)',
  server_orders: 'orders at the checkout',
  oversold_units: 'oversold units',
  orders_to_shoppers_who_left: 'orders of shoppers who had left',
};

export function count(data, metric) {
  return data.metrics[metric] ? data.metrics[metric].values.count : 0;
}

function counts(data) {
  return Object.entries(LABELS).map(
    ([metric, label]) => `${String(count(data, metric)).padStart(8)}  ${label}`,
  );
}

function trends(data) {
  return ['time_to_purchase', 'confirmed_request', 'first_answer']
    .filter((name) => data.metrics[name])
    .map((name) => {
      const { med, 'p(95)': p95, max } = data.metrics[name].values;
      const show = (ms) => `${(ms / 1000).toFixed(3)} s`;

      return `${name.padEnd(20)} median ${show(med)}, p95 ${show(p95)}, max ${show(max)}`;
    });
}

export function thresholds(data) {
  return Object.entries(data.metrics).flatMap(([metric, { thresholds: rules = {} }]) =>
    Object.entries(rules).map(([rule, { ok }]) => ({ metric, rule, ok })),
  );
}

export function text(title, data) {
  const rules = thresholds(data).map(
    ({ metric, rule, ok }) => `${ok ? '  passed' : '  BROKEN'}  ${metric} ${rule}`,
  );

  return `${['', title, '', ...counts(data), '', ...trends(data), '', ...rules].join('\n')}\n\n`;
}
