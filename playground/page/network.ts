/** How the shop's network is broken for one lane, by whatever page or tab of the playground has chosen it. */
interface Armed {
  readonly lane: string;
  readonly fault: string;
}

/** Resolves when the shop knows. A fault that kills the server meets one request only, or it would never come up again. */
export async function breakNetwork(lane: string, fault: string, ms?: number): Promise<void> {
  await fetch(`/api/faults?lane=${lane}`, { method: 'DELETE' });
  if (fault === 'none') return;
  const times = fault.startsWith('kill') ? 1 : undefined;
  await fetch('/api/faults', { method: 'POST', body: JSON.stringify({ lane, fault, times, ms }) });
}

/** The fault that is still chosen, also after a reload; `none`, else. */
export async function faultOf(lane: string): Promise<string> {
  const { armed } = (await (await fetch('/api/faults')).json()) as { armed: readonly Armed[] };
  return armed.find((one) => one.lane === lane)?.fault ?? 'none';
}
