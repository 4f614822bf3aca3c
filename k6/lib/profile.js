// A sale's profile, from profiles.json, as k6's scenarios: an open model, and
// every VU there before the first shopper comes.

// How long a shopper keeps trying.
export const PATIENCE_MS = 15000;

export function profile(profiles, name) {
  if (!Object.hasOwn(profiles, name)) {
    throw new Error(`PROFILE=${name}: give one of ${Object.keys(profiles).join(', ')}`);
  }

  return profiles[name];
}

// Shoppers that a scenario's schedule starts.  The i-th comes when the
// integral of the rate reaches i; one that would come at the very end does not.
function scheduled(stages) {
  let area = 0;

  for (let i = 1; i < stages.length; i++) {
    area += (stages[i][0] * (stages[i - 1][1] + stages[i][1])) / 2;
  }

  return Math.ceil(area) - 1;
}

export function shoppers(sale) {
  return Object.values(sale.scenarios).reduce((sum, part) => sum + scheduled(part.stages), 0);
}

export function scenarios(sale) {
  const peak = (part) => Math.max(...part.stages.map(([, rate]) => rate));
  const peaks = Object.values(sale.scenarios).reduce((sum, part) => sum + peak(part), 0);
  const made = {};

  for (const [name, part] of Object.entries(sale.scenarios)) {
    const vus = Math.ceil((sale.vus * peak(part)) / peaks);

    made[name] = {
      executor: 'ramping-arrival-rate',
      startTime: `${part.start_s}s`,
      startRate: part.stages[0][1],
      timeUnit: '1s',
      preAllocatedVUs: vus,
      maxVUs: vus,
      stages: part.stages.slice(1).map(([duration, target]) => ({
        duration: `${duration}s`,
        target,
      })),
      // whoever came last may still wait for as long as anybody would
      gracefulStop: `${PATIENCE_MS / 1000 + 15}s`,
      tags: { part: name },
    };
  }

  return made;
}
