import type { RateUse } from '../../storage/cluster/coordination.ts'
import type { Caller } from '../access/caller.ts'
import type { WorkBudget } from '../access/work-budget.ts'
import { WorkMeter, type WorkCount } from '../access/work-meter.ts'
import type { WorkKind } from '../kernel/work/work-units.ts'
import type { Clock } from '../ports.ts'
import { RPC_METHODS } from './methods.ts'

/** The kinds of work that any method declares. */
export const RPC_WORK: readonly WorkKind[] = [...new Set(RPC_METHODS.flatMap(({ work }) => work))]

/** The units of a body, and what its key has left after them. */
export interface WorkCharge {
  readonly units: number
  readonly left: RateUse
}

/** The work of one request body, which is charged by element: each begins with the price of a call. */
export class RpcWork implements WorkCount {
  readonly #caller: Caller
  readonly #budget: WorkBudget
  readonly #clock: Pick<Clock, 'now'>
  readonly #meter = new WorkMeter(RPC_WORK)

  constructor(caller: Caller, budget: WorkBudget, clock: Pick<Clock, 'now'>) {
    this.#caller = caller
    this.#budget = budget
    this.#clock = clock
  }

  count(kind: Parameters<WorkCount['count']>[0], quantity: number): void {
    this.#meter.count(kind, quantity)
  }

  /** Charges the work so far, and later work as it is counted. Returns the units so far, and the key's quota after them. */
  charge(): WorkCharge {
    this.#meter.chargeTo((units) => this.#budget.charge(this.#caller, units, this.#clock.now()))
    return { units: this.#meter.units, left: this.#budget.look(this.#caller, this.#clock.now()) }
  }

  /** Charges the work so far. If the key has no work left for a further element, returns when work is admitted again. */
  usedUp(): RateUse | null {
    return this.charge().left.allowed ? null : this.#budget.admit(this.#caller, this.#clock.now())
  }
}
