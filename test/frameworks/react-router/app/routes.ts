import { type RouteConfig, route } from '@react-router/dev/routes';

export default [
  route('action', 'routes/action.tsx'),
  route('form', 'routes/form.tsx'),
  route('state', 'routes/state.tsx'),
  route('api/payments', 'routes/payments.ts'),
] satisfies RouteConfig;
