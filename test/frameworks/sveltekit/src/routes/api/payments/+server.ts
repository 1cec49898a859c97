import type { RequestHandler } from '@sveltejs/kit';
import { pay } from '../../../pay';

export const POST: RequestHandler = (event) => pay(event);
