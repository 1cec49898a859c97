/** The checkout on axios. */
import axios from 'axios';
import type { OnceRequestInit } from 'oncefetch';
import { API, once } from './once';
import { type Order, type View, viewOf } from './view';

// `timeout` is 0 because oncefetch has its own timeout; that of axios could end the call between two attempts.
const http = axios.create({ baseURL: API, adapter: 'fetch', env: { fetch: once.fetch }, timeout: 0 });

export async function payWithAxios(order: Order): Promise<View> {
  const init: OnceRequestInit = { once: { operation: ['pay', order.id], meta: { total: order.total } } };
  try {
    await http.post('/payments', order, { fetchOptions: init });
    return 'paid';
  } catch (error) {
    return viewOf(error);
  }
}
