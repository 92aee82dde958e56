import type { Test } from 'tap'
import { BundleTracker } from '../../actors/transactions/bundle-tracker.ts'
import { NodeError, RPC_CODE } from '../../src/node/node-fault.ts'
import { bundleIdOf } from '../../src/signing/bundle-id.ts'
import { BUNDLE, type Bundle, type BundleProgress } from '../../src/transactions/bundle.ts'
import type { EngineStatus } from '../../src/transactions/engine/answers.ts'
import type { RevocableTurn, SendRank } from '../../src/transactions/fair-queue.ts'
import type { BlockSightings, SignatureStatus, SubmissionOutcome } from '../../src/transactions/ports.ts'
import type { DocumentStore } from '../../storage/document-store.ts'
import { Documents, type Stored } from '../../storage/documents.ts'
import { openEmbeddedStorage } from '../../storage/embedded/store.ts'
import { testClaim } from '../actors/webhooks/delivery-world.ts'
import { settle, virtualClock } from '../virtual-time.ts'

type Listener = Parameters<BlockSightings['subscribe']>[0]

/** A tracker on an embedded store, with an engine, a node and blocks that the test decides. */
export async function bundleWorld(t: Test) {
  const storage = await openEmbeddedStorage({ directory: t.testdir(), hotBytesMax: 2 ** 20 })
  const clock = virtualClock()
  const { store: counted, inFlight } = countingStore(storage.documents)
  const documents = new Documents(storage.documents, BUNDLE)
  /** Outcomes of the next submissions; `taken` when there are no more. */
  const outcomes: (SubmissionOutcome | Promise<SubmissionOutcome>)[] = []
  const submitted: string[] = []
  /** Ranks of the submissions. */
  const ranks: SendRank[] = []
  const followed = new Map<string, Set<(status: EngineStatus) => void>>()
  const chain = {
    slot: 100,
    height: 90,
    /** Blockhashes that are valid. */
    valid: new Set(['hash']),
    statuses: new Map<string, SignatureStatus>(),
    /** Statuses that the node has in its history alone. */
    history: new Map<string, SignatureStatus>(),
    isAway: false,
    /** Whether the node stores the history of transactions. */
    hasHistory: true,
    /** Newest blocks that the process has not read. */
    unread: 0,
    /** Slots by which the blockhash node is ahead of the status node. */
    ahead: 0,
    asked: 0
  }
  const ask = () => {
    chain.asked++
    if (chain.isAway) throw new Error('the node is away')
  }
  const listeners = new Set<Listener>()
  const watched = new Map<string, number>()
  const reports: unknown[] = []

  const engine = {
    async submitBundle(
      wires: readonly Uint8Array[],
      _: AbortSignal,
      { rank, begin }: RevocableTurn
    ): Promise<SubmissionOutcome> {
      if ((await begin?.()) === false) return { kind: 'withdrawn' }
      ranks.push(rank)
      submitted.push(Buffer.from(wires[0]!).toString())
      return (await outcomes.shift()) ?? { kind: 'accepted', id: null }
    },
    follow(id: string, heard: (status: EngineStatus) => void) {
      const set = followed.get(id) ?? new Set()
      followed.set(id, set.add(heard))
      return () => {
        set.delete(heard)
        if (set.size === 0) followed.delete(id)
      }
    }
  }
  const node = {
    async statuses(signatures: readonly string[], { history }: { history: boolean }) {
      ask()
      if (history && !chain.hasHistory)
        throw new NodeError('node', {
          kind: 'rpc',
          code: RPC_CODE.transactionHistoryNotAvailable,
          message: 'Transaction history is not available from this node'
        })
      const of = (signature: string) =>
        chain.statuses.get(signature) ?? (history ? chain.history.get(signature) : undefined) ?? null
      return { contextSlot: chain.slot, statuses: signatures.map(of) }
    },
    async height() {
      ask()
      return { slot: chain.slot, height: chain.height }
    },
    async isBlockhashValid(blockhash: string) {
      ask()
      return { contextSlot: chain.slot + chain.ahead, isValid: chain.valid.has(blockhash) }
    }
  }
  const sightings: BlockSightings = {
    get heights() {
      return { first: 0, last: chain.height - chain.unread }
    },
    searched: null,
    readTo: -1,
    newest: null,
    watch(signature) {
      watched.set(signature, (watched.get(signature) ?? 0) + 1)
      return () => void watched.delete(signature)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    lastValidBlockHeight(blockhash) {
      // A class may be behind the port.
      if (this !== sightings) throw new TypeError('called without its object')
      return blockhash === 'hash' ? 200 : null
    }
  }
  const startTracker = (token: number) => {
    const claim = testClaim(token)
    const tracker = new BundleTracker({
      documents: counted,
      retentionMs: null,
      claim,
      isShared: true,
      engine,
      node,
      sightings,
      clock,
      report: (error) => reports.push(error)
    })
    t.teardown(() => tracker.stop())
    return { tracker, claim, lose: () => claim.lose() }
  }
  t.teardown(() => storage.close())

  return {
    clock,
    chain,
    outcomes,
    submitted,
    ranks,
    followed,
    watched,
    reports,
    documents,
    startTracker,
    /** Stores a bundle with a number of members, as the API does. */
    async store(name = 'b', members = 2, more: Partial<Bundle> = {}): Promise<Stored<Bundle>> {
      const signatures = Array.from({ length: members }, (_, nth) => `${name}${nth}`)
      const outcome = await documents.insert({
        tenant: 'acme',
        bundleId: bundleIdOf(signatures),
        signatures,
        wires: signatures.map((text) => new Uint8Array(Buffer.from(text))),
        blockhashes: ['hash'],
        tipLamports: 1_000n,
        receivedAtMs: clock.now(),
        end: null,
        ...more
      })
      if (!outcome.ok) throw new Error(outcome.reason)
      return outcome.stored
    },
    /** Returns the stored progress: that of the document once it has ended. */
    async progress(stored: Stored<Bundle>): Promise<BundleProgress | null> {
      const { partition, key } = BUNDLE
      const found = await documents.get(partition(stored.value), key(stored.value))
      const [hot = null] = await documents.hot([stored])
      return found?.value.end ?? hot
    },
    async end(stored: Stored<Bundle>): Promise<BundleProgress | null> {
      const { partition, key } = BUNDLE
      return (await documents.get(partition(stored.value), key(stored.value)))?.value.end ?? null
    },
    say(stored: Stored<Bundle>, kind: EngineStatus['kind'], more: Partial<EngineStatus> = {}): void {
      for (const heard of followed.get(stored.value.bundleId) ?? [])
        heard({ kind, reason: null, err: null, ...more })
    },
    /** Puts members in a block as the node has it. */
    land(signatures: readonly string[], status: Partial<SignatureStatus> = {}): void {
      for (const signature of signatures)
        chain.statuses.set(signature, {
          slot: chain.slot,
          confirmations: 0,
          err: null,
          commitment: 'processed',
          nodes: 2,
          ...status
        })
    },
    /** Publishes a block with members. */
    see(slot: number, signatures: readonly string[], failed: readonly string[] = []): void {
      const seen = signatures.map((signature, index) => ({
        signature,
        slot,
        index,
        failed: failed.includes(signature)
      }))
      for (const each of listeners)
        each.seen({
          slot,
          height: slot,
          blockhash: null,
          commitment: 'confirmed',
          sightings: seen,
          nonces: []
        })
    },
    lose(afterSlot: number): void {
      for (const each of listeners) each.lost(afterSlot)
    },
    /** Passes some seconds, and waits after each until the tracker's reads and writes of the store have ended. */
    async pass(seconds: number): Promise<void> {
      for (let second = 0; second < seconds; second++) {
        clock.increment(1_000)
        for (let idle = 0; idle < 8; idle++) {
          await settle()
          while (inFlight() > 0) {
            idle = 0
            await settle()
          }
        }
      }
    }
  }
}

/** Returns a store that counts the calls that have not ended. */
function countingStore(store: DocumentStore): { store: DocumentStore; inFlight: () => number } {
  let calls = 0
  const counted = new Proxy(store, {
    get(target, name) {
      const method = Reflect.get(target, name) as (...args: unknown[]) => Promise<unknown>
      return async (...args: unknown[]) => {
        calls++
        try {
          return await method.apply(target, args)
        } finally {
          calls--
        }
      }
    }
  })
  return { store: counted, inFlight: () => calls }
}
