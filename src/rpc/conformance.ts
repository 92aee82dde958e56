import { Unanswered, type Ask, type ConformanceCase, type ParsedAnswer } from './conformance-cases.ts'
import { REJECTED_METHODS } from './methods.ts'
import { MAINNET_GENESIS } from './rpc-gateway.ts'

/** The outcome of a case: equal, different by design, or a difference that a client notices. */
export type CaseOutcome =
  | { readonly kind: 'equal' }
  | { readonly kind: 'by design' }
  | { readonly kind: 'different'; readonly ours: string; readonly theirs: string }

/** The outcomes of all requests for one method. */
export interface MethodCounts {
  readonly method: string
  asked: number
  equal: number
  by_design: number
  different: number
}

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
/**
 * Methods that the service answers differently from a node by design (src/docs/rpc.md), with a check of the
 * answer's form.
 */
const BY_DESIGN: ReadonlyMap<string, (body: Members) => boolean> = new Map([
  ['getGenesisHash', ({ result }: Members) => result === MAINNET_GENESIS],
  ['getProgramAccounts', ({ result, error }: Members) => Array.isArray(result) || isError(error)]
])
/** Comparisons of one case until its difference counts, because the two endpoints may have answered in different slots. */
const COMPARISONS_MAX = 3
/** Maximum consecutive cases without an answer. An unreachable endpoint ends the run, one lost answer does not. */
const UNANSWERED_MAX = 3
const TEXT_MAX = 160

interface Members {
  readonly [name: string]: unknown
}

/** Receives the differences and the progress of a comparison while it runs. */
export interface ComparisonListener {
  /** Called with each difference that a client would notice. */
  differs(of: ConformanceCase, ours: string, theirs: string): void
  /** Called after each case with the number of cases compared and of differences so far. May throw to end the run. */
  asked(cases: number, differences: number): void
  /** Called before a case is repeated; the case is repeated when the promise resolves. */
  beforeLook(): Promise<void>
}

/**
 * Sends all cases to two endpoints, one after another. If no node is given, only the form of the answers is checked.
 * Returns the counts by method. Throws `Unanswered` after three consecutive cases without both answers.
 */
export async function compareEndpoints(
  cases: readonly ConformanceCase[],
  ours: Ask,
  theirs: Ask | null,
  listener: ComparisonListener
): Promise<readonly MethodCounts[]> {
  const rows = new Map<string, MethodCounts>()
  let unanswered = 0
  let differences = 0
  for (const [index, each] of cases.entries()) {
    const { method } = each
    const row = rows.get(method) ?? { method, asked: 0, equal: 0, by_design: 0, different: 0 }
    rows.set(method, row)
    row.asked++
    const { outcome, isAnswered } = await compareRepeatedly(each, ours, theirs, listener)
    if (outcome.kind === 'equal') row.equal++
    else if (outcome.kind === 'by design') row.by_design++
    else {
      row.different++
      differences++
      listener.differs(each, outcome.ours, outcome.theirs)
    }
    unanswered = isAnswered ? 0 : unanswered + 1
    if (unanswered === UNANSWERED_MAX)
      throw new Unanswered(`${unanswered} requests in a row without an answer; stopped after ${index + 1}`)
    listener.asked(index + 1, differences)
  }
  return [...rows.values()]
}

/** Queries both endpoints, and repeats the case after a difference. A missing answer counts as a difference. */
async function compareRepeatedly(
  each: ConformanceCase,
  ours: Ask,
  theirs: Ask | null,
  listener: ComparisonListener
): Promise<{ readonly outcome: CaseOutcome; readonly isAnswered: boolean }> {
  const body = `{"jsonrpc":"2.0","id":1,"method":"${each.method}","params":${each.params}}`
  for (let comparison = 1; ; comparison++) {
    const [mine, other] = await Promise.all([answerOf(ours, body), theirs && answerOf(theirs, body)])
    const isAnswered = !(mine instanceof Error || other instanceof Error)
    const outcome: CaseOutcome = isAnswered
      ? compared(each, mine, other)
      : { kind: 'different', ours: textOf(mine), theirs: textOf(other) }
    if (outcome.kind !== 'different' || comparison === COMPARISONS_MAX) return { outcome, isAnswered }
    await listener.beforeLook()
  }
}

