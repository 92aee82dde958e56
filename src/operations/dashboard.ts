/** A panel of a dashboard: one graph with its queries. */
export interface Panel {
  readonly title: string
  readonly unit: 'short' | 's' | 'ms' | 'reqps' | 'bytes' | 'percentunit'
  /** Queries by the legend of their series; `{{label}}` is Grafana's own. */
  readonly queries: Readonly<Record<string, string>>
}

export interface Dashboard {
  /** File name and identifier, which links to the dashboard contain: never renamed. */
  readonly name: string
  readonly title: string
  readonly panels: readonly Panel[]
}

/** Panels in a row, and the size of one in units of Grafana's grid, which is 24 wide. */
const COLUMNS = 2
const SIZE = { w: 12, h: 8 } as const

/** Returns a dashboard as a file that Grafana imports or provisions. Its data source is chosen in a list. */
export function dashboardText({ name, title, panels }: Dashboard): string {
  const datasource = { type: 'prometheus', uid: '${datasource}' }
  return `${JSON.stringify(
    {
      uid: `millrace-${name}`,
      title,
      tags: ['millrace'],
      schemaVersion: 39,
      refresh: '10s',
      time: { from: 'now-1h', to: 'now' },
      templating: {
        list: [
          { name: 'datasource', type: 'datasource', query: 'prometheus' },
          {
            ...{ name: 'instance', type: 'query', datasource, multi: true, includeAll: true },
            query: 'label_values(millrace_head_slot, instance)',
            refresh: 2
          }
        ]
      },
      panels: panels.map((panel, at) => ({
        id: at + 1,
        type: 'timeseries',
        title: panel.title,
        datasource,
        gridPos: { ...SIZE, x: (at % COLUMNS) * SIZE.w, y: Math.floor(at / COLUMNS) * SIZE.h },
        fieldConfig: { defaults: { unit: panel.unit, min: 0 }, overrides: [] },
        targets: Object.entries(panel.queries).map(([legendFormat, expr], query) => ({
          refId: String.fromCharCode(65 + query),
          datasource,
          expr,
          legendFormat
        }))
      }))
    },
    null,
    2
  )}\n`
}
