import { REJECTED_METHODS, RPC_METHODS } from './methods.ts'

/** An answer of an endpoint, parsed; null where it gave none that can be read. */
export interface ParsedAnswer {
  readonly status: number
  readonly body: unknown
}

/** Asks an endpoint with a body. */
export type Ask = (body: string) => Promise<ParsedAnswer>

/** Facts of the chain that parameters are made of. */
export interface ChainFacts {
  readonly slot: number
  readonly signature: string | null
  readonly address: string
  readonly blockhash: string
}

/** A request of the comparison. */
export interface ConformanceCase {
  readonly method: string
  /** JSON of the params. */
  readonly params: string
}

/** The outcome of a case: equal, differing by design, or a difference that a client notices. */
export type CaseOutcome =
  | { readonly kind: 'equal' }
  | { readonly kind: 'by design' }
  | { readonly kind: 'different'; readonly ours: string; readonly theirs: string }

/** Results that change with every slot: only their form is compared. */
const DRIFTING: ReadonlySet<string> = new Set([
  'getSlot',
  'getBlockHeight',
  'getEpochInfo',
  'getTransactionCount',
  'getLatestBlockhash',
  'getSlotLeader',
  'getSlotLeaders',
  'getRecentPrioritizationFees',
  'getBlockCommitment',
  'getSignatureStatuses',
  'getSignaturesForAddress',
  'getFirstAvailableBlock'
])
/** Answered here and not by a node (spec choices, section 5). */
const BY_DESIGN: ReadonlySet<string> = new Set(['getGenesisHash', 'getProgramAccounts'])
const SYSTEM_PROGRAM = '11111111111111111111111111111111'
const MINT = 'So11111111111111111111111111111111111111112'
const TEXT_MAX = 160

/** Reads facts of the chain from an endpoint. Throws an Error that names the method without a usable answer. */
export async function chainFacts(ask: Ask): Promise<ChainFacts> {
  const result = async (method: string, params: unknown[]): Promise<unknown> => {
    const { body } = await ask(JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }))
    const value = (body as { result?: unknown } | null)?.result
    if (value === undefined) throw new Error(`${method} gave no result`)
    return value
  }
  const finalized = (await result('getSlot', [{ commitment: 'finalized' }])) as number
  const from = Math.max(0, finalized - 20)
  const slots = (await result('getBlocksWithLimit', [from, 1, { commitment: 'finalized' }])) as number[]
  const slot = slots[0] ?? finalized
  const latest = (await result('getLatestBlockhash', [])) as { value: { blockhash: string } }
  const block = await result('getBlock', [
    slot,
    { transactionDetails: 'signatures', maxSupportedTransactionVersion: 0, rewards: false }
  ]).catch(() => null)
  const signature = (block as { signatures?: string[] } | null)?.signatures?.[0] ?? null
  return { slot, signature, address: SYSTEM_PROGRAM, blockhash: latest.value.blockhash }
}

/** Returns good and bad requests of every method, and of what is not served. */
export function conformanceCases(facts: ChainFacts): readonly ConformanceCase[] {
  const good: Readonly<Record<string, readonly (readonly unknown[])[]>> = {
    address: [[facts.address], [MINT], ['no address']],
    addresses: [[[facts.address, MINT]], [[]], [facts.address]],
    signature: [[facts.signature ?? '1'.repeat(64)], ['1'.repeat(88)], ['0']],
    signatures: [[[facts.signature ?? '1'.repeat(64)]], ['x']],
    transaction: [['!'], ['']],
    message: [['AA=='], [5]],
    blockhash: [[facts.blockhash], [facts.address], ['x']],
    slot: [[facts.slot], [facts.slot + 1_000_000_000], ['x'], [-1]],
    startSlot: [
      [facts.slot, 3],
      [facts.slot, 'x'],
      [facts.slot, 1_000_000]
    ],
    dataLength: [[0], [165], ['x']]
  }
  const configs = [
    { commitment: 'finalized' },
    { commitment: 'processed' },
    { commitment: 'unknown' },
    { minContextSlot: 2 ** 52 },
    { encoding: 'base64' },
    { encoding: 'unknown' },
    5
  ]
  const served = RPC_METHODS.flatMap(({ name, params, configAt }) => {
    const first = params[0]?.name ?? 'config'
    const bases = first === 'config' ? [[]] : (good[first] ?? [[]])
    const plain = [...bases, [], [null]]
    const [base = []] = bases
    const configured = configAt === null ? [] : configs.map((config) => [...base, config])
    return [...plain, ...configured].map((list) => ({ method: name, params: JSON.stringify(list) }))
  })
  const others = [...REJECTED_METHODS.keys(), 'getNothing'].map((method) => ({ method, params: '[]' }))
  return [...served, ...others]
}

/** Compares the answers of the service and of a node to one case. */
export function compared({ method }: ConformanceCase, ours: ParsedAnswer, theirs: ParsedAnswer): CaseOutcome {
  if (BY_DESIGN.has(method) || REJECTED_METHODS.has(method)) return { kind: 'by design' }
  const texts = [ours, theirs].map(({ body }) => JSON.stringify(normalised(method, body)))
  if (texts[0] === texts[1]) return { kind: 'equal' }
  return { kind: 'different', ours: shown(ours.body), theirs: shown(theirs.body) }
}

/** Tells whether an answer has the form of a JSON-RPC response; for a comparison without a node. */
export function isWellFormed({ body }: ParsedAnswer): boolean {
  if (typeof body !== 'object' || body === null) return false
  const { jsonrpc, id, result, error } = body as Record<string, unknown>
  const hasError = typeof (error as { code?: unknown } | undefined)?.code === 'number'
  return jsonrpc === '2.0' && id === 1 && (hasError ? result === undefined : result !== undefined)
}

/** Replaces what differs between two moments: slots of contexts, and the values of results that drift. */
function normalised(method: string, body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  const { result, error, ...rest } = body as Record<string, unknown>
  // A message names the slot of the moment.
  if (error !== undefined) return { ...rest, error: withoutSlots(error) }
  return { ...rest, result: DRIFTING.has(method) ? formOf(result) : withoutSlots(result) }
}

function withoutSlots(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutSlots)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, each]): [string, unknown] => [
        key,
        key === 'slot' || key === 'contextSlot' || key === 'numSlotsBehind' ? 'a slot' : withoutSlots(each)
      ])
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  )
}

/** The form of a value: types in place of values; of a list, that of its first element. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return [formOf(value[0])]
  if (typeof value !== 'object' || value === null) return typeof value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, each]): [string, unknown] => [key, formOf(each)])
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  )
}

const shown = (body: unknown): string => {
  const text = JSON.stringify(body) ?? 'nothing'
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`
}
