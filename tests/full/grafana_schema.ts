/**
 * The type of a dashboard's file by the schema that Grafana publishes for its program.
 *
 * @module
 */

import type { Dashboard, Panel } from "npm:@grafana/schema@13.2.3";
import type * as stat from "npm:@grafana/schema@13.2.3/dist/esm/raw/composable/stat/panelcfg/x/StatPanelCfg_types.gen";
import type * as series from "npm:@grafana/schema@13.2.3/dist/esm/raw/composable/timeseries/panelcfg/x/TimeSeriesPanelCfg_types.gen";

/** A type as JSON has it: the values of an enumeration in place of its members. */
type Json<T> = T extends string ? `${T}`
  : T extends number ? `${T}` extends `${infer Value extends number}` ? Value : T
  : T extends readonly (infer Item)[] ? readonly Json<Item>[]
  : T extends object ? { readonly [Name in keyof T]: Json<T[Name]> }
  : T;

/** A type whose members may be left out, at every depth: Grafana fills them in. */
type Partly<T> = T extends readonly unknown[] ? T
  : T extends object ? { readonly [Name in keyof T]?: Partly<T[Name]> }
  : T;

/** A query of the data source Prometheus, whose schema is not in the package. */
interface Query {
  readonly refId: string;
  readonly datasource: { readonly type: "prometheus"; readonly uid: string };
  readonly expr: string;
  readonly legendFormat: string;
  readonly instant?: boolean;
}

type PanelOf<Type extends string, Options> = Json<Omit<Panel, "type" | "options" | "targets">> & {
  readonly type: Type;
  readonly options: Partly<Json<Options>>;
  readonly targets: readonly Query[];
};

/** A dashboard with panels of the types in use. */
export type DashboardFile = Json<Omit<Dashboard, "panels">> & {
  readonly panels: readonly (PanelOf<"stat", stat.Options> | PanelOf<"timeseries", series.Options>)[];
};
