/** Two worlds in one: what each of two other scenarios has an app do, and what befalls it there. */
import type { FaultRates } from '../faults.js';
import type { Workload } from '../plan.js';
import type { ClientOptions, Scenario, WorldOptions } from '../scenario.js';
import * as answers from './answers.js';
import * as apps from './apps.js';
import * as crossings from './crossings.js';
import * as places from './places.js';
import * as storms from './storms.js';

/** All but one: what is paid at the counter, only the record knows, and each of the other scenarios has its own way of losing that. */
const ALL: readonly Scenario[] = [storms, places, answers, apps, crossings]
  .flatMap((group): readonly Scenario[] => Object.values(group))
  .filter((scenario) => scenario !== answers.paidElsewhere);

/** Each rate, and each expected number, as in the world that has more of it. */
const more = <T extends object>(one: T, other: T): T => {
  const sum = { ...one } as Record<string, number>;
  for (const [name, value] of Object.entries(other)) sum[name] = Math.max(sum[name] ?? 0, value as number);
  return sum as T;
};

const given = <T extends object>(options: T): T => Object.fromEntries(Object.entries(options).filter(([, value]) => value)) as T;

/** Whether a scenario is about its server, or about calls that are made in another way: what goes with that is its own. */
const isSpecial = ({ client, server }: WorldOptions): boolean =>
  !server.honours || !!(client.runs || client.accepted || client.endpoints || client.dialect || client.unnamed || client.byContent || client.bodies);

/** The app of `one`, with whatever of the other one's it can have at the same time. */
function bothApps(one: ClientOptions, { runs, nests, accepted, endpoints, dialect, unnamed, byContent, bodies, ...other }: ClientOptions): ClientOptions {
  const all = { ...given(other), ...given(one) };
  const nameless = all.unnamed || all.byContent;
  const bare = nameless || all.runs;
  return {
    ...all,
    // The judge goes by the limits of one of two clients.
    limits: all.other ? undefined : all.unnamed || all.runs ? one.limits : all.limits,
    // The SDK's app takes no answer for a mismatch, and a given key leads back to what it has sent before, wherever that was.
    keys: bare || all.endpoints || all.repeat ? 'random' : all.keys,
    picks: bare ? false : all.picks,
    repeat: nameless || all.nests ? undefined : all.repeat,
    consentMs: bare ? undefined : all.consentMs,
    other: all.consentMs === undefined ? all.other : undefined,
  };
}

/** What does not befall such an app, because the judge could not tell whose doing it is. */
function spared(
  { client: { unnamed, runs, nests }, devices, guests, server, workload }: WorldOptions,
  own: WorldOptions,
): { faults: FaultRates; workload: Partial<Workload> } {
  const byName = { resume: 0, forget: 0, forgetAnyway: 0, settle: 0, lie: 0, logOutForget: 0 };
  return {
    faults: {
      ...((unnamed || runs || guests || !server.honours || workload.powerLoss) && { callsBack: 0 }),
      ...((unnamed || runs) && { forgetsEarly: 0 }),
      ...(runs && { reconcileHangs: 0 }),
      // A damaged record whose name can't be read is not found any more after a log-in. An equal call without a name may begin in the moment that it is damaged. The function of a `run` whose other button has one never ends.
      ...((unnamed || nests || guests || workload.evict || workload.powerLoss) && { torn: 0 }),
    },
    workload: {
      // Where tabs may race for a key unseen, a refusal that is kept may be that of the tab beside, or of an earlier operation whose record is lost.
      ...(devices.some(({ atomic }) => !atomic) && { evict: 0 }),
      // A power cut may undo a log-out.
      ...(workload.powerLoss && { logOut: 0, logOutForget: 0 }),
      // The first record of a call without a name does not outlive a power cut.
      ...(unnamed && { ...byName, powerLoss: 0 }),
      // Once a function runs, its later calls are its own: with whose cookie, only it can know.
      ...(runs && { logOut: own.workload.logOut ?? 0, logOutForget: 0, evict: 0 }),
      ...(guests && { ...byName, logOut: 0 }),
    },
  };
}

export const pairs: Scenario = {
  name: 'pairs',
  says: 'two other scenarios in one world',
  options: (random, seed): WorldOptions => {
    const drawn = [random.pick(ALL), random.pick(ALL)].map((scenario) => ({ name: scenario.name, ...scenario.options(random.of(scenario.name), seed) }));
    const [one, other] = drawn.sort((a, b) => Number(isSpecial(b)) - Number(isSpecial(a)));
    if (!one || !other) throw new Error('no scenario');
    const guests = one.guests || (other.guests && !isSpecial(one));
    const client = bothApps(one.client, other.client);
    const windowMs = client.unnamed || client.runs ? one.server.windowMs : Math.max(one.server.windowMs, other.server.windowMs);
    const both: WorldOptions = {
      madeOf: [one.name, other.name],
      devices: one.devices,
      sharedStore: one.sharedStore,
      screens: one.screens || other.screens,
      guests,
      server: { ...one.server, windowMs, ...(guests && { anyAccount: random.chance(0.7) }) },
      client: {
        ...client,
        ...(guests && { keys: 'random', repeat: undefined, reconciles: client.reconciles && 'by-key' }),
        ...(!one.server.honours && { repeat: undefined }),
      },
      faults: more(one.faults, other.faults),
      workload: { ...more(one.workload, other.workload), operations: Math.min(one.workload.operations, other.workload.operations) },
    };
    const { faults, workload } = spared(both, one);
    return { ...both, faults: { ...both.faults, ...faults }, workload: { ...both.workload, ...workload } };
  },
};
