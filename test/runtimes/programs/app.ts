/** A service, the same in every runtime: it pays at a shop with `once.fetch`, and answers how the call ended. */
import { createOnce, extend, type Once, type OnceOptions, type Outcome, outcomeOf, pending, unnamed } from 'oncefetch';
import type { ContractResult } from './contract.js';

/** The client of a service. Each program makes it where its runtime's users do: at module level. */
export const clientOver = (more: OnceOptions = {}): Once => createOnce({ use: [unnamed()], retry: { minDelayMs: 1, maxDelayMs: 10 }, ...more });

/** How a call ended. */
export interface Told {
  readonly outcome: Outcome | undefined;
  readonly status?: number;
  readonly body?: string;
  readonly error?: string;
}

async function pay(once: Once, at: string, name: string | null): Promise<Told> {
  const init = { method: 'POST', body: JSON.stringify({ amount: 5 }), headers: { 'content-type': 'application/json' } };
  try {
    const response = await once.fetch(at, name === null ? init : { ...init, once: ['pay', name] });
    return { outcome: outcomeOf(response), status: response.status, body: await response.text() };
  } catch (error) {
    return { outcome: outcomeOf(error), error: String(error) };
  }
}

/** `/pay?at=…&cart=…&customer=…` pays; without `cart` the call has no name. `/pending` lists operations, `/contract` runs the store contract. */
export async function answer(client: Once, request: Request, contract?: () => Promise<ContractResult>): Promise<Response> {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === '/contract') return Response.json(await contract?.());
  const customer = searchParams.get('customer');
  const once = customer === null ? client : extend(client, { namespace: customer });
  if (pathname === '/pending') return Response.json((await pending(once)).map(({ name }) => name));
  return Response.json(await pay(once, searchParams.get('at') ?? '', searchParams.get('cart')));
}
