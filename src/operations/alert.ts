/** A fault, where its cause shows, and its remedy. */
export interface OperatorNote {
  /** The fault and its effect on clients. */
  readonly meaning: string
  /** Where its cause shows. */
  readonly look: string
  readonly action: string
}

/** Samples of a series, one a minute, in promtool's notation: `0+5x10` is 0, 5, …, 50. */
export interface Samples {
  readonly series: string
  readonly values: string
}

/** A Prometheus alert with its remedy. */
export interface Alert extends OperatorNote {
  /** Part of an operator's routing rules: never renamed. */
  readonly name: string
  readonly severity: 'critical' | 'warning'
  readonly expr: string
  /** Duration for which `expr` must hold, such as `2m`. */
  readonly for: string
  /** One line of the notification; `{{ $labels.x }}` and `{{ $value }}` are Prometheus' own. */
  readonly summary: string
  /** Series that fire the alert within ten minutes. */
  readonly firedBy: readonly Samples[]
}
