/** The outcome of a check of the RPC URL. `not checked` says why in `detail`; it is no fault. */
export interface ConformanceCheck {
  readonly check: string
  readonly outcome: 'passed' | 'failed' | 'not checked'
  readonly detail: string
}

/** Returns a check that passes unless there is a fault. */
export const checkOf = (check: string, fault: string | null, shown: string): ConformanceCheck =>
  fault === null ? { check, outcome: 'passed', detail: shown } : { check, outcome: 'failed', detail: fault }

/** Returns a check that was not made. */
export const notChecked = (check: string, why: string): ConformanceCheck => ({
  check,
  outcome: 'not checked',
  detail: why
})
