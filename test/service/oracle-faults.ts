import { internalError } from '../../src/localnet/node/rpc-error.ts'
import { seededRandom } from '../../src/localnet/market/random.ts'
import type { OracleChain } from './oracle-chain.ts'

/** Number of faults in every hundred slots, at places that follow from the seed. */
const PER_HUNDRED = {
  skip: 2,
  drop: 2,
  replace: 2,
  errors: 2,
  slow: 1,
  sockets: 2,
  stall: 1,
  kill: 1
} as const

export type OracleFault = keyof typeof PER_HUNDRED

/** Returns the faults by slot, each kind at least once in every hundred slots. */
export function planFaults(seed: string, slots: number): ReadonlyMap<number, readonly OracleFault[]> {
  const random = seededRandom(`${seed}/faults`)
  const plan = new Map<number, OracleFault[]>()
  for (let hundred = 0; hundred + 100 <= slots; hundred += 100) {
    for (const [kind, count] of Object.entries(PER_HUNDRED) as [OracleFault, number][]) {
      for (let i = 0; i < count; i++) {
        const slot = hundred + 5 + Math.floor(random.next() * 90)
        plan.set(slot, [...(plan.get(slot) ?? []), kind])
      }
    }
  }
  return plan
}

/** Makes a chain or its node fail; lasting faults end some slots later. */
export class ChainFaults {
  readonly #chain: OracleChain
  readonly #random: { next(): number }
  /** Minimum number of slots for which the node is slow, and the number of late answers before it. */
  #slow: { slots: number; readonly before: number } | null = null
  #cut = 0

  constructor(chain: OracleChain, seed: string) {
    this.#chain = chain
    this.#random = seededRandom(`${seed}/sizes`)
  }

  ask(fault: OracleFault): void {
    const { bank, node } = this.#chain
    if (fault === 'skip') bank.faults.skip(this.#upTo(4))
    if (fault === 'drop' || fault === 'replace') bank.faults.fork(fault)
    if (fault === 'errors') {
      const method = this.#random.next() < 0.7 ? 'getBlock' : 'getSlot'
      node.faults.fail(method, internalError('on purpose'), this.#upTo(4))
    }
    if (fault === 'slow') {
      node.faults.answerAfter(20 * this.#upTo(5))
      this.#slow = { slots: 15, before: node.faults.fired.slowAnswers }
    }
    if (fault === 'sockets') this.#cut += this.#chain.cutSockets()
  }

  /**
   * Advances by a slot. A service that was just killed sends no requests, so the node stays slow until it has
   * answered one.
   */
  pass(): void {
    const { faults } = this.#chain.node
    if (this.#slow === null || --this.#slow.slots > 0 || faults.fired.slowAnswers === this.#slow.before)
      return
    faults.answerAfter(0)
    this.#slow = null
  }

  /** Whether the node is slow and no request has met it yet. */
  get isSlow(): boolean {
    return this.#slow !== null
  }

  /** Ends lasting faults. */
  end(): void {
    this.#chain.node.faults.answerAfter(0)
  }

  /** Number of occurrences of each fault: sockets cut, answers failed or late, slots not made. */
  get fired() {
    const { bank, node } = this.#chain
    const { errors, slowAnswers } = node.faults.fired
    return { ...bank.faults.fired, errors, slowAnswers, cutSockets: this.#cut }
  }

  #upTo(most: number): number {
    return 1 + Math.floor(this.#random.next() * most)
  }
}
