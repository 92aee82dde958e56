import { UNWEIGHTED, unitsOf, type CallWeights, type WeightedCall } from '../access/call-weights.ts'
import { ACCOUNT_WORK } from '../program-accounts/mirror-reader.ts'
import type { WorkKind } from '../kernel/work/work-units.ts'
import type { Scope } from '../access/scopes.ts'
import type { Commitment } from './commitment.ts'

/**
 * Validity of an answer for equal requests. `immutable`: forever, once the answer is finalized. `by-slot`: until a
 * newer slot is known at its commitment. `none`: never cached, only shared by concurrent requests.
 */
export type CacheClass = 'immutable' | 'by-slot' | 'none'

/** Place of the slot in an answer: `result.context.slot`, the result itself, or absent. */
export type SlotPlace = 'context' | 'result' | 'absoluteSlot' | 'none'

/** A parameter, for the OpenRPC document. */
export interface RpcParameter {
  readonly name: string
  readonly type: 'string' | 'integer' | 'strings' | 'config'
  readonly isRequired: boolean
}

/** A method of the JSON-RPC interface. Serving, caching, failover and the OpenRPC document follow from it. */
export interface RpcMethod {
  readonly name: string
  readonly group: string
  readonly summary: string
  readonly scope: Extract<Scope, 'rpc:read' | 'rpc:send'>
  readonly params: readonly RpcParameter[]
  /** Index of the parameter that carries `commitment` and `minContextSlot`; null if the method has no such parameter. */
  readonly configAt: number | null
  /** Name of the config's field with the commitment. */
  readonly commitmentField: 'commitment' | 'preflightCommitment'
  /** The fixed commitment of every answer; null if the params may name one. */
  readonly fixedCommitment: Commitment | null
  readonly cache: CacheClass
  readonly slot: SlotPlace
  /** Whether a second node may be queried while the first request is in flight. */
  readonly isIdempotent: boolean
  /** Whether an archive node may have an answer that other nodes lack. */
  readonly hasArchive: boolean
  /** Whether the method refuses `processed`, because it reads rooted or confirmed blocks or accounts. */
  readonly refusesProcessed: boolean
  /** Whether `null` means that this node lacks the data; another node or the archive may have it. */
  readonly nullIsAbsent: boolean
  /** Whether its answers are short, so that one batch to a node can fetch several. */
  readonly isShort: boolean
  /** Answered by this process instead of a node. */
  readonly isLocal: boolean
  /** The weight of a call that costs more than one unit of the quota; null for all other calls. */
  readonly weighted: WeightedCall | null
  /** The kinds of work that an answer is charged for, besides the call. */
  readonly work: readonly WorkKind[]
}

type Traits = Partial<Omit<RpcMethod, 'name' | 'group' | 'summary' | 'params' | 'configAt'>>

const SHORT: Readonly<Record<string, RpcParameter['type']>> = {
  address: 'string',
  signature: 'string',
  transaction: 'string',
  message: 'string',
  blockhash: 'string',
  addresses: 'strings',
  signatures: 'strings',
  slot: 'integer',
  startSlot: 'integer',
  limit: 'integer',
  dataLength: 'integer',
  config: 'config'
}

/** Declares the methods of a group: name, parameters in order (`?` for an optional one), summary and traits. */
function group(
  name: string,
  rows: readonly (readonly [name: string, params: string, summary: string, traits?: Traits])[]
): RpcMethod[] {
  return rows.map(([method, text, summary, traits]) => {
    const params = text.split(' ').filter(Boolean).map(parameterOf)
    const configAt = params.findIndex(({ type }) => type === 'config')
    return {
      name: method,
      group: name,
      summary,
      params,
      configAt: configAt < 0 ? null : configAt,
      scope: 'rpc:read',
      commitmentField: 'commitment',
      fixedCommitment: null,
      cache: 'none',
      slot: 'none',
      isIdempotent: true,
      hasArchive: false,
      refusesProcessed: false,
      nullIsAbsent: false,
      isShort: false,
      isLocal: false,
      weighted: null,
      work: ['kibibyte'],
      ...traits
    }
  })
}

