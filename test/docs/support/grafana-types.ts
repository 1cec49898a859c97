/** What Grafana accepts on import, by the types of its own SDK, as the type of a JSON file. */
import type { Dashboard as Model, Panel } from '@grafana/grafana-foundation-sdk/dashboard';
import type { Dataquery } from '@grafana/grafana-foundation-sdk/prometheus';
import type { Options as Stat } from '@grafana/grafana-foundation-sdk/stat';
import type { Options as TimeSeries } from '@grafana/grafana-foundation-sdk/timeseries';

/** Replaces each enum by its values, and drops methods. */
type Plain<T> = T extends string
  ? `${T}`
  : T extends (infer One)[]
    ? Plain<One>[]
    : T extends object
      ? { [Name in keyof T as T[Name] extends () => void ? never : Name]: Plain<T[Name]> }
      : T;

/** A panel may leave out options: Grafana sets them. */
type Of<Type extends string, Options> = Omit<Panel, 'type' | 'options' | 'targets'> & {
  type: Type;
  options: { [Name in keyof Options]?: Partial<Options[Name]> };
  targets: Dataquery[];
};

export type Dashboard = Plain<Omit<Model, 'panels'> & { panels: (Of<'stat', Stat> | Of<'timeseries', TimeSeries>)[] }>;
