import { isIP } from 'node:net'
import { z } from 'zod'
import { Unreadable } from '../../chain/rpc/fields.ts'
import { nodeAddresses } from '../../node/node-address.ts'
import { callAndRead } from '../../node/node-answers.ts'
import { RpcClient, type RpcClientOptions } from '../../node/rpc-client.ts'
import type { Clock } from '../../ports.ts'

/** The address at which a leader accepts transactions over QUIC. */
export interface LeaderAddress {
  /** An IP address. */
  readonly host: string
  readonly port: number
}

/** The reads of a node that sending to leaders needs. Each rejects with NodeError, or the signal's reason. */
export interface LeaderNode {
  /** The newest slot at processed. */
  slot(signal: AbortSignal): Promise<number>
  /** The leaders of `count` slots from one on (at most 5,000), as public keys in base58. */
  slotLeaders(from: number, count: number, signal: AbortSignal): Promise<readonly string[]>
  /** Addresses of the nodes that take transactions over QUIC, by public key in base58. */
  addresses(signal: AbortSignal): Promise<ReadonlyMap<string, LeaderAddress>>
  close(): Promise<void>
}

/**
 * One request at a time; the largest answer is the node list (2 MB on mainnet). An answer is useful for a few slots only,
 * and the next round requests it again.
 */
const CLIENT: Partial<RpcClientOptions> = {
  concurrency: 1,
  timeoutMs: 5_000,
  bodyBytesMax: 32 * 1024 * 1024
}

const publicKey = z.string().min(32).max(44)
const answers = {
  getSlot: z.int().nonnegative(),
  getSlotLeaders: z.array(publicKey),
  getClusterNodes: z.array(z.object({ pubkey: publicKey, tpuQuic: z.string().nullish() }))
}

/** Reads leaders from the operator's nodes by JSON-RPC. Uses the first node that answers until it fails. */
export class RpcLeaderNode implements LeaderNode {
  /** The preferred node comes first. */
  #clients: readonly RpcClient[]

  constructor(urls: readonly string[], clock: Clock) {
    this.#clients = nodeAddresses(urls).map((address) => new RpcClient(address, clock, CLIENT))
  }

  slot(signal: AbortSignal): Promise<number> {
    return this.#read('getSlot', [{ commitment: 'processed' }], signal)
  }

  slotLeaders(from: number, count: number, signal: AbortSignal): Promise<readonly string[]> {
    return this.#read('getSlotLeaders', [from, count], signal)
  }

  async addresses(signal: AbortSignal): Promise<ReadonlyMap<string, LeaderAddress>> {
    const nodes = await this.#read('getClusterNodes', [], signal)
    const addresses = new Map<string, LeaderAddress>()
    for (const { pubkey, tpuQuic } of nodes) {
      const address = parseAddress(tpuQuic ?? '')
      if (address !== null) addresses.set(pubkey, address)
    }
    return addresses
  }

  async close(): Promise<void> {
    await Promise.all(this.#clients.map((client) => client.close()))
  }

  async #read<Method extends keyof typeof answers>(
    method: Method,
    params: readonly unknown[],
    signal: AbortSignal
  ): Promise<z.infer<(typeof answers)[Method]>> {
    const clients = this.#clients
    let failure: unknown
    for (const [index, client] of clients.entries()) {
      try {
        const read = await callAndRead(client, method, params, { signal, urgent: true }, (result) => {
          const { success, data } = answers[method].safeParse(result)
          if (!success) throw new Unreadable('result')
          return data as z.infer<(typeof answers)[Method]>
        })
        if (index > 0) this.#clients = [client, ...clients.filter((each) => each !== client)]
        return read
      } catch (error) {
        signal.throwIfAborted()
        failure ??= error
      }
    }
    throw failure
  }
}

/** Parses `203.0.113.7:8009` or `[2001:db8::7]:8009`; null for any other text. */
export function parseAddress(text: string): LeaderAddress | null {
  const [, v6, v4, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const host = v6 ?? v4 ?? ''
  const port = Number(digits)
  const isAddress = isIP(host) === (v6 === undefined ? 4 : 6)
  return isAddress && port > 0 && port <= 65_535 ? { host, port } : null
}
