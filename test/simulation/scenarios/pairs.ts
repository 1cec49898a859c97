/** Combines two other scenarios: one app with the options of both, and the faults of both. */
import type { FaultRates } from '../faults.js';
import type { Workload } from '../plan.js';
import type { ClientOptions, Scenario, WorldOptions } from '../scenario.js';
import * as answers from './answers.js';
import * as apps from './apps.js';
import * as crossings from './crossings.js';
import * as places from './places.js';
import * as storms from './storms.js';

/** All but `paid-elsewhere`: only the record knows that an operation was paid at the counter, and each other scenario has its own way of losing the record. */
const ALL: readonly Scenario[] = [storms, places, answers, apps, crossings]
  .flatMap((group): readonly Scenario[] => Object.values(group))
  .filter((scenario) => scenario !== answers.paidElsewhere);

/** Takes each rate, and each expected number, from the scenario in which it is higher. */
const more = <T extends object>(one: T, other: T): T => {
  const sum = { ...one } as Record<string, number>;
  for (const [name, value] of Object.entries(other)) sum[name] = Math.max(sum[name] ?? 0, value as number);
  return sum as T;
};

const given = <T extends object>(options: T): T => Object.fromEntries(Object.entries(options).filter(([, value]) => value)) as T;

/** Whether a scenario is about its server, or about calls that are made in another way. Then the pair takes these parts from this scenario. */
const isSpecial = ({ client, server }: WorldOptions): boolean =>
  !server.honours || !!(client.runs || client.accepted || client.endpoints || client.dialect || client.unnamed || client.byContent || client.bodies);

/** The app of `one`, with the options of the other app that are possible at the same time. */
function bothApps(one: ClientOptions, { runs, nests, accepted, endpoints, dialect, unnamed, byContent, bodies, ...other }: ClientOptions): ClientOptions {
  const all = { ...given(other), ...given(one) };
  const nameless = all.unnamed || all.byContent;
  const bare = nameless || all.runs;
  return {
    ...all,
    // The checkers know the limits of one client only.
    limits: all.other ? undefined : all.unnamed || all.runs ? one.limits : all.limits,
    // Keys that aren't random can lead back to an earlier request, at whichever endpoint that was, and the app with the SDK does not recognise a mismatch.
    keys: bare || all.endpoints || all.repeat ? 'random' : all.keys,
    picks: bare ? false : all.picks,
    repeat: nameless || all.nests ? undefined : all.repeat,
    consentMs: bare ? undefined : all.consentMs,
    other: all.consentMs === undefined ? all.other : undefined,
  };
}

/** Faults and actions that the pair leaves out, because the checkers could not tell whether the client caused what follows. */
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
      // Three cases exclude damage: after a log-in, a damaged record whose name cannot be read is not found any more; an equal unnamed call may begin
      // at the moment of the damage; and the function of a `run` never ends if the operation that it presses has a damaged record.
      ...((unnamed || nests || guests || workload.evict || workload.powerLoss) && { torn: 0 }),
    },
    workload: {
      // If tabs may race for a key unseen, a kept refusal may be that of the other tab, or of an earlier operation whose record is lost.
      ...(devices.some(({ atomic }) => !atomic) && { evict: 0 }),
      // A power cut may undo a log-out.
      ...(workload.powerLoss && { logOut: 0, logOutForget: 0 }),
      // The first record of a call without a name does not outlive a power cut.
      ...(unnamed && { ...byName, powerLoss: 0 }),
      // Once the function of a `run` has begun, its later requests are its own: only the function can know whose cookie they bear.
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
