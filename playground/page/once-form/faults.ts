/** Not part of the form: breaks the shop's network, so that the form can be seen under it. */
import { breakNetwork, faultOf } from '../network.ts';

const LANE = 'default';

const faults = document.querySelector('#faults') as HTMLElement;
const select = faults.querySelector('select') as HTMLSelectElement;
select.value = await faultOf(LANE);
faults.hidden = false;
faults.addEventListener('change', () => void breakNetwork(LANE, select.value, 2000));
