import type { Scenario } from '../scenario.js';
import * as answers from './answers.js';
import * as apps from './apps.js';
import * as calls from './calls.js';
import * as carriers from './carriers.js';
import * as crossings from './crossings.js';
import { killedAt } from './killed-at.js';
import * as months from './months.js';
import * as paired from './pairs.js';
import * as places from './places.js';
import * as servers from './servers.js';
import * as sessions from './sessions.js';
import * as storms from './storms.js';
import * as strangers from './strangers.js';

/** The scenarios whose worlds are drawn from the seed. */
export const drawn: readonly Scenario[] = [storms, places, servers, answers, apps, crossings, calls, carriers, months, sessions, strangers, paired].flatMap(
  (group): readonly Scenario[] => Object.values(group),
);
export const scenarios: readonly Scenario[] = [...drawn, ...killedAt];
