/** The plots of docs/cost.md. */
import { type Line, plot } from './plot.ts';
import type { Results } from './results.ts';

/** Ours last, to be drawn over the others. */
const oursLast = (lines: Line[]): Line[] => [...lines].sort((a, b) => Number(a.name.startsWith('oncefetch')) - Number(b.name.startsWith('oncefetch')));

export function plots({ faults }: Results): Record<string, string> {
  if (!faults) return {};
  const { herd, lossy } = faults;
  const clients = Object.keys(Object.values(lossy)[0] ?? {});
  const byLoss = (of: 'p95Ms' | 'requestsPerSettled' | 'duplicates', scale = 1): Line[] =>
    oursLast(
      clients.map((name) => ({ name, points: Object.entries(lossy).map(([loss, seen]) => [Number(loss) * 100, (seen[name]?.[of] ?? 0) * scale] as const) })),
    );
  return {
    'cost-herd.svg': plot(
      oursLast(
        Object.entries(herd.results).map(([name, { perSecond }]) => ({
          name,
          points: perSecond.slice(0, 80).map((count, second) => [second, count] as const),
        })),
      ),
      {
        title: `Requests per second of ${herd.clients} clients at a server that is down for ${herd.backAfterMs / 1000} seconds`,
        x: 'seconds since the server went down',
        y: 'requests in that second',
      },
    ),
    'cost-duplicates.svg': plot(byLoss('duplicates'), {
      title: 'Duplicates by the share of requests that are lost',
      x: 'requests lost, %',
      y: `second effects of ${faults.operations} orders`,
    }),
    'cost-settle.svg': plot(byLoss('p95Ms', 1 / 1000), {
      title: 'Time to settle, 95th percentile, by the share of requests that are lost',
      x: 'requests lost, %',
      y: 'seconds until 95 % know',
    }),
  };
}