function parameterOf(text: string): RpcParameter {
  const name = text.replace('?', '')
  return { name, type: SHORT[name]!, isRequired: !text.endsWith('?') }
}

const STATE: Traits = { cache: 'by-slot', slot: 'context' }
const VALUE: Traits = { ...STATE, isShort: true }
const COUNTER: Traits = { cache: 'by-slot', isShort: true }
const HISTORY: Traits = { hasArchive: true, refusesProcessed: true }

/** Every method that is served to all clients (src/docs/rpc.md), in a fixed order. */
export const RPC_METHODS: readonly RpcMethod[] = [
  ...group('Accounts and balances', [
    ['getBalance', 'address config?', 'Returns the lamports of an account.', VALUE],
    ['getAccountInfo', 'address config?', 'Returns an account with its data.', STATE],
    ['getMultipleAccounts', 'addresses config?', 'Returns up to 100 accounts of one slot.', STATE],
    ['getTokenAccountBalance', 'address config?', 'Returns the balance of a token account.', VALUE],
    ['getTokenSupply', 'address config?', 'Returns the supply of a mint.', VALUE],
    [
      'getProgramAccounts',
      'address config?',
      'Returns the accounts of a whitelisted program, from the mirror.',
      {
        slot: 'context',
        isLocal: true,
        refusesProcessed: true,
        weighted: 'program-accounts',
        work: [...ACCOUNT_WORK, 'kibibyte']
      }
    ]
  ]),
  ...group('Transactions', [
    [
      'sendTransaction',
      'transaction config?',
      'Sends a signed transaction to one node, and returns its signature.',
      { scope: 'rpc:send', isIdempotent: false, commitmentField: 'preflightCommitment' }
    ],
    [
      'simulateTransaction',
      'transaction config?',
      'Simulates a transaction without sending it.',
      { slot: 'context' }
    ],
    [
      'getTransaction',
      'signature config?',
      'Returns a transaction with its outcome.',
      { ...HISTORY, cache: 'immutable', nullIsAbsent: true }
    ],
    [
      'getSignatureStatuses',
      'signatures config?',
      'Returns the statuses of up to 256 signatures.',
      { slot: 'context', fixedCommitment: 'processed', hasArchive: true }
    ],
    [
      'getSignaturesForAddress',
      'address config?',
      'Lists the signatures of transactions that name an address.',
      HISTORY
    ],
    ['getTransactionCount', 'config?', 'Returns the number of transactions since the genesis.', COUNTER],
    ['getFeeForMessage', 'message config?', 'Returns the fee of a message.', STATE]
  ]),
  ...group('Blocks and slots', [
    ['getSlot', 'config?', 'Returns the slot at the commitment.', { ...COUNTER, slot: 'result' }],
    ['getBlockHeight', 'config?', 'Returns the block height at the commitment.', COUNTER],
    ['getLatestBlockhash', 'config?', 'Returns the latest blockhash and its last valid block height.', VALUE],
    ['isBlockhashValid', 'blockhash config?', 'Returns whether a blockhash is still valid.', VALUE],
    ['getBlock', 'slot config?', 'Returns a block.', { ...HISTORY, cache: 'immutable', nullIsAbsent: true }],
    [
      'getBlockTime',
      'slot',
      'Returns the time of a block.',
      { hasArchive: true, cache: 'immutable', nullIsAbsent: true }
    ],
    ['getBlocksWithLimit', 'startSlot limit config?', 'Lists slots that have a block.', HISTORY],
    ['getBlockCommitment', 'slot', 'Returns the stake that has voted on a block.'],
    ['getFirstAvailableBlock', '', 'Returns the oldest slot whose block the node has.'],
    [
      'getRecentPrioritizationFees',
      'addresses?',
      'Returns the priority fees of recent blocks.',
      { cache: 'by-slot' }
    ]
  ]),
  ...group('Network and cluster', [
    ['getHealth', '', 'Returns `ok` while a node is caught up.'],
    ['getVersion', '', 'Returns the version of the node.'],
    ['getEpochInfo', 'config?', 'Returns the epoch and its slots.', { ...COUNTER, slot: 'absoluteSlot' }],
    ['getEpochSchedule', '', 'Returns the epoch schedule of the genesis.', { cache: 'immutable' }],
    ['getGenesisHash', '', 'Returns the genesis hash of mainnet-beta.', { isLocal: true }],
    ['getSlotLeader', 'config?', 'Returns the leader of the slot.'],
    ['getSlotLeaders', 'startSlot limit', 'Returns the leaders of slots.'],
    [
      'getMinimumBalanceForRentExemption',
      'dataLength config?',
      'Returns the minimum lamports that exempt an account from rent.',
      COUNTER
    ],
    ['getStakeMinimumDelegation', 'config?', 'Returns the minimum stake delegation.', STATE]
  ])
]

