/** Breaks the shop's network for one lane, from any page or tab of the playground. */
interface Armed {
  readonly lane: string;
  readonly fault: string;
}

/**
 * Resolves when the shop has set the fault. A fault that kills the server is limited to one request, because otherwise
 * the server would never come back.
 */
export async function breakNetwork(lane: string, fault: string, ms?: number): Promise<void> {
  await fetch(`/api/faults?lane=${lane}`, { method: 'DELETE' });
  if (fault === 'none') return;
  const times = fault.startsWith('kill') ? 1 : undefined;
  await fetch('/api/faults', { method: 'POST', body: JSON.stringify({ lane, fault, times, ms }) });
}

/** The fault that is currently set for a lane, also after a reload; `none` if there is none. */
export async function faultOf(lane: string): Promise<string> {
  const { armed } = (await (await fetch('/api/faults')).json()) as { armed: readonly Armed[] };
  return armed.find((one) => one.lane === lane)?.fault ?? 'none';
}
