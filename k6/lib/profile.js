// Converts a profile of profiles.json to k6 scenarios: an open model, with all
// VUs allocated before the start.

// The time for which a shopper keeps trying.
export const PATIENCE_MS = 15000;

export function profile(profiles, name) {
  if (!Object.hasOwn(profiles, name)) {
    throw new Error(`PROFILE=${name}: must be one of ${Object.keys(profiles).join(', ')}`);
  }

  return profiles[name];
}

// The number of shoppers of a scenario.  Shopper i starts when the integral of
// the rate reaches i; k6 does not start one at the end of the scenario.
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
      // the last shopper may wait for its whole patience
      gracefulStop: `${PATIENCE_MS / 1000 + 15}s`,
      tags: { part: name },
    };
  }

  return made;
}
