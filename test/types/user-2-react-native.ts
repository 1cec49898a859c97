import axios from 'axios';
import { clear, createOnce, type OnceRequestInit, outcomeOf, resume, settle } from 'oncefetch';
import { reactNative } from 'oncefetch/react-native';

declare const AsyncStorage: unknown,
  NetInfo: unknown,
  AppState: unknown,
  Crypto: { randomUUID(): string },
  session: { userId: string },
  tokens: { current(): Promise<string> };
export const once = createOnce({
  ...reactNative({ AsyncStorage, NetInfo, AppState, randomUUID: Crypto.randomUUID }),
  namespace: () => session.userId,
  keep: { request: true },
  headers: async () => ({ authorization: `Bearer ${await tokens.current()}` }),
});
export const http = axios.create({ baseURL: 'https://api.shop.example', adapter: 'fetch', env: { fetch: once.fetch }, timeout: 0 });
export async function pay(order: { id: string; total: number }) {
  try {
    const { data } = await http.post<{ id: string }>('/payments', order, {
      fetchOptions: { once: { operation: ['pay', order.id], meta: { total: order.total } } } satisfies OnceRequestInit,
    });
    return { view: 'paid', data } as const;
  } catch (error) {
    const outcome = outcomeOf(error); // finds it through AxiosError.request
    if (outcome?.type === 'unsent') return { view: 'offline' } as const; // nothing was sent and nothing will be
    if (outcome?.effect === 'none') return { view: 'declined' } as const;
    if (outcome?.effect === 'unknown') return { view: 'unsure', checkAfter: outcome.retryAt } as const;
    throw error;
  }
}
export async function onStart(show: (text: string) => void) {
  // killed in the middle of a payment, opened again
  for await (const { name, outcome } of resume(once, { prefix: ['pay'] }))
    show(outcome.effect === 'done' ? `Order ${String(name[1])} is paid` : `Order ${String(name[1])}: still being confirmed`);
}
export async function check(orderId: string) {
  // edited order after a timeout: same screen as 'unsure', one button
  const { state } = (await http.get<{ state: 'paid' | 'cancelled' | 'processing' }>(`/orders/${orderId}/payment`)).data;
  if (state !== 'processing') await settle(once, ['pay', orderId], state === 'paid' ? 'done' : 'none'); // now the edited order may be paid, with a new key
}
export const logOut = () => clear(once); // responses, bodies, settled records go; keys of unsettled payments stay, unreadable to the next user
