import { isCount } from '../chain/rpc/fields.ts'
import type { Clock } from '../ports.ts'
import { nodeAddresses, type NodeAddress } from './node-address.ts'
import { callAndRead, type ReadResult } from './node-answers.ts'
import { NodeError, refusesRequest } from './node-fault.ts'
import type { RpcClient } from './rpc-client.ts'

/** Milliseconds for which a node's slot is trusted when the newest of several nodes is selected: two to three slots. */
const SLOT_MS = 1_000
const CONFIRMED = { commitment: 'confirmed' } as const

/** The clients of one node. */
export interface NodeClients {
  /** Requests the node's slot. */
  readonly reads: RpcClient
  /** Every client, to be closed with the group. */
  readonly all: readonly RpcClient[]
}

/** A node of a group. */
export interface GroupNode<C extends NodeClients> {
  readonly url: string
  readonly clients: C
  /** The newest slot that the node has reported at confirmed; -1 after a failed request. */
  slot: number
}

/** Several nodes by JSON-RPC. A request goes to the node with the newest slot, and to the others if it fails. */
export class NodeGroup<C extends NodeClients> {
  readonly #urls: () => readonly string[]
  readonly #clock: Clock
  readonly #open: (address: NodeAddress) => C
  #nodes: GroupNode<C>[] = []
  #probedAtMs = -Infinity
  #probing: Promise<void> | null = null

  /** `urls` is read at each request: the localnet's URL is known only once it listens. */
  constructor(urls: () => readonly string[], clock: Clock, open: (address: NodeAddress) => C) {
    this.#urls = urls
    this.#clock = clock
    this.#open = open
  }

  /** Number of queued requests. */
  get waiting(): number {
    return this.#nodes.flatMap(({ clients }) => clients.all).reduce((sum, client) => sum + client.waiting, 0)
  }

  /**
   * Queries the nodes one after another, the newest first, as long as the fault allows another node. Rejects with the
   * last NodeError, or the signal's reason.
   */
  async ask<T>(
    ask: (node: GroupNode<C>) => Promise<T>,
    signal: AbortSignal,
    isNextTried: (error: NodeError) => boolean = () => true
  ): Promise<T> {
    let last: NodeError | null = null
    for (const node of await this.#newestFirst()) {
      try {
        return await ask(node)
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        signal.throwIfAborted()
        last = error
        // A refusal by the node concerns the request; every other fault concerns the node.
        if (error.fault.kind !== 'rpc' && !refusesRequest(error.fault)) node.slot = -1
        if (!isNextTried(error)) break
      }
    }
    throw last ?? noneConfigured()
  }

  /** Calls a method as in `ask`, and reads its result; a node whose result cannot be read has failed. */
  async read<T>(
    method: string,
    params: readonly unknown[],
    signal: AbortSignal,
    read: ReadResult<T>,
    clientOf: (clients: C) => RpcClient = ({ reads }) => reads
  ): Promise<T> {
    return this.ask(({ clients }) => callAndRead(clientOf(clients), method, params, { signal }, read), signal)
  }

  /**
   * Queries every node and resolves with the answers, that of the newest node first. A node that fails is left out.
   * If all fail, rejects with a refusal by one of them, else with the last NodeError. Any other error of `ask`
   * rejects at once.
   */
  async askEach<T>(ask: (node: GroupNode<C>) => Promise<T>): Promise<readonly T[]> {
    const errors: NodeError[] = []
    const asked = (await this.#newestFirst()).map(async (node): Promise<readonly T[]> => {
      try {
        return [await ask(node)]
      } catch (error) {
        if (!(error instanceof NodeError)) throw error
        errors.push(error)
        return []
      }
    })
    const answers = (await Promise.all(asked)).flatMap((each) => each)
    if (answers.length > 0) return answers
    throw errors.find(({ fault }) => fault.kind === 'rpc') ?? errors.at(-1) ?? noneConfigured()
  }

  async close(): Promise<void> {
    const nodes = this.#nodes
    this.#nodes = []
    await Promise.all(nodes.flatMap(({ clients }) => clients.all.map((client) => client.close())))
  }

  /** Returns the nodes, the newest first. Slots are refreshed in the background; only the first call waits for them. */
  async #newestFirst(): Promise<readonly GroupNode<C>[]> {
    this.#follow(this.#urls())
    if (this.#nodes.length <= 1) return this.#nodes
    const isFirst = this.#probedAtMs === -Infinity
    if (this.#clock.now() - this.#probedAtMs >= SLOT_MS) this.#probing ??= this.#probe()
    if (isFirst) await this.#probing
    return this.#nodes.toSorted((a, b) => b.slot - a.slot)
  }

  async #probe(): Promise<void> {
    this.#probedAtMs = this.#clock.now()
    const signal = new AbortController().signal
    const asked = this.#nodes.map(async (node) => {
      const answer = await node.clients.reads
        .call('getSlot', [CONFIRMED], { signal, timeoutMs: SLOT_MS, urgent: true })
        .catch(() => null)
      node.slot = isCount(answer?.result) ? answer.result : -1
    })
    await Promise.all(asked)
    this.#probing = null
  }

  #follow(listed: readonly string[]): void {
    const urls = [...new Set(listed)]
    const isSame = urls.length === this.#nodes.length && urls.every((url, at) => url === this.#nodes[at]!.url)
    if (isSame) return
    void this.close()
    this.#probedAtMs = -Infinity
    this.#nodes = nodeAddresses(urls).map((address, at) => ({
      url: urls[at]!,
      clients: this.#open(address),
      slot: 0
    }))
  }
}

const noneConfigured = (): NodeError =>
  new NodeError('node', { kind: 'unreachable', detail: 'none is configured' })
