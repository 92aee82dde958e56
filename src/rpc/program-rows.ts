import type { Ask, ParsedAnswer } from './conformance-cases.ts'
import { checkOf, notChecked, type ConformanceCheck } from './conformance-check.ts'

/** Maximum attempts to get both answers at one slot. Each lasts at most a slot, and a mirror may be thirty slots behind. */
const SLOT_ATTEMPTS = 60
/** Maximum cached answers of a side; as above, a mirror may be thirty slots behind. */
const SEEN_MAX = 40
/** Accounts named in a difference. Arbitrary; nothing depends on it. */
const NAMED_MAX = 3
const NOT_WHITELISTED = -32010
/** The code of an answer that is too large or not ready. */
const TOO_MUCH = -32603

interface ProgramRow {
  readonly pubkey: string
  readonly account: {
    readonly data?: unknown
    readonly space?: number
    readonly [field: string]: unknown
  }
}

interface ProgramAnswer {
  readonly slot: number
  readonly rows: readonly ProgramRow[]
}

interface RpcFailure {
  readonly code: number
  readonly message: string
}

/**
 * Compares the accounts of a program, row by row at one slot, with those of a node: each commitment, encoding, slice and
 * filter, and every account of each answer. If no node is given, nothing is compared. `pause` waits for the next attempt.
 */
export async function programChecks(
  program: string,
  ours: Ask,
  theirs: Ask | null,
  pause: () => Promise<void>
): Promise<readonly ConformanceCheck[]> {
  const nameOf = (config: object): string => `program accounts of ${program} ${JSON.stringify(config)}`
  const [first] = casesOf(null)
  const mine = await accountsOf(ours, program, first!)
  if (isFailure(mine) && mine.code === NOT_WHITELISTED)
    return [notChecked(`program accounts of ${program}`, 'the service does not mirror this program')]
  if (theirs === null)
    return [
      notChecked(`program accounts of ${program}`, 'there is no node to compare with (--node, over HTTP)')
    ]
  const sample = isFailure(mine) ? null : (mine.rows[0] ?? null)
  const checks: ConformanceCheck[] = []
  for (const config of casesOf(sample))
    checks.push(await compareRows(nameOf(config), program, config, ours, theirs, pause))
  return checks
}

/** Returns the configs that are compared. Filters are made from an account of the program. */
function casesOf(sample: ProgramRow | null): readonly Readonly<Record<string, unknown>>[] {
  const plain = { encoding: 'base64' }
  return [
    { ...plain, commitment: 'confirmed' },
    // The default of a node.
    plain,
    { ...plain, commitment: 'finalized', dataSlice: { offset: 0, length: 8 } },
    { encoding: 'base58', commitment: 'confirmed', dataSlice: { offset: 0, length: 32 } },
    { encoding: 'jsonParsed', commitment: 'confirmed' },
    ...(sample === null
      ? []
      : [
          { ...plain, commitment: 'confirmed', filters: [{ dataSize: sample.account.space ?? 0 }] },
          {
            ...plain,
            commitment: 'confirmed',
            filters: [{ memcmp: { offset: 0, bytes: firstByte(sample), encoding: 'base64' } }]
          }
        ])
  ]
}

/** The first byte of an account's data, as base64. */
function firstByte({ account: { data } }: ProgramRow): string {
  const [text] = data as readonly [string]
  return Buffer.from(text, 'base64').subarray(0, 1).toString('base64')
}

async function compareRows(
  name: string,
  program: string,
  config: object,
  ours: Ask,
  theirs: Ask,
  pause: () => Promise<void>
): Promise<ConformanceCheck> {
  // Answers by slot. One side may now be at a slot that the other one was at before.
  const seen = { ours: new Map<number, ProgramAnswer>(), theirs: new Map<number, ProgramAnswer>() }
  for (let attempt = 1; ; attempt++) {
    const mine = await accountsOf(ours, program, config)
    // A node would send it whole, however large it is.
    if (isFailure(mine) && mine.code === TOO_MUCH) return notChecked(name, `the service: ${mine.message}`)
    const other = await accountsOf(theirs, program, config)
    if (isFailure(mine) || isFailure(other)) {
      const texts = [mine, other].map((each) =>
        isFailure(each) ? `${each.code} ${each.message}` : `${each.rows.length} accounts`
      )
      const isSame = isFailure(mine) && isFailure(other) && mine.code === other.code
      return checkOf(name, isSame ? null : `service: ${texts[0]}; node: ${texts[1]}`, `both ${texts[0]}`)
    }
    remember(seen.ours, mine)
    remember(seen.theirs, other)
    const [earlierMine, earlierOther] = [seen.ours.get(other.slot), seen.theirs.get(mine.slot)]
    if (earlierOther !== undefined) return comparedAtSlot(name, mine, earlierOther)
    if (earlierMine !== undefined) return comparedAtSlot(name, earlierMine, other)
    if (attempt === SLOT_ATTEMPTS)
      return notChecked(
        name,
        `no two answers of one slot in ${attempt} attempts; the last are of ${mine.slot} and ${other.slot}`
      )
    await pause()
  }
}

function remember(answers: Map<number, ProgramAnswer>, answer: ProgramAnswer): void {
  answers.set(answer.slot, answer)
  if (answers.size > SEEN_MAX) answers.delete(answers.keys().next().value!)
}

function comparedAtSlot(name: string, mine: ProgramAnswer, other: ProgramAnswer): ConformanceCheck {
  const [ours, theirs] = [mine, other].map(
    ({ rows }) => new Map(rows.map((row) => [row.pubkey, JSON.stringify(sortedFields(row.account))]))
  )
  const all = [...new Set([...ours!.keys(), ...theirs!.keys()])]
  const different = all.filter((key) => ours!.get(key) !== theirs!.get(key))
  const named = different.slice(0, NAMED_MAX).map((key) => {
    const missing = !ours!.has(key) ? ' (missing)' : !theirs!.has(key) ? ' (the node has none)' : ''
    return key + missing
  })
  const isRepeated = mine.rows.length !== ours!.size ? 'an account is listed twice' : null
  const fault =
    different.length === 0
      ? isRepeated
      : `${different.length} of ${all.length} accounts differ at slot ${mine.slot}: ${named.join(', ')}`
  return checkOf(name, fault, `${all.length} accounts equal at slot ${mine.slot}`)
}

function sortedFields(value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, each]): [string, unknown] => [key, sortedFields(each)])
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
  )
}

async function accountsOf(ask: Ask, program: string, config: object): Promise<ProgramAnswer | RpcFailure> {
  const params = [program, { ...config, withContext: true }]
  const { body }: ParsedAnswer = await ask(
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'getProgramAccounts', params })
  )
  const { result, error } = (body ?? {}) as {
    result?: { context?: { slot?: unknown }; value?: unknown }
    error?: RpcFailure
  }
  if (error !== undefined) return error
  const slot = result?.context?.slot
  if (typeof slot !== 'number' || !Array.isArray(result?.value))
    return { code: 0, message: 'no context or no list of accounts' }
  return { slot, rows: result.value as ProgramRow[] }
}

const isFailure = (answer: ProgramAnswer | RpcFailure): answer is RpcFailure => 'code' in answer
