/** The outcome of a check of the RPC URL. For `not checked`, which is not a fault, `detail` gives the reason. */
export interface ConformanceCheck {
  readonly check: string
  readonly outcome: 'passed' | 'failed' | 'not checked'
  readonly detail: string
}

/** Returns a check that passes if `fault` is null. */
export const checkOf = (check: string, fault: string | null, shown: string): ConformanceCheck =>
  fault === null ? { check, outcome: 'passed', detail: shown } : { check, outcome: 'failed', detail: fault }

/** Returns a check that was not made. */
export const notChecked = (check: string, why: string): ConformanceCheck => ({
  check,
  outcome: 'not checked',
  detail: why
})
