export { actions, load } from '../action/+page.server';
