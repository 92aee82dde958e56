import { NodeError, type NodeFault } from '../../src/node/node-fault.ts'
import { ServiceError } from '../../src/kernel/errors.ts'
import type { Bundle } from '../../src/transactions/bundle.ts'
import type {
  SignatureStatus,
  SimulatedOutcome,
  Tips,
  TransactionServices
} from '../../src/transactions/ports.ts'
import type { Stored } from '../../storage/documents.ts'
import type { Submission, SubmissionProgress } from '../../src/transactions/submission.ts'
import { wallet } from './signed.ts'

/** The transaction services outside of HTTP, in memory. The test decides the chain's answers. */
export interface FakeTransactions extends TransactionServices {
  /** Submissions that tracking was begun of. */
  readonly begun: Submission[]
  /** Progress of submissions that this process tracks, by signature. */
  readonly tracked: Map<string, SubmissionProgress>
  count: { process: number; tenant: number; share?: number }
  readonly simulated: Uint8Array[]
  simulation: SimulatedOutcome
  /** Statuses that the node has, by signature. */
  readonly chain: Map<string, SignatureStatus>
  /** Whether the node calls every blockhash valid. */
  isBlockhashValid: boolean
  /** The slot at which the node answers. */
  contextSlot: number
  /** Signatures of each request for statuses. */
  readonly asked: (readonly string[])[]
  /** Block height of the node; null while it does not answer. */
  height: number | null
  /** The fault of every call of the node; null if calls succeed. */
  fault: NodeFault | null
  tipAccounts: readonly string[] | null
  /** Null while the feed was never fetched. */
  tips: Tips | null
  /** Bundles that tracking was begun of. */
  readonly begunBundles: Stored<Bundle>[]
}

export const TIP_ACCOUNT = wallet(30).publicKey

export function fakeTransactions(): FakeTransactions {
  const answer = async <T>(value: () => T): Promise<T> => {
    if (parts.fault !== null) throw new NodeError('node', parts.fault)
    return value()
  }
  const unused = (): never => {
    throw new Error('the HTTP side does not call this')
  }
  const state = {
    begun: [],
    tracked: new Map<string, SubmissionProgress>(),
    count: { process: 0, tenant: 0 },
    simulated: [],
    simulation: { err: null, logs: [], unitsConsumed: 150 },
    chain: new Map<string, SignatureStatus>(),
    isBlockhashValid: true,
    contextSlot: 1_000,
    asked: [],
    height: 1_000,
    fault: null,
    tipAccounts: [TIP_ACCOUNT.toBase58()],
    tips: null,
    begunBundles: []
  }
  const parts: FakeTransactions = Object.assign(state as unknown as FakeTransactions, {
    node: {
      send: unused,
      blockSignatures: unused,
      nonce: unused,
      account: unused,
      isBlockhashValid: () =>
        answer(() => ({ contextSlot: parts.contextSlot, isValid: parts.isBlockhashValid })),
      simulate: (wire: Uint8Array) =>
        answer(() => {
          parts.simulated.push(wire)
          return parts.simulation
        }),
      statuses: (signatures: readonly string[]) =>
        answer(() => {
          parts.asked.push(signatures)
          return {
            contextSlot: parts.contextSlot,
            statuses: signatures.map((each) => parts.chain.get(each) ?? null)
          }
        }),
      height: async () => {
        if (parts.height === null) throw new NodeError('node', { kind: 'timeout', afterMs: 1 })
        return { slot: 1, height: parts.height }
      }
    },
    tracking: {
      begin: ({ value }: { value: Submission }) => void parts.begun.push(value),
      progress: (_tenant: string, signature: string) => parts.tracked.get(signature) ?? null,
      count: async () => ({ share: 5_000, ...parts.count })
    },
    sightings: {
      watch: unused,
      subscribe: unused,
      lastValidBlockHeight: () => null,
      heights: null,
      searched: null,
      readTo: -1,
      newest: null
    },
    engine: {
      send: unused,
      tipAccounts: async () => parts.tipAccounts ?? unused(),
      tips: async () => {
        if (parts.tips === null) throw new ServiceError('UPSTREAM_ERROR', 'the feed of tips does not answer')
        return parts.tips
      }
    },
    retentionMs: null,
    bundles: { begin: (stored: Stored<Bundle>) => void parts.begunBundles.push(stored) }
  })
  return parts
}

/** The progress of a transaction that was sent at a time and has not landed. */
export function sentProgress(
  firstSentAtMs: number,
  changed: Partial<SubmissionProgress> = {}
): SubmissionProgress {
  return {
    token: 1,
    state: 'sent',
    slot: null,
    commitment: null,
    index: null,
    err: null,
    confirmations: null,
    rebroadcasts: 0,
    leadersSent: 0,
    firstSentAtMs,
    lastSentAtMs: firstSentAtMs,
    firstSentSlot: null,
    landedAtMs: null,
    lastValidBlockHeight: 1_150,
    updatedAtMs: firstSentAtMs,
    absentSlot: 1,
    ...changed
  }
}