const BY_NAME: ReadonlyMap<string, RpcMethod> = new Map(RPC_METHODS.map((each) => [each.name, each]))

/** Methods that are rejected with HTTP 403 (src/docs/rpc.md), and where their data is. */
export const REJECTED_METHODS: ReadonlyMap<string, string> = new Map([
  ['getTokenAccountsByOwner', '/v1/wallets/{wallet}/token-accounts'],
  ['getTokenAccountsByDelegate', '/v1/wallets/{wallet}/token-accounts'],
  ['getTokenLargestAccounts', '/v1/tokens/{mint}/holders'],
  ['getLargestAccounts', '/v1/programs/{programId}/accounts'],
  ['getSupply', '/v1/stats'],
  ['getVoteAccounts', '/docs'],
  ['getClusterNodes', '/docs'],
  ['getLeaderSchedule', '/docs'],
  ['getBlocks', '/docs'],
  ['getBlockProduction', '/docs']
])
const REJECTED_PREFIX = 'getInflation'

/** Treatment of a method: served, rejected with 403, or unknown (−32601). */
export type MethodLookup =
  | { readonly kind: 'served'; readonly method: RpcMethod }
  | { readonly kind: 'rejected'; readonly see: string }
  | { readonly kind: 'unknown' }

const UNKNOWN: MethodLookup = { kind: 'unknown' }

/** The methods of a process: served, rejected, and additionally allowed by the operator. */
export class MethodTable {
  readonly #found = new Map<string, MethodLookup>()
  readonly #weights: CallWeights

  /** `allowed` holds the names of MILLRACE_RPC_ALLOW. A method on the rejected list stays rejected. */
  constructor(allowed: readonly string[] = [], weights: CallWeights = UNWEIGHTED) {
    this.#weights = weights
    for (const name of allowed) this.#found.set(name, { kind: 'served', method: allowedMethod(name) })
    for (const [name, see] of REJECTED_METHODS) this.#found.set(name, { kind: 'rejected', see })
    for (const [name, method] of BY_NAME) this.#found.set(name, { kind: 'served', method })
  }

  find(name: string): MethodLookup {
    if (name.startsWith(REJECTED_PREFIX)) return { kind: 'rejected', see: '/docs' }
    return this.#found.get(name) ?? UNKNOWN
  }

  /** Returns the units that a call of a method costs. */
  unitsOf(name: string, quota: number): number {
    const found = this.find(name)
    const weighted = found.kind === 'served' ? found.method.weighted : null
    return weighted === null ? 1 : unitsOf(this.#weights[weighted], quota)
  }

  /** Every served method, then the operator's. */
  get served(): readonly RpcMethod[] {
    const found = [...this.#found.values()].flatMap((each) => (each.kind === 'served' ? [each.method] : []))
    return [...RPC_METHODS, ...found.filter(({ name }) => !BY_NAME.has(name))]
  }
}

/**
 * A method of the operator's list. Its parameters are unknown, so they are passed on unchanged. A name that does not denote
 * a read is sent to one node only, and needs the scope of sends.
 */
function allowedMethod(name: string): RpcMethod {
  const isRead = /^(get|is|minimum)/.test(name)
  return {
    ...group('Allowed by the operator', [[name, '', 'Passed to a node unchanged.']])[0]!,
    scope: isRead ? 'rpc:read' : 'rpc:send',
    isIdempotent: isRead
  }
}
