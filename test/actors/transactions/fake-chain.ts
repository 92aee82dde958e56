import { NodeError } from '../../../src/node/node-fault.ts'
import type { Clock } from '../../../src/ports.ts'
import type {
  BlockSightings,
  SightedBlock,
  SignatureStatus,
  TransactionNode
} from '../../../src/transactions/ports.ts'

/** Milliseconds of a slot, and slots until a block is confirmed and finalized. */
const SLOT_MS = 400
const FIRST_SLOT = 1_000
const CONFIRMED_AFTER = 2
const FINALIZED_AFTER = 32
/** Blocks for which a blockhash is valid. */
export const BLOCKHASH_BLOCKS = 150

interface Landed {
  readonly slot: number
  readonly err: unknown
}

/** A send as a node received it. */
export interface ReceivedSend {
  readonly signature: string
  readonly atMs: number
  /** The process that sent it. */
  readonly by: number
}

type Listener = Parameters<BlockSightings['subscribe']>[0]

/**
 * A chain with one block a slot of virtual time, whose height is its slot unless leaders skip theirs. Transactions land,
 * fail and are dropped as a test says. The wire of a transaction is its signature, and a blockhash is `hash-HEIGHT`.
 */
export class FakeChain {
  readonly received: ReceivedSend[] = []
  /** Whether a node takes a send that it receives: the outcome `err`, or undefined to let it wait. */
  lands: (signature: string) => { readonly err: unknown } | undefined = () => undefined
  readonly landed = new Map<string, Landed>()
  readonly nonces = new Map<string, string>()
  readonly #clock: Clock
  readonly #listeners = new Set<Listener>()
  readonly #watched = new Map<string, number>()
  readonly #watchedNonces = new Set<string>()
  /** The leader skips every n-th slot; by default none. */
  skipEvery = Infinity
  /** Whether processes read blocks, from a height on, and whether they at least receive slots. */
  hasBlocks = false
  readFrom = 0
  hasSlots = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get slot(): number {
    return FIRST_SLOT + Math.floor(this.#clock.now() / SLOT_MS)
  }

  get confirmed(): number {
    return this.slot - CONFIRMED_AFTER
  }

  heightOf(slot: number): number {
    return slot - Math.floor((slot - FIRST_SLOT) / this.skipEvery)
  }

  commitmentOf(slot: number): SignatureStatus['commitment'] {
    const age = this.slot - slot
    return age >= FINALIZED_AFTER ? 'finalized' : age >= CONFIRMED_AFTER ? 'confirmed' : 'processed'
  }

  /** Lands a transaction in the current slot; processes that read blocks see its block at a commitment. */
  land(signature: string, err: unknown = null, commitment: SightedBlock['commitment'] = 'processed'): void {
    const { slot } = this
    this.landed.set(signature, { slot, err })
    if (!this.hasBlocks) return
    const sightings = this.#watched.has(signature)
      ? [{ signature, slot, index: 3, failed: err !== null }]
      : []
    for (const { seen } of this.#listeners)
      seen({ slot, height: this.heightOf(slot), blockhash: null, commitment, sightings, nonces: [] })
  }

  /** Another transaction uses a nonce up in the current slot; processes that read blocks see it. */
  spend(
    account: string,
    { value, next, signature }: { readonly value: string; readonly next: string; readonly signature: string },
    commitment: SightedBlock['commitment'] = 'confirmed'
  ): void {
    const { slot } = this
    this.nonces.set(account, next)
    if (!this.#watchedNonces.has(account)) return
    const nonces = [{ account, value, signature }]
    for (const { seen } of this.#listeners)
      seen({ slot, height: this.heightOf(slot), blockhash: null, commitment, sightings: [], nonces })
  }

  /** Rolls back all blocks above a slot. */
  fork(afterSlot: number): void {
    for (const [signature, { slot }] of this.landed) if (slot > afterSlot) this.landed.delete(signature)
    if (this.hasBlocks) for (const { lost } of this.#listeners) lost(afterSlot)
  }

  status(signature: string): SignatureStatus | null {
    const landed = this.landed.get(signature)
    if (landed === undefined) return null
    const commitment = this.commitmentOf(landed.slot)
    const confirmations = commitment === 'finalized' ? null : this.slot - landed.slot
    return { ...landed, confirmations, commitment }
  }

  /** Whether a transaction with a blockhash of this height can still land. */
  isValid(height: number): boolean {
    return this.heightOf(this.confirmed) <= height + BLOCKHASH_BLOCKS
  }

  receive(signature: string, by: number): void {
    this.received.push({ signature, atMs: this.#clock.now(), by })
    const outcome = this.lands(signature)
    if (outcome !== undefined && !this.landed.has(signature)) this.land(signature, outcome.err)
  }

  sendsOf(signature: string): number[] {
    return this.received.filter((each) => each.signature === signature).map(({ atMs }) => atMs)
  }

  get watchedCount(): number {
    return this.#watched.size
  }

  readonly sightings: BlockSightings = this.#withHeights({
    watch: (signature, nonceAccount = null) => {
      if (nonceAccount !== null) this.#watchedNonces.add(nonceAccount)
      this.#watched.set(signature, (this.#watched.get(signature) ?? 0) + 1)
      return () => {
        const left = this.#watched.get(signature)! - 1
        if (left === 0) this.#watched.delete(signature)
        else this.#watched.set(signature, left)
      }
    },
    subscribe: (listener) => {
      this.#listeners.add(listener)
      return () => void this.#listeners.delete(listener)
    },
    lastValidBlockHeight: (blockhash) => {
      const [, height] = /^hash-(\d+)$/.exec(blockhash) ?? []
      const isRead =
        height !== undefined &&
        Number(height) >= this.readFrom &&
        Number(height) <= this.heightOf(this.confirmed)
      return this.hasBlocks && isRead ? Number(height) + BLOCKHASH_BLOCKS : null
    },
    heights: null,
    searched: null,
    readTo: -1,
    newest: null
  })

  #withHeights(sightings: BlockSightings): BlockSightings {
    const slot = (): number => this.confirmed
    return Object.defineProperties(sightings, {
      newest: { get: () => (this.hasBlocks || this.hasSlots ? { slot: slot(), height: null } : null) },
      searched: {
        get: () => (this.hasBlocks && this.readFrom <= slot() ? { first: this.readFrom, last: slot() } : null)
      },
      readTo: { get: () => (this.hasBlocks ? this.slot : -1) },
      heights: { get: () => (this.hasBlocks ? { first: this.readFrom, last: this.heightOf(slot()) } : null) }
    })
  }
}

/** A node of the chain, with the faults of a test. */
export class FakeNode implements TransactionNode {
  readonly chain: FakeChain
  readonly by: number
  isAway = false
  /** Refuses sends by a JSON-RPC error after it received them. */
  refuses = false
  /** Slots that it is behind the chain: it does not know later slots. */
  lag = 0
  /** Slots by which only its statuses are behind, like those of another node behind its address. */
  statusLag = 0
  /** Added to the height that it reports. */
  heightLie = 0
  /**
   * Slots that it claims to be ahead. It then reports that the chain has reached them, that no blockhash is valid and that
   * nothing has landed.
   */
  ahead = 0
  /** Statuses that it reports instead of those of the chain, by signature; null for an unknown signature. */
  lies: (signature: string, contextSlot: number) => SignatureStatus | null | undefined = () => undefined
  /** Number of nodes that it represents, if every node is queried. */
  nodes = 2
  /** Slots of statuses that it has; with a number it has no history and refuses requests for it. */
  cacheSlots: number | null = null
  /** Whether it gives blocks, and signatures that it leaves out of them. */
  givesBlocks = false
  readonly leftOut = new Set<string>()
  /** Requests by method. */
  readonly requests = new Map<string, number>()

  constructor(chain: FakeChain, by = 0) {
    this.chain = chain
    this.by = by
  }

  async send(wire: Uint8Array): Promise<void> {
    this.#answer('send')
    this.chain.receive(Buffer.from(wire).toString(), this.by)
    if (this.refuses) throw new NodeError('node', { kind: 'rpc', code: -32005, message: 'behind' })
  }

  async simulate() {
    this.#answer('simulate')
    return { err: null, logs: [], unitsConsumed: null }
  }

  async statuses(
    signatures: readonly string[],
    { history, everyNode = history }: Parameters<TransactionNode['statuses']>[1]
  ) {
    this.#answer('statuses')
    if (history && this.cacheSlots !== null)
      throw new NodeError('node', {
        kind: 'rpc',
        code: -32011,
        message: 'Transaction history is not available'
      })
    const contextSlot = this.chain.slot - this.lag - this.statusLag + this.ahead
    const known = (signature: string): SignatureStatus | null => {
      const lie = this.lies(signature, contextSlot)
      if (lie !== undefined) return lie
      const status = this.ahead > 0 ? null : this.chain.status(signature)
      if (status === null || status.slot > contextSlot) return null
      if (contextSlot - status.slot > (this.cacheSlots ?? Infinity)) return null
      return everyNode && this.nodes > 1 ? { ...status, nodes: this.nodes } : status
    }
    return { contextSlot, statuses: signatures.map(known) }
  }

  async blockSignatures(slot: number) {
    this.#answer('blockSignatures')
    if (!this.givesBlocks)
      throw new NodeError('node', { kind: 'rpc', code: -32011, message: 'no transaction history' })
    const landed = [...this.chain.landed].filter(([signature, each]) => {
      return each.slot === slot && !this.leftOut.has(signature)
    })
    return ['another', ...landed.map(([signature]) => signature)]
  }

  async height() {
    this.#answer('height')
    const slot = this.chain.confirmed - this.lag + this.ahead
    return { slot, height: this.chain.heightOf(slot) + this.heightLie }
  }

  async isBlockhashValid(blockhash: string) {
    this.#answer('isBlockhashValid')
    const contextSlot = this.chain.confirmed - this.lag + this.ahead
    const height = Number(blockhash.replace('hash-', ''))
    const reached = this.chain.heightOf(contextSlot)
    return { contextSlot, isValid: height <= reached && reached <= height + BLOCKHASH_BLOCKS }
  }

  async nonce(account: string) {
    this.#answer('nonce')
    return { contextSlot: this.chain.confirmed - this.lag, value: this.chain.nonces.get(account) ?? null }
  }

  async account() {
    this.#answer('account')
    return null
  }

  #answer(method: string): void {
    this.requests.set(method, (this.requests.get(method) ?? 0) + 1)
    if (this.isAway) throw new NodeError('node', { kind: 'unreachable', detail: 'away' })
  }
}
