import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { encodeBase58 } from '../../src/chain/base58.ts'
import { LocalBank } from '../../src/localnet/bank/bank.ts'
import type { IntendedEvent, IntendedSlot } from '../../src/localnet/market/oracle.ts'
import { MarketSimulator, BUSY_MARKET } from '../../src/localnet/market/simulator.ts'
import { startLocalNode, type LocalNode } from '../../src/localnet/node/local-node.ts'
import { systemPorts } from '../../src/ports.ts'

const HOST = '127.0.0.1'
const SLOT_MS = 400

/** What the market meant with a transaction that landed, and where it landed. */
export interface LandedEvent {
  readonly slot: number
  readonly blockTime: number
  readonly signature: string
  readonly event: IntendedEvent
}

/** A chain with a market and a node, beside what the market meant; it moves when it is told to. */
export interface OracleChain {
  readonly bank: LocalBank
  readonly node: LocalNode
  /** Of its node, behind a relay whose sockets can be cut. */
  readonly url: string
  /** Faults of the node's own in its answers. */
  readonly faults: readonly unknown[]
  step(): Promise<void>
  /** Makes slots without the market, until all that it did is confirmed: what accounts show is as of there. */
  settle(): Promise<void>
  /** Cuts all sockets to the node, whatever is under way on them; returns how many there were. */
  cutSockets(): number
  /** In the order in which they are on the chain, up to a slot. */
  landed(last: number): LandedEvent[]
  close(): Promise<void>
}

/**
 * Makes a chain of a seed that keeps so many slots. Its blocks have the times of a chain that comes to this hour with the
 * last of them, so that some minutes pass on it however fast it is made.
 */
export async function makeOracleChain(seed: string, slots: number): Promise<OracleChain> {
  const meant: IntendedSlot[] = []
  let made = 0
  const startMs = Date.now() - slots * SLOT_MS
  const clock = { ...systemPorts.clock, now: () => startMs + made * SLOT_MS }
  const bank = await LocalBank.open({ clock, seed, keptSlots: slots + 1_000 })
  const kept = {
    part: (name: string) => bank.note(name),
    account: (address: Uint8Array) => bank.account(address)
  }
  const market = new MarketSimulator({ ...BUSY_MARKET, seed }, kept, (slot) => void meant.push(slot))
  let isOpen = true
  bank.onSlot((slot, blockTime, include, keep) => {
    if (!isOpen) return
    for (const { transaction, accounts } of market.fill(slot, blockTime)) include(transaction, accounts)
    for (const [name, part] of market.takeParts()) keep(name, part)
  })
  const faults: unknown[] = []
  const onFault = (fault: unknown): void => void faults.push(fault)
  const node = await startLocalNode({ chain: bank, clock: systemPorts.clock, host: HOST, port: 0, onFault })
  const relay = await startRelay(node.port)
  const step = async (): Promise<void> => {
    made++
    await bank.produceSlot()
    // The node answers between slots.
    await new Promise((resolve) => setImmediate(resolve))
  }
  return {
    bank,
    node,
    url: `http://${HOST}:${relay.port}`,
    faults,
    step,
    async settle() {
      isOpen = false
      for (const end = bank.slot('processed') + 1; bank.slot('confirmed') < end;) await step()
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

/** Carries bytes to a port of this machine and back. */
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
    // Not by a reset: one with a write under way stays with Node, and its process then never ends.
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
