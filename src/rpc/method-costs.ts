import type { UpstreamCall } from './upstreams.ts'

/** The costs of methods in the budgets of nodes (`NodeBudget`). */
export class MethodCosts {
  readonly #weights: ReadonlyMap<string, number>

  /** `weights` holds the methods of MILLRACE_RPC_METHOD_WEIGHTS; all others cost 1. */
  constructor(weights: Readonly<Record<string, number>> = {}) {
    this.#weights = new Map(Object.entries(weights))
  }

  /** Returns the cost of a request for a method. */
  of(method: string): number {
    return this.#weights.size === 0 ? 1 : (this.#weights.get(method) ?? 1)
  }

  /** Returns the cost of a batch: the sum of its elements. */
  ofAll(calls: readonly UpstreamCall[]): number {
    return calls.reduce((sum, { method }) => sum + this.of(method.name), 0)
  }
}
