/** Requests of one operation go to several origins, endpoints, methods or dialects. */
import { defineDialect } from '../../../src/dialects/define.js';
import { GENERIC } from '../../../src/dialects/generic.js';
import { inHeader } from '../../../src/dialects/key-location.js';
import { endpoint, PAY } from '../requests.js';
import type { Scenario } from '../scenario.js';
import { anyDevices, family, LIFE, NETWORK, PEOPLE, SERVER } from './parts.js';

const PAYPAL = endpoint('https://shop.example/pay/paypal');
/** Another region, with a key table of its own. */
const FAILOVER = endpoint('https://eu.shop.example/pay');
const CANCEL = endpoint('https://shop.example/pay', { method: 'DELETE' });
const X_REQUEST_ID = endpoint('https://shop.example/pay/by-invoice', { headers: ['x-request-id'] });

export const elsewhere: Scenario = {
  name: 'elsewhere',
  says: 'after a lost answer, the next press goes to another origin or endpoint, where the server has never seen the key',
  options: (random) => {
    const failover = random.chance(0.5);
    return {
      ...anyDevices(random),
      server: { ...family(random), scope: [failover ? 'origin' : 'endpoint'] },
      client: {
        endpoints: [PAY, failover ? FAILOVER : PAYPAL],
        reconciles: random.chance(0.3),
        keep: { request: random.chance(0.5) },
        repeat: random.pick(['never', 'never', 'if-changed', 'always'] as const),
      },
      faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003 },
      workload: { ...PEOPLE, changed: 0.5, resumeAll: 0.05 },
    };
  },
};

export const dialects: Scenario = {
  name: 'dialects',
  says: 'two endpoints of one server look for the key in different headers',
  options: (random) => {
    const other = defineDialect({ name: 'by-invoice', place: inHeader('X-Request-Id') });
    return {
      ...anyDevices(random),
      server: { ...family(random), scope: ['endpoint'] },
      client: {
        endpoints: [PAY, X_REQUEST_ID],
        dialect: ({ url }) => (url === X_REQUEST_ID.url ? other : GENERIC),
        reconciles: random.chance(0.3),
        keep: { request: random.chance(0.5) },
      },
      faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003 },
      workload: { ...PEOPLE, changed: 0.5, resumeAll: 0.05 },
    };
  },
};

export const deletes: Scenario = {
  name: 'deletes',
  says: 'a DELETE with a name: nobody knows who deleted the thing if the second attempt gets a 404',
  options: (random) => ({
    ...anyDevices(random),
    server: { ...family(random), scope: ['method'] },
    client: { endpoints: random.chance(0.7) ? [CANCEL] : [PAY, CANCEL], reconciles: random.chance(0.3), keep: { request: random.chance(0.5) } },
    faults: { ...NETWORK, ...SERVER, ...LIFE, killed: 0.003, frontRefuses: 0.15, frontKnows: 0.3 },
    workload: { ...PEOPLE, changed: 0.1, resumeAll: 0.05 },
  }),
};