const answerOf = (ask: Ask, body: string): Promise<ParsedAnswer | Error> =>
  ask(body).catch((error: Error) => error)

function textOf(answer: ParsedAnswer | Error | null): string {
  if (answer === null) return 'not asked'
  return answer instanceof Error ? `no answer (${answer.message})` : shown(answer.body)
}

/**
 * Compares the answers of the service and of a node to one case. If no node is given, checks only the form of the
 * service's answer.
 */
export function compared(
  { method }: ConformanceCase,
  { body: ours }: ParsedAnswer,
  theirs: ParsedAnswer | null
): CaseOutcome {
  const isRejected = REJECTED_METHODS.has(method) || method.startsWith('getInflation')
  const design = isRejected ? isRejection : BY_DESIGN.get(method)
  if (design !== undefined) {
    if (isWellFormed(ours) && design(ours as Members)) return { kind: 'by design' }
    return { kind: 'different', ours: shown(ours), theirs: 'not as src/docs/rpc.md states' }
  }
  if (theirs === null) {
    if (isWellFormed(ours)) return { kind: 'equal' }
    return { kind: 'different', ours: shown(ours), theirs: 'no JSON-RPC response' }
  }
  const texts = [ours, withFieldOf(ours, theirs.body)].map((body) => JSON.stringify(normalised(method, body)))
  if (texts[0] === texts[1]) return { kind: 'equal' }
  return { kind: 'different', ours: shown(ours), theirs: shown(theirs.body) }
}

/** Returns whether an answer has the form of a JSON-RPC response. */
function isWellFormed(body: unknown): boolean {
  if (typeof body !== 'object' || body === null) return false
  const { jsonrpc, id, result, error } = body as Members
  return jsonrpc === '2.0' && id === 1 && (isError(error) ? result === undefined : result !== undefined)
}

const isError = (error: unknown): boolean =>
  typeof (error as { code?: unknown } | undefined)?.code === 'number'

const isRejection = ({ error }: Members): boolean => {
  const { code, data } = (error ?? {}) as { code?: unknown; data?: { see?: unknown } }
  return code === -32601 && typeof data?.see === 'string'
}

/**
 * Adds the service's `data.field` or `data.setting` to a node's error that has no data. The service names the field when it
 * refuses a subscription, and the setting that adds a method.
 */
function withFieldOf(ours: unknown, theirs: unknown): unknown {
  const [mine, other] = [ours, theirs].map((body) => (body as { error?: Members } | null)?.error)
  const data = mine?.['data'] as Members | undefined
  if (other === undefined || other['data'] !== undefined || data === undefined) return theirs
  const isField = Object.keys(data).length === 1 && typeof (data['field'] ?? data['setting']) === 'string'
  return isField ? { ...(theirs as object), error: { ...other, data } } : theirs
}

/** Replaces values that change over time: slots of contexts, subscription ids, and values that drift. */
function normalised(method: string, body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body
  const { result, error, ...rest } = body as Members
  if (error !== undefined) return { ...rest, error: withoutSlots(error) }
  const drifts = DRIFTING.has(method) || method.endsWith('Subscribe')
  return { ...rest, result: drifts ? formOf(result) : withoutSlots(result) }
}

function withoutSlots(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/\bslot:? \d+/g, 'slot')
  if (Array.isArray(value)) return value.map(withoutSlots)
  if (typeof value !== 'object' || value === null) return value
  return sorted(value, (key, each) => (SLOT_FIELDS.has(key) ? 'a slot' : withoutSlots(each)))
}

const SLOT_FIELDS: ReadonlySet<string> = new Set(['slot', 'contextSlot', 'numSlotsBehind'])

/** Reduces a value to its form: each value becomes its type, and a list becomes the form of its first element. */
function formOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.length === 0 ? [] : [formOf(value[0])]
  if (typeof value !== 'object' || value === null) return typeof value
  return sorted(value, (_, each) => formOf(each))
}

const sorted = (value: object, map: (key: string, each: unknown) => unknown): object =>
  Object.fromEntries(
    Object.entries(value)
      .map(([key, each]): [string, unknown] => [key, map(key, each)])
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  )

const shown = (body: unknown): string => {
  const text = JSON.stringify(body) ?? 'nothing'
  return text.length <= TEXT_MAX ? text : `${text.slice(0, TEXT_MAX)}…`
}
