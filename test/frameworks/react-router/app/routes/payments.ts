import type { ActionFunctionArgs } from 'react-router';
import { pay } from '../pay.server';

export const action = ({ request }: ActionFunctionArgs) => pay(request);
