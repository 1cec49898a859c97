/** Not part of the form: breaks the shop's network, so that the form can be seen under it. */
const LANE = 'default';

async function breakNetwork(fault: string): Promise<void> {
  await fetch(`/api/faults?lane=${LANE}`, { method: 'DELETE' });
  const times = fault.startsWith('kill') ? { times: 1 } : {};
  if (fault !== 'none') await fetch('/api/faults', { method: 'POST', body: JSON.stringify({ lane: LANE, fault, ms: 2000, ...times }) });
}

const faults = document.querySelector('#faults') as HTMLElement;
faults.hidden = false;
faults.addEventListener('change', ({ target }) => void breakNetwork((target as HTMLSelectElement).value));
