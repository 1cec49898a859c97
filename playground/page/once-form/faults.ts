/** Not part of the form: breaks the shop's network, so that a visitor can see how the form copes. */
import { breakNetwork, faultOf } from '../network.ts';

const LANE = 'default';

const faults = document.querySelector('#faults') as HTMLElement;
const select = faults.querySelector('select') as HTMLSelectElement;
select.value = await faultOf(LANE);
faults.hidden = false;
faults.addEventListener('change', () => void breakNetwork(LANE, select.value, 2000));
