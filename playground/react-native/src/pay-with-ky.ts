/** The checkout on ky, without ky's own retries and timeouts, which differ between versions of React Native. */
import ky from 'ky';
import { withOnce } from 'oncefetch/ky';
import { API, once } from './once';
import { type Order, type View, viewOf } from './view';

const api = withOnce(ky.create({ prefix: API }), once);

export async function payWithKy(order: Order): Promise<View> {
  try {
    await api.post('payments', { json: order, once: { operation: ['pay', order.id], meta: { total: order.total } } });
    return 'paid';
  } catch (error) {
    return viewOf(error);
  }
}
