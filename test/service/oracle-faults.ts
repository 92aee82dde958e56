import { internalError } from '../../src/localnet/node/rpc-error.ts'
import { seededRandom } from '../../src/localnet/market/random.ts'
import type { OracleChain } from './oracle-chain.ts'

/** In every hundred slots, at places that follow from the seed. */
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

/** Which faults come at which slots, each kind at least once in every hundred of them. */
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

/** Asks a chain or its node for a fault that is not of the service; what it takes with it ends some slots later. */
export class ChainFaults {
  readonly #chain: OracleChain
  readonly #random: { next(): number }
  /** Slots for which the node is slow at least, and how many answers had come late before. */
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

  /** A slot has passed. A service that was just killed asks nothing: the node is slow until it has answered somebody. */
  pass(): void {
    const { faults } = this.#chain.node
    if (this.#slow === null || --this.#slow.slots > 0 || faults.fired.slowAnswers === this.#slow.before)
      return
    faults.answerAfter(0)
    this.#slow = null
  }

  /** Whether the node is slow, and whoever was to notice has not asked yet. */
  get isSlow(): boolean {
    return this.#slow !== null
  }

  /** Ends what lasts. */
  end(): void {
    this.#chain.node.faults.answerAfter(0)
  }

  /** How often each has happened: sockets that were cut, answers that failed or came late, slots that were not made. */
  get fired() {
    const { bank, node } = this.#chain
    const { errors, slowAnswers } = node.faults.fired
    return { ...bank.faults.fired, errors, slowAnswers, cutSockets: this.#cut }
  }

  #upTo(most: number): number {
    return 1 + Math.floor(this.#random.next() * most)
  }
}
