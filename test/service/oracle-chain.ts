import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { LocalBank } from '../../src/localnet/bank/bank.ts'
import type { IntendedEvent, IntendedSlot } from '../../src/localnet/market/oracle.ts'
import { MarketSimulator, BUSY_MARKET } from '../../src/localnet/market/simulator.ts'
import { startLocalNode, type LocalNode } from '../../src/localnet/node/local-node.ts'
import { systemPorts } from '../../src/ports.ts'
import { Choices } from '../../storage/test/choices.ts'
import { TokenTraffic } from '../followers/token-traffic.ts'

const HOST = '127.0.0.1'
const SLOT_MS = 400
/** Transactions of the other wallets in a slot, less one. */
const TRANSACTIONS_MAX = 7

/** The market's intention with a transaction that landed, and its place. */
export interface LandedEvent {
  readonly slot: number
  readonly blockTime: number
  readonly signature: string
  readonly event: IntendedEvent
}

/** Maximum slots produced until no transaction waits for its confirmation: forks roll some back. */
const SETTLE_MAX = 50

/** A chain with a market and a node, and the market's own record; it advances on request. */
export interface OracleChain {
  readonly bank: LocalBank
  readonly node: LocalNode
  /** Other wallets than the market's, with both token programs; null where only the market moves tokens. */
  readonly traffic: TokenTraffic | null
  /** URL of its node, behind a relay whose sockets can be cut. */
  readonly url: string
  /** Internal faults of the node. */
  readonly faults: readonly unknown[]
  step(): Promise<void>
  /** Makes slots without transactions until all are confirmed; accounts show that state until the next step. */
  settle(): Promise<void>
  /** Cuts all sockets to the node at once. Returns their number. */
  cutSockets(): number
  /** Returns the landed events up to a slot, in chain order. */
  landed(last: number): LandedEvent[]
  close(): Promise<void>
}

/**
 * Makes a chain from a seed that keeps `slots` slots. Its block times are those of a chain whose last block is of this hour.
 * So some minutes pass on it however fast it is produced.
 */
export async function makeOracleChain(
  seed: string,
  slots: number,
  options: { readonly hasTraffic?: boolean } = {}
): Promise<OracleChain> {
  const meant: IntendedSlot[] = []
  let made = 0
  const startMs = Date.now() - slots * SLOT_MS
  const clock = { ...systemPorts.clock, now: () => startMs + made * SLOT_MS }
  const bank = await LocalBank.open({ clock, seed, retainedSlots: slots + 1_000 })
  const kept = {
    part: (name: string) => bank.note(name),
    account: (address: Uint8Array) => bank.account(address)
  }
  const market = new MarketSimulator({ ...BUSY_MARKET, seed }, kept, (slot) => void meant.push(slot))
  let isOpen = false
  bank.onSlot((slot, blockTime, include, keep) => {
    if (!isOpen) return
    for (const { transaction, accounts } of market.fill(slot, blockTime)) include(transaction, accounts)
    for (const [name, part] of market.takeParts()) keep(name, part)
  })
  const faults: unknown[] = []
  const onFault = (fault: unknown): void => void faults.push(fault)
  const node = await startLocalNode({ chain: bank, clock: systemPorts.clock, host: HOST, port: 0, onFault })
  const relay = await startRelay(node.port)
  const choices = new Choices(slots)
  const traffic = options.hasTraffic === true ? await TokenTraffic.open(bank, choices) : null
  isOpen = true
  const step = async (): Promise<void> => {
    made++
    if (isOpen) traffic?.send(choices.below(TRANSACTIONS_MAX))
    await bank.produceSlot()
    // The node answers between slots.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    bank,
    node,
    traffic,
    url: `http://${HOST}:${relay.port}`,
    faults,
    step,
    async settle() {
      isOpen = false
      const isSettled = (): boolean => {
        const last = bank.slot('processed')
        for (let slot = bank.slot('confirmed') + 1; slot <= last; slot++)
          if (bank.transactionsIn(slot) > 0) return false
        return true
      }
      const end = bank.slot('processed') + 1
      for (let steps = 0; bank.slot('confirmed') < end || !isSettled(); steps++) {
        if (steps > SETTLE_MAX) throw new Error('transactions wait for their confirmation')
        await step()
      }
      isOpen = true
    },
    cutSockets: relay.cut,
    landed(last) {
      const events = new Map(
        meant.flatMap(({ transactions }) =>
          transactions.map(({ signature, events }) => [encodeBase58(signature), events] as const)
        )
      )
      const landed: LandedEvent[] = []
      for (let slot = bank.firstSlot; slot <= last; slot++) {
        const answer = bank.block(slot, 'confirmed')
        if (answer.kind !== 'block') continue
        const { blockTime, transactions } = answer.block
        for (const { signature } of transactions) {
          const text = encodeBase58(signature)
          for (const event of events.get(text) ?? []) landed.push({ slot, blockTime, signature: text, event })
        }
      }
      return landed
    },
    async close() {
      await relay.close()
      await node.close()
      await bank.close()
    }
  }
}

/** Relays bytes to a port of this machine and back. */
async function startRelay(port: number) {
  const sockets = new Set<Socket>()
  const server = createServer((client) => {
    const upstream = connect(port, HOST)
    for (const [from, to] of [
      [client, upstream],
      [upstream, client]
    ] as const) {
      from.pipe(to)
      from.on('error', () => undefined)
      from.on('close', () => to.destroy())
    }
    sockets.add(client)
    client.on('close', () => sockets.delete(client))
  })
  server.listen(0, HOST)
  await once(server, 'listening')
  const cut = (): number => {
    const { size } = sockets
    // Ends without a reset: a reset during a write leaves the socket in Node, and the process never ends.
    for (const socket of sockets) socket.destroy()
    return size
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    async close() {
      server.close()
      cut()
      await once(server, 'close')
    }
  }
}
