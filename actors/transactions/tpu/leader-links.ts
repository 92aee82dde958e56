import type { Clock } from '../../../src/ports.ts'
import type { SendTurn } from '../../../src/transactions/fair-queue.ts'
import type { LeaderAddress } from '../../../src/transactions/tpu/leader-node.ts'
import type { CountOutcome } from '../../../src/transactions/tpu/outcome.ts'
import type { QuicTransport } from '../../../src/transactions/tpu/quic.ts'
import { LeaderLink } from './leader-link.ts'

/** Connections to the leaders of the current and the next slots. Few are needed: each leader has four slots. */
export class LeaderLinks {
  readonly #transport: QuicTransport
  readonly #clock: Clock
  readonly #count: CountOutcome
  readonly #links = new Map<string, LeaderLink>()
  /** Links that close, until their connections have. */
  #ending: LeaderLink[] = []

  constructor(transport: QuicTransport, clock: Clock, count: CountOutcome) {
    this.#transport = transport
    this.#clock = clock
    this.#count = count
  }

  /** Number of connections. */
  get connections(): number {
    return [...this.#links.values(), ...this.#ending].reduce((sum, each) => sum + each.connections, 0)
  }

  /** Number of transactions that wait for a connection or a stream. */
  get waiting(): number {
    return [...this.#links.values()].reduce((sum, { waiting }) => sum + waiting, 0)
  }

  /** Opens connections to these leaders, and closes those to all others. */
  keep(leaders: ReadonlyMap<string, LeaderAddress>): void {
    this.#ending = this.#ending.filter(({ connections }) => connections > 0)
    for (const [leader, link] of this.#links) {
      const address = leaders.get(leader)
      if (address?.host === link.address.host && address.port === link.address.port) continue
      this.#links.delete(leader)
      this.#ending.push(link)
      link.end()
    }
    for (const [leader, address] of leaders) {
      const link =
        this.#links.get(leader) ?? new LeaderLink(address, this.#transport, this.#clock, this.#count)
      this.#links.set(leader, link)
      link.open()
    }
  }

  /** Returns to how many of these leaders the transaction was written; one without a connection is left out. */
  async send(wire: Uint8Array, leaders: readonly string[], turn?: SendTurn): Promise<number> {
    const links = leaders.flatMap((leader) => this.#links.get(leader) ?? [])
    const written = await Promise.all(links.map((link) => link.send(wire, turn)))
    return written.filter(Boolean).length
  }

  /** Closes all connections at once. */
  close(): void {
    for (const link of [...this.#links.values(), ...this.#ending]) link.close()
    this.#links.clear()
    this.#ending = []
  }
}
